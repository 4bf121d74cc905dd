//! A fast hash for short names. Its tables live as long as one reader, so nobody gains by making names collide.

use std::hash::{BuildHasherDefault, Hasher};

/// For tables keyed by names.
pub(crate) type FastHash = BuildHasherDefault<NameHasher>;

/// Hashes eight bytes at a time.
#[derive(Default)]
pub(crate) struct NameHasher(u64);

impl Hasher for NameHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0u8; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = (self.0.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
        self.0 ^= self.0 >> 32;
    }
}
