//! Plots as SVG: curves, and points over the regions of a decision.

use crate::TrainError;
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use std::ops::Range;
use std::path::Path;

/// The size of a plot in pixels.
const SIZE: (u32, u32) = (720, 480);

/// The colours of series and classes (Okabe and Ito's palette, told apart by most people with colour blindness).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

/// A line of a plot.
#[derive(Clone, Debug)]
pub struct Curve {
    /// What the legend calls it.
    pub name: String,
    /// Its points; those that are not finite are left out.
    pub points: Vec<(f64, f64)>,
}

/// The words on a plot.
#[derive(Clone, Copy, Debug)]
pub struct Labels<'a> {
    /// Above the plot.
    pub title: &'a str,
    /// Below the horizontal axis.
    pub x: &'a str,
    /// Beside the vertical axis.
    pub y: &'a str,
}

/// Points with their classes.
#[derive(Clone, Debug)]
pub struct Points {
    /// Where they are.
    pub at: Vec<(f64, f64)>,
    /// The class of each.
    pub class: Vec<usize>,
}

/// The area of the plane that a plot shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// From left to right.
    pub x: Range<f64>,
    /// From bottom to top.
    pub y: Range<f64>,
}

/// A decision on a grid of cells that fill a window.
#[derive(Clone, Debug)]
pub struct Regions {
    /// The number of cells from left to right.
    pub columns: usize,
    /// The class of each cell, row after row from the bottom.
    pub class: Vec<usize>,
}

impl Window {
    /// The middles of the cells of a grid, row after row from the bottom.
    pub fn grid(&self, columns: usize, rows: usize) -> Vec<(f64, f64)> {
        let at = |range: &Range<f64>, i: usize, n: usize| {
            range.start + (range.end - range.start) * (i as f64 + 0.5) / n as f64
        };
        let cells = (0..rows).flat_map(|r| (0..columns).map(move |c| (c, r)));
        cells.map(|(c, r)| (at(&self.x, c, columns), at(&self.y, r, rows))).collect()
    }
}

/// Draws curves into one plot.
pub fn curves(path: impl AsRef<Path>, labels: Labels<'_>, curves: &[Curve]) -> Result<(), TrainError> {
    let finite = |(x, y): &&(f64, f64)| x.is_finite() && y.is_finite();
    let all = || curves.iter().flat_map(|c| &c.points).filter(finite);
    let window = Window { x: span(all().map(|p| p.0)), y: span(all().map(|p| p.1)) };
    draw(path.as_ref(), |area| {
        let mut chart = axes(area, labels, &window)?;
        for (curve, colour) in curves.iter().zip(COLOURS.iter().cycle()) {
            let points = curve.points.iter().filter(finite).copied();
            let drawn = chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
            drawn
                .label(&curve.name)
                .legend(|(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], colour.stroke_width(2)));
        }
        let mut legend = chart.configure_series_labels();
        legend.background_style(WHITE.mix(0.8)).border_style(BLACK.mix(0.3)).draw()
    })
}

/// Draws points, over the regions of a decision if there are any.
pub fn scatter(
    path: impl AsRef<Path>,
    labels: Labels<'_>,
    window: &Window,
    points: &Points,
    regions: Option<&Regions>,
) -> Result<(), TrainError> {
    draw(path.as_ref(), |area| {
        let mut chart = axes(area, labels, window)?;
        if let Some(regions) = regions {
            let columns = regions.columns.max(1);
            let rows = regions.class.len().div_ceil(columns).max(1);
            let width = (window.x.end - window.x.start) / columns as f64;
            let height = (window.y.end - window.y.start) / rows as f64;
            for (row, classes) in regions.class.chunks(columns).enumerate() {
                let bottom = window.y.start + row as f64 * height;
                // Neighbours of one class are one rectangle.
                let mut left = 0;
                for run in classes.chunk_by(|a, b| a == b) {
                    let edge = |cell: usize| window.x.start + cell as f64 * width;
                    let corners = [(edge(left), bottom), (edge(left + run.len()), bottom + height)];
                    chart.draw_series([Rectangle::new(corners, colour(run[0]).mix(0.25).filled())])?;
                    left += run.len();
                }
            }
        }
        let circles = points.at.iter().zip(&points.class);
        chart.draw_series(circles.map(|(&at, &class)| Circle::new(at, 3, colour(class).filled())))?;
        Ok(())
    })
}

fn colour(class: usize) -> RGBColor {
    COLOURS[class % COLOURS.len()]
}

/// An interval that holds all values, with a margin; [0, 1] when there are none.
fn span(values: impl Iterator<Item = f64>) -> Range<f64> {
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if low > high {
        return 0.0..1.0;
    }
    let margin = if high > low { (high - low) * 0.03 } else { 0.5 };
    low - margin..high + margin
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
type Drawn<T> = Result<T, DrawingAreaErrorKind<<SVGBackend<'static> as DrawingBackend>::ErrorType>>;

/// Draws into memory, then writes the file: what cannot be drawn leaves no half of it.
fn draw(path: &Path, paint: impl FnOnce(&Area<'_>) -> Drawn<()>) -> Result<(), TrainError> {
    let mut text = String::new();
    let painted = {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        area.fill(&WHITE).and_then(|()| paint(&area)).and_then(|()| area.present())
    };
    painted.map_err(|e| TrainError::Plot { path: path.into(), reason: e.to_string() })?;
    std::fs::write(path, text).map_err(TrainError::io(path))
}

fn axes<'a, 'b>(area: &'a Area<'b>, labels: Labels<'_>, window: &Window) -> Drawn<Chart<'a, 'b>> {
    let mut chart = ChartBuilder::on(area)
        .caption(labels.title, ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(56)
        .build_cartesian_2d(window.x.clone(), window.y.clone())?;
    chart.configure_mesh().x_desc(labels.x).y_desc(labels.y).light_line_style(BLACK.mix(0.05)).draw()?;
    Ok(chart)
}
