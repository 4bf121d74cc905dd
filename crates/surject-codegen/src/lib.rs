//! Kernels from index maps: loop nests, memory plan and MLIR text; links no MLIR.
