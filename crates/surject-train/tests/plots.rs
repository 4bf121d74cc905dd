//! Plots are SVG, the same each time, and stand for what they are given.

use surject_train::plot::{Curve, Labels, Points, Regions, Window, curves, scatter};

const LABELS: Labels<'_> = Labels { title: "A & <B>", x: "epoch", y: "loss" };

fn drawn(draw: impl Fn(&std::path::Path)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plot.svg");
    draw(&path);
    let text = std::fs::read_to_string(&path).unwrap();
    draw(&path);
    assert_eq!(text, std::fs::read_to_string(&path).unwrap());
    assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
    text
}

#[test]
fn curves_leave_out_what_is_not_finite() {
    let train = Curve { name: "training".into(), points: vec![(1.0, 2.0), (2.0, 1.0), (3.0, f64::NAN)] };
    let test = Curve { name: "held out".into(), points: vec![(1.0, 2.5), (2.0, 1.5)] };
    let text = drawn(|path| curves(path, LABELS, &[train.clone(), test.clone()]).unwrap());
    assert!(text.contains("A &amp; &lt;B&gt;") && text.contains("held out"));
    assert!(!text.contains("NaN"));
}

#[test]
fn a_plot_of_nothing_is_a_frame() {
    drawn(|path| curves(path, LABELS, &[]).unwrap());
    drawn(|path| curves(path, LABELS, &[Curve { name: "flat".into(), points: vec![(1.0, 1.0)] }]).unwrap());
}

#[test]
fn regions_lie_under_the_points() {
    let window = Window { x: -1.0..1.0, y: -1.0..1.0 };
    let grid = window.grid(4, 2);
    assert_eq!(grid[0], (-0.75, -0.5));
    assert_eq!(grid[7], (0.75, 0.5));
    let regions = Regions { columns: 4, class: grid.iter().map(|(x, _)| usize::from(*x > 0.0)).collect() };
    let points = Points { at: vec![(-0.5, 0.0), (0.5, 0.0)], class: vec![0, 1] };
    let text = drawn(|path| scatter(path, LABELS, &window, &points, Some(&regions)).unwrap());
    assert_eq!(text.matches("<circle").count(), 2);
    // The white ground, and two runs of cells in each of two rows.
    assert_eq!(text.matches("<rect").count(), 5);
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let error = curves("/nowhere/plot.svg", LABELS, &[]).unwrap_err();
    assert_eq!(error.code(), "SJ0701");
}
