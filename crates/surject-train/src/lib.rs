//! What a training program needs: parameters in files, minibatches, metrics, plots.
