//! Horizontal bars, one row a program, a bar for each series.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The colours of series (Okabe and Ito's palette, told apart by most people with colour blindness).
const COLOURS: [RGBColor; 4] =
    [RGBColor(0, 114, 178), RGBColor(230, 159, 0), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];
/// Pixels: of the labels, of the bars, of a bar, above the bars, and below them.
const LABELS: i32 = 220;
const WIDTH: i32 = 560;
const BAR: i32 = 6;
const TOP: i32 = 74;
const BOTTOM: i32 = 14;

/// A chart of bars.
#[derive(Clone, Debug)]
pub struct Bars {
    /// Above the chart.
    pub title: String,
    /// What the bars are called.
    pub series: Vec<String>,
    /// The rows from top to bottom, with a value for each series.
    pub rows: Vec<(String, Vec<Option<f64>>)>,
    /// The least and the greatest value shown; a bar that is longer is cut.
    pub range: (f64, f64),
    /// Where bars begin.
    pub origin: f64,
    /// Is the scale logarithmic?
    pub logarithmic: bool,
    /// Values with a line.
    pub marks: Vec<f64>,
}

impl Bars {
    /// The chart as SVG.
    pub fn draw(&self) -> Result<String, String> {
        let row = BAR * self.series.len().max(1) as i32 + 6;
        let height = TOP + row * self.rows.len() as i32 + BOTTOM;
        let mut text = String::new();
        {
            let area = SVGBackend::with_string(&mut text, ((LABELS + WIDTH + 70) as u32, height as u32))
                .into_drawing_area();
            self.paint(&area, row, height).map_err(|e| format!("{}: {e}", self.title))?;
        }
        Ok(text)
    }

    /// The pixel of a value.
    fn at(&self, value: f64) -> i32 {
        let scale = |v: f64| if self.logarithmic { v.max(1e-9).ln() } else { v };
        let (low, high) = (scale(self.range.0), scale(self.range.1));
        let share = (scale(value).clamp(low, high) - low) / (high - low);
        LABELS + (share * f64::from(WIDTH)).round() as i32
    }

    fn paint(
        &self,
        area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
        row: i32,
        height: i32,
    ) -> Result<(), Box<dyn std::error::Error>> {
        area.fill(&WHITE)?;
        let style = |size: i32, h: HPos| {
            ("sans-serif", size).into_font().color(&BLACK).pos(Pos::new(h, VPos::Center))
        };
        area.draw(&Text::new(self.title.clone(), (12, 18), style(20, HPos::Left)))?;
        let mut left = LABELS;
        for (name, colour) in self.series.iter().zip(COLOURS) {
            area.draw(&Rectangle::new([(left, 36), (left + 12, 46)], colour.filled()))?;
            area.draw(&Text::new(name.clone(), (left + 17, 41), style(15, HPos::Left)))?;
            left += 40 + 7 * name.len() as i32;
        }
        for &mark in &self.marks {
            let x = self.at(mark);
            let weight = if mark == self.origin { 0.7 } else { 0.2 };
            area.draw(&PathElement::new([(x, TOP - 6), (x, height - BOTTOM)], BLACK.mix(weight)))?;
            area.draw(&Text::new(format!("{mark}"), (x, TOP - 14), style(14, HPos::Center)))?;
        }
        for (i, (label, values)) in self.rows.iter().enumerate() {
            let top = TOP + row * i as i32;
            let middle = top + BAR * self.series.len() as i32 / 2;
            area.draw(&Text::new(label.clone(), (LABELS - 8, middle), style(14, HPos::Right)))?;
            for (k, value) in values.iter().enumerate() {
                let Some(value) = value else { continue };
                let (x, y) = (self.at(*value), top + BAR * k as i32);
                let origin = self.at(self.origin);
                let corners = [(x.min(origin), y), (x.max(origin).max(x.min(origin) + 1), y + BAR - 1)];
                area.draw(&Rectangle::new(corners, COLOURS[k % COLOURS.len()].filled()))?;
                if k == 0 {
                    let end = x.max(origin) + 5;
                    area.draw(&Text::new(short(*value), (end, middle), style(13, HPos::Left)))?;
                }
            }
        }
        area.present()?;
        Ok(())
    }
}

/// Three digits.
pub fn short(value: f64) -> String {
    match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}
