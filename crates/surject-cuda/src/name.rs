//! Devices by their names on a command line.

use crate::{Device, DeviceError, Driver, Library, Simulated};
use std::fmt;
use std::str::FromStr;

/// Which device runs programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceName {
    /// The GPU of this number, as the driver counts from 0.
    Number(i32),
    /// None: an interpreter of PTX. It is slow and has no time, and says whether results are right.
    Simulated,
}

impl Default for DeviceName {
    fn default() -> DeviceName {
        DeviceName::Number(0)
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceName::Number(number) => number.fmt(f),
            DeviceName::Simulated => f.write_str("simulated"),
        }
    }
}

impl FromStr for DeviceName {
    type Err = String;

    fn from_str(text: &str) -> Result<DeviceName, String> {
        match text {
            "simulated" => Ok(DeviceName::Simulated),
            _ => text
                .parse()
                .ok()
                .filter(|&n| n >= 0)
                .map(DeviceName::Number)
                .ok_or_else(|| "a number from 0 on, or `simulated`".to_string()),
        }
    }
}

/// Bytes of memory of a simulated device.
const SIMULATED: u64 = 4 << 30;

impl DeviceName {
    /// The device.
    pub fn open(self) -> Result<Box<dyn Device>, DeviceError> {
        Ok(match self {
            DeviceName::Number(number) => Box::new(Driver::numbered(number)?),
            DeviceName::Simulated => {
                let mut device = Simulated::new(SIMULATED);
                device.missing = Library::ALL.into_iter().filter(|library| !library.is_allowed()).collect();
                Box::new(device)
            }
        })
    }
}
