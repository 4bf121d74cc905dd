// The Surject dialect: the algebra, one operation a node (see README.md). Load it with
//   mlir-opt --irdl-file=surject.irdl.mlir FILE
//
// A constraint value that is used twice means "equal", so operands whose types may differ have values of their own,
// and operands and results that must agree share one.

irdl.dialect @surject {
  // read M x
  irdl.operation @read {
    %of = irdl.base "!builtin.tensor"
    %result = irdl.base "!builtin.tensor"
    %map = irdl.base "#builtin.affine_map"
    irdl.operands(of: %of)
    irdl.results(result: %result)
    irdl.attributes {"map" = %map}
  }

  // acc ⊕ M x
  irdl.operation @acc {
    %of = irdl.base "!builtin.tensor"
    %result = irdl.base "!builtin.tensor"
    %map = irdl.base "#builtin.affine_map"
    %add = irdl.is "add"
    %mul = irdl.is "mul"
    %max = irdl.is "max"
    %min = irdl.is "min"
    %and = irdl.is "and"
    %or = irdl.is "or"
    %xor = irdl.is "xor"
    %set = irdl.is "set"
    %kind = irdl.any_of(%add, %mul, %max, %min, %and, %or, %xor, %set)
    irdl.operands(of: %of)
    irdl.results(result: %result)
    irdl.attributes {"kind" = %kind, "map" = %map}
  }

  // The index of an axis as a value.
  irdl.operation @index {
    %result = irdl.base "!builtin.tensor"
    %axis = irdl.base "#builtin.integer"
    irdl.results(result: %result)
    irdl.attributes {"axis" = %axis}
  }

  // One value at every point.
  irdl.operation @constant {
    %result = irdl.base "!builtin.tensor"
    %value = irdl.base "#builtin.dense_int_or_fp_elements"
    irdl.results(result: %result)
    irdl.attributes {"value" = %value}
  }

  // A field becomes a variable.
  irdl.operation @store {
    %tensor = irdl.base "!builtin.tensor"
    irdl.operands(field: %tensor)
    irdl.results(result: %tensor)
  }

  // A variable with these elements; a module that is not printed may hold them outside of the context.
  irdl.operation @literal {
    %result = irdl.base "!builtin.tensor"
    %dense = irdl.base "#builtin.dense_int_or_fp_elements"
    %resource = irdl.base "#builtin.dense_resource_elements"
    %value = irdl.any_of(%dense, %resource)
    irdl.results(result: %result)
    irdl.attributes {"value" = %value}
  }

  // Operations that upstream dialects lack, or define otherwise for the element type at hand.
  irdl.operation @unary {
    %x = irdl.base "!builtin.tensor"
    %result = irdl.base "!builtin.tensor"
    %op = irdl.base "#builtin.string"
    irdl.operands(x: %x)
    irdl.results(result: %result)
    irdl.attributes {"op" = %op}
  }

  irdl.operation @binary {
    %x = irdl.base "!builtin.tensor"
    %result = irdl.base "!builtin.tensor"
    %op = irdl.base "#builtin.string"
    irdl.operands(x: %x, y: %x)
    irdl.results(result: %result)
    irdl.attributes {"op" = %op}
  }

  irdl.operation @convert {
    %x = irdl.base "!builtin.tensor"
    %result = irdl.base "!builtin.tensor"
    irdl.operands(x: %x)
    irdl.results(result: %result)
  }

  irdl.operation @bitcast {
    %x = irdl.base "!builtin.tensor"
    %result = irdl.base "!builtin.tensor"
    irdl.operands(x: %x)
    irdl.results(result: %result)
  }

  irdl.operation @reduce_precision {
    %x = irdl.base "!builtin.tensor"
    %exponent = irdl.base "#builtin.integer"
    %mantissa = irdl.base "#builtin.integer"
    irdl.operands(x: %x)
    irdl.results(result: %x)
    irdl.attributes {"exponent" = %exponent, "mantissa" = %mantissa}
  }

  // Library operations: a tuple of variables to a tuple of variables.
  irdl.operation @gather {
    %args = irdl.base "!builtin.tuple"
    %results = irdl.base "!builtin.tuple"
    %offset_dims = irdl.base "#builtin.dense_array"
    %collapsed_slice_dims = irdl.base "#builtin.dense_array"
    %operand_batching_dims = irdl.base "#builtin.dense_array"
    %start_indices_batching_dims = irdl.base "#builtin.dense_array"
    %start_index_map = irdl.base "#builtin.dense_array"
    %index_vector_dim = irdl.base "#builtin.integer"
    %slice_sizes = irdl.base "#builtin.dense_array"
    %indices_are_sorted = irdl.base "#builtin.integer"
    irdl.operands(args: %args)
    irdl.results(results: %results)
    irdl.attributes {
      "offset_dims" = %offset_dims, "collapsed_slice_dims" = %collapsed_slice_dims,
      "operand_batching_dims" = %operand_batching_dims,
      "start_indices_batching_dims" = %start_indices_batching_dims, "start_index_map" = %start_index_map,
      "index_vector_dim" = %index_vector_dim, "slice_sizes" = %slice_sizes,
      "indices_are_sorted" = %indices_are_sorted
    }
  }

  irdl.operation @scatter {
    %args = irdl.base "!builtin.tuple"
    %results = irdl.base "!builtin.tuple"
    %update_window_dims = irdl.base "#builtin.dense_array"
    %inserted_window_dims = irdl.base "#builtin.dense_array"
    %input_batching_dims = irdl.base "#builtin.dense_array"
    %scatter_indices_batching_dims = irdl.base "#builtin.dense_array"
    %scatter_dims_to_operand_dims = irdl.base "#builtin.dense_array"
    %index_vector_dim = irdl.base "#builtin.integer"
    %indices_are_sorted = irdl.base "#builtin.integer"
    %unique_indices = irdl.base "#builtin.integer"
    %regions = irdl.base "#builtin.array"
    %captures = irdl.base "#builtin.dense_array"
    irdl.operands(args: %args)
    irdl.results(results: %results)
    irdl.attributes {
      "update_window_dims" = %update_window_dims, "inserted_window_dims" = %inserted_window_dims,
      "input_batching_dims" = %input_batching_dims,
      "scatter_indices_batching_dims" = %scatter_indices_batching_dims,
      "scatter_dims_to_operand_dims" = %scatter_dims_to_operand_dims, "index_vector_dim" = %index_vector_dim,
      "indices_are_sorted" = %indices_are_sorted, "unique_indices" = %unique_indices,
      "regions" = %regions, "captures" = %captures
    }
  }

  irdl.operation @dynamic_slice {
    %args = irdl.base "!builtin.tuple"
    %results = irdl.base "!builtin.tuple"
    %sizes = irdl.base "#builtin.dense_array"
    irdl.operands(args: %args)
    irdl.results(results: %results)
    irdl.attributes {"sizes" = %sizes}
  }

  irdl.operation @dynamic_update_slice {
    %args = irdl.base "!builtin.tuple"
    %results = irdl.base "!builtin.tuple"
    irdl.operands(args: %args)
    irdl.results(results: %results)
  }

  irdl.operation @sort {
    %args = irdl.base "!builtin.tuple"
    %results = irdl.base "!builtin.tuple"
    %axis = irdl.base "#builtin.integer"
    %stable = irdl.base "#builtin.integer"
    %regions = irdl.base "#builtin.array"
    %captures = irdl.base "#builtin.dense_array"
    irdl.operands(args: %args)
    irdl.results(results: %results)
    irdl.attributes {"axis" = %axis, "stable" = %stable, "regions" = %regions, "captures" = %captures}
  }

  irdl.operation @reduce {
    %args = irdl.base "!builtin.tuple"
    %results = irdl.base "!builtin.tuple"
    %axes = irdl.base "#builtin.dense_array"
    %regions = irdl.base "#builtin.array"
    %captures = irdl.base "#builtin.dense_array"
    irdl.operands(args: %args)
    irdl.results(results: %results)
    irdl.attributes {"axes" = %axes, "regions" = %regions, "captures" = %captures}
  }

  irdl.operation @reduce_window {
    %args = irdl.base "!builtin.tuple"
    %results = irdl.base "!builtin.tuple"
    %sizes = irdl.base "#builtin.dense_array"
    %strides = irdl.base "#builtin.dense_array"
    %base_dilations = irdl.base "#builtin.dense_array"
    %window_dilations = irdl.base "#builtin.dense_array"
    %padding_low = irdl.base "#builtin.dense_array"
    %padding_high = irdl.base "#builtin.dense_array"
    %regions = irdl.base "#builtin.array"
    %captures = irdl.base "#builtin.dense_array"
    irdl.operands(args: %args)
    irdl.results(results: %results)
    irdl.attributes {
      "sizes" = %sizes, "strides" = %strides, "base_dilations" = %base_dilations,
      "window_dilations" = %window_dilations, "padding_low" = %padding_low, "padding_high" = %padding_high,
      "regions" = %regions, "captures" = %captures
    }
  }

  irdl.operation @select_and_scatter {
    %args = irdl.base "!builtin.tuple"
    %results = irdl.base "!builtin.tuple"
    %sizes = irdl.base "#builtin.dense_array"
    %strides = irdl.base "#builtin.dense_array"
    %base_dilations = irdl.base "#builtin.dense_array"
    %window_dilations = irdl.base "#builtin.dense_array"
    %padding_low = irdl.base "#builtin.dense_array"
    %padding_high = irdl.base "#builtin.dense_array"
    %regions = irdl.base "#builtin.array"
    %captures = irdl.base "#builtin.dense_array"
    irdl.operands(args: %args)
    irdl.results(results: %results)
    irdl.attributes {
      "sizes" = %sizes, "strides" = %strides, "base_dilations" = %base_dilations,
      "window_dilations" = %window_dilations, "padding_low" = %padding_low, "padding_high" = %padding_high,
      "regions" = %regions, "captures" = %captures
    }
  }

  irdl.operation @bitcast_reshape {
    %args = irdl.base "!builtin.tuple"
    %results = irdl.base "!builtin.tuple"
    %to = irdl.base "#builtin.type"
    irdl.operands(args: %args)
    irdl.results(results: %results)
    irdl.attributes {"to" = %to}
  }

  irdl.operation @fft {
    %args = irdl.base "!builtin.tuple"
    %results = irdl.base "!builtin.tuple"
    %fft = irdl.is "fft"
    %ifft = irdl.is "ifft"
    %rfft = irdl.is "rfft"
    %irfft = irdl.is "irfft"
    %kind = irdl.any_of(%fft, %ifft, %rfft, %irfft)
    %lengths = irdl.base "#builtin.dense_array"
    irdl.operands(args: %args)
    irdl.results(results: %results)
    irdl.attributes {"kind" = %kind, "lengths" = %lengths}
  }

  irdl.operation @cholesky {
    %args = irdl.base "!builtin.tuple"
    %results = irdl.base "!builtin.tuple"
    %lower = irdl.base "#builtin.integer"
    irdl.operands(args: %args)
    irdl.results(results: %results)
    irdl.attributes {"lower" = %lower}
  }

  irdl.operation @triangular_solve {
    %args = irdl.base "!builtin.tuple"
    %results = irdl.base "!builtin.tuple"
    %left_side = irdl.base "#builtin.integer"
    %lower = irdl.base "#builtin.integer"
    %unit_diagonal = irdl.base "#builtin.integer"
    %no = irdl.is "no"
    %transpose = irdl.is "transpose"
    %adjoint = irdl.is "adjoint"
    %which = irdl.any_of(%no, %transpose, %adjoint)
    irdl.operands(args: %args)
    irdl.results(results: %results)
    irdl.attributes {
      "left_side" = %left_side, "lower" = %lower, "unit_diagonal" = %unit_diagonal, "transpose" = %which
    }
  }

  irdl.operation @lapack {
    %args = irdl.base "!builtin.tuple"
    %results = irdl.base "!builtin.tuple"
    %routine = irdl.base "#builtin.string"
    irdl.operands(args: %args)
    irdl.results(results: %results)
    irdl.attributes {"routine" = %routine}
  }

  irdl.operation @devices {
    %args = irdl.base "!builtin.tuple"
    %results = irdl.base "!builtin.tuple"
    %op = irdl.base "#builtin.string"
    irdl.operands(args: %args)
    irdl.results(results: %results)
    irdl.attributes {"op" = %op}
  }

  irdl.operation @sharding_constraint {
    %args = irdl.base "!builtin.tuple"
    %results = irdl.base "!builtin.tuple"
    %sharding = irdl.base "#builtin.string"
    irdl.operands(args: %args)
    irdl.results(results: %results)
    irdl.attributes {"sharding" = %sharding}
  }
}
