//! Rule files: grammar, static checks, and soundness by interpretation; no e-graph.
