//! Solves a constraint problem from a file: `cargo run -p surject-shape --example solve FILE.con`.

fn main() {
    let Some(file) = std::env::args().nth(1) else {
        eprintln!("usage: solve FILE.con");
        std::process::exit(2);
    };
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{file}: {error}");
            std::process::exit(2);
        }
    };
    match surject_shape::solve_text(&file, &text) {
        Ok(solution) => println!("{solution}{}", solution.to_json()),
        Err(error) => eprintln!("{error}"),
    }
}
