//! Figures over time: one row an epoch, in columns with names.

use crate::TrainError;
use serde_json::{Map, Number, Value, json};
use std::fmt::Write;
use std::path::Path;

/// A table of figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Log {
    columns: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Log {
    /// An empty table with these columns.
    pub fn new(columns: &[&str]) -> Log {
        Log { columns: columns.iter().map(|c| c.to_string()).collect(), rows: Vec::new() }
    }

    /// Adds a row, with a value for each column.
    pub fn push(&mut self, row: &[f64]) -> Result<(), TrainError> {
        if row.len() != self.columns.len() {
            return Err(TrainError::LogRow { found: row.len(), expected: self.columns.len() });
        }
        self.rows.push(row.to_vec());
        Ok(())
    }

    /// The values of a column; `None` when there is none of this name.
    pub fn column(&self, name: &str) -> Option<Vec<f64>> {
        let at = self.columns.iter().position(|c| c == name)?;
        Some(self.rows.iter().map(|row| row[at]).collect())
    }

    /// The points of two columns, for a plot; nothing when one of them does not exist.
    pub fn points(&self, x: &str, y: &str) -> Vec<(f64, f64)> {
        let (x, y) = (self.column(x).unwrap_or_default(), self.column(y).unwrap_or_default());
        x.into_iter().zip(y).collect()
    }

    /// Comma-separated values with a line of names. Numbers have the fewest digits that give them back exactly.
    pub fn to_csv(&self) -> String {
        let mut text = self.columns.join(",") + "\n";
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(f64::to_string).collect();
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}", cells.join(","));
        }
        text
    }

    /// A list of objects, one a row. What JSON cannot write (infinities, not a number) is `null`.
    pub fn to_json(&self) -> Value {
        let cell = |v: &f64| Number::from_f64(*v).map_or(Value::Null, Value::Number);
        let object = |row: &Vec<f64>| {
            Value::Object(self.columns.iter().cloned().zip(row.iter().map(cell)).collect::<Map<_, _>>())
        };
        json!(self.rows.iter().map(object).collect::<Vec<_>>())
    }

    /// Writes a file: JSON where the name ends with `.json`, comma-separated values otherwise.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), TrainError> {
        let path = path.as_ref();
        let json = path.extension().is_some_and(|x| x == "json");
        let text = if json { format!("{:#}\n", self.to_json()) } else { self.to_csv() };
        std::fs::write(path, text).map_err(TrainError::io(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms() {
        let mut log = Log::new(&["epoch", "loss"]);
        log.push(&[1.0, 0.1 + 0.2]).unwrap();
        log.push(&[2.0, f64::NAN]).unwrap();
        insta::assert_snapshot!(format!("{}{}", log.to_csv(), log.to_json()));
        insta::assert_snapshot!(log.push(&[1.0]).unwrap_err());
        assert_eq!(log.column("step"), None);
    }
}
