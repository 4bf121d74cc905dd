//! Element types, buffers, npy files, the thread pool and library kernels.
