//! The text reader: no text makes it panic, and what it reads prints and reads back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use surject_stablehlo::{parse, print, print_generic, verify};

fuzz_target!(|bytes: &[u8]| {
    let Ok(module) = parse(bytes) else { return };
    _ = verify(&module);
    for text in [print(&module), print_generic(&module)] {
        let again = parse(&text).unwrap_or_else(|d| panic!("{d}\n{text}"));
        assert_eq!(print(&again), print(&module));
    }
});
