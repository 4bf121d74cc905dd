//! Transpositions by the tasks of a CPU: pieces of tiles, whole and cut, through a stage and past the caches.

use crate::parts::checked;

/// Sizes that tiles divide and such that they do not, and those of less than a tile.
const SIZES: [[i64; 2]; 5] = [[32, 64], [37, 50], [16, 33], [5, 70], [35, 16]];

fn program([rows, columns]: [i64; 2]) -> String {
    format!(
        "func main(x: f32[2,{rows},{columns}]) -> (y) {{
  y : f32[2,{columns},{rows}] =: over b<2, i<{columns}, j<{rows}: x[b,j,i] + 1.0f32
}}
"
    )
}

#[test]
fn pieces_have_all_tiles() {
    for sizes in SIZES {
        for pieces in ["task 1 1 group 1", "task 2 2 group 2", "task 1 8 group 4", "task 8 8 group 1"] {
            for tile in ["8 8", "16 8", "8 4"] {
                checked(&program(sizes), &format!("transpose i2 i1 tile {tile} {pieces} each 1 ahead past"));
            }
        }
    }
}

/// Rows begin anywhere in a line: what one group has of the last line the next one completes.
#[test]
fn results_leave_a_stage_from_line_to_line() {
    for sizes in SIZES {
        for pieces in
            ["tile 16 8 task 2 16 group 1", "tile 8 8 task 1 16 group 2", "tile 8 4 task 3 16 group 8"]
        {
            let schedule = format!("transpose i2 i1 {pieces} each 1 staged ahead past");
            let kernel = checked(&program(sizes), &schedule);
            assert!(kernel.contains("prefetch soon v0") && kernel.contains("nontemporal"), "{kernel}");
        }
    }
}

/// A row is a piece: the next one begins in the line in which it ends, which another task has.
#[test]
fn a_stage_has_whole_rows() {
    let schedule = "kernel y_0\ntranspose i2 i1 tile 16 8 task 2 1 group 1 each 1 staged";
    let error = crate::parts::fits(&program([37, 50]), schedule).unwrap_err();
    assert!(error.contains("a row of 3 tiles is more than the 1 of a piece"), "{error}");
}

/// Results of two neighbours lie between those of a tile: it has both, and stores them together.
#[test]
fn a_last_axis_of_few_elements_lies_inside_of_tiles() {
    for [rows, columns] in SIZES {
        let program = format!(
            "func main(x: f32[2,{rows},{columns}]) -> (y) {{
  y : f32[{columns},{rows},2] =: over i<{columns}, j<{rows}, b<2: x[b,j,i]
}}
"
        );
        for pieces in
            ["tile 8 8 task 1 2 group 1", "tile 16 8 task 2 4 group 2", "tile 4 4 task 8 16 group 4"]
        {
            checked(&program, &format!("transpose i1 i0 {pieces} each 1 ahead"));
        }
    }
}

/// What is loaded in one iteration of another loop lies beside what is loaded in the next: pieces have both one after the other.
#[test]
fn short_rows_share_lines_with_what_lies_beside() {
    let program = "func main(x: f32[37,3,5,4]) -> (y) {
  y : f32[4,3,5,37] =: over a<4, b<3, c<5, d<37: x[d,b,c,a]
}
";
    for pieces in ["tile 8 4 task 1 2 group 2 each 3", "tile 16 4 task 1 1 group 1 each 5"] {
        let kernel = checked(program, &format!("transpose i2 i0 {pieces}"));
        assert!(kernel.contains("parallel(task)"), "{kernel}");
    }
}

/// A tile of more rows than a loop has iterations goes on with the next one in memory, if whole turns of it fit.
#[test]
fn tiles_go_on_along_short_rows() {
    for (last, beside, tile, rows) in
        [(4, 6, "8 8", 8), (2, 15, "8 8", 6), (2, 15, "16 16", 10), (3, 7, "8 4", 3)]
    {
        let program = format!(
            "func main(x: f32[37,{beside},{last}]) -> (y) {{
  y : f32[{last},{beside},37] =: over a<{last}, b<{beside}, c<37: x[c,b,a]
}}
"
        );
        for ahead in ["", " ahead"] {
            let schedule = format!("transpose i2 i0 tile {tile} task 1 1 group 1 each 1{ahead}");
            let kernel = checked(&program, &schedule);
            let stores = kernel.lines().filter(|l| l.contains("store ") && !l.contains(" where ")).count();
            assert_eq!(stores, rows, "{kernel}");
        }
    }
    let staged = "kernel y_0\ntranspose i2 i0 tile 16 8 task 1 3 group 1 each 1 staged";
    let program = "func main(x: f32[37,6,4]) -> (y) {
  y : f32[4,6,37] =: over a<4, b<6, c<37: x[c,b,a]
}
";
    let error = crate::parts::fits(program, staged).unwrap_err();
    assert!(error.contains("rows of several loops do not meet in memory"), "{error}");
}
