//! The artifact reader: no bytes make it panic, and what it reads prints.
#![no_main]

use libfuzzer_sys::fuzz_target;
use surject_stablehlo::{parse, print, verify};

fuzz_target!(|bytes: &[u8]| {
    // What every artifact starts with.
    let bytes = [b"ML\xefR".as_slice(), bytes].concat();
    let Ok(module) = parse(&bytes) else { return };
    _ = verify(&module);
    _ = print(&module);
});
