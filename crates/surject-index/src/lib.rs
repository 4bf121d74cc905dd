//! Extents, index spaces and index maps: composition, inverse, image, fibre products, injectivity and surjectivity.
