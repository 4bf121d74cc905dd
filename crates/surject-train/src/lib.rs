//! What a training program needs beside its step: parameters in files, minibatches, figures, plots.
//!
//! A step is a function from buffers to buffers ([`Step`]); what runs it is not known here. [`Stepper`] keeps its
//! state, [`Order`] says which examples it sees, [`Params`] are files of its tensors, [`Log`] and [`plot`] show how it
//! went. Everything that is random comes from [`Random`], so a run repeats bit for bit from its seed.
//!
//! ```
//! use surject_train::{Layout, Order, Params, Progress, Stepper, data};
//! use surject_runtime::Buffer;
//!
//! # fn main() -> Result<(), surject_train::TrainError> {
//! // A step that fits `w` to the mean of its inputs: results are the loss and the next `w`.
//! let step = |args: &[Buffer], results: &mut Vec<Buffer>| -> Result<(), surject_train::TrainError> {
//!     let (x, w) = (data::f32_values(&args[0])?, data::f32_values(&args[1])?[0]);
//!     let loss = x.iter().map(|x| (x - w).powi(2)).sum::<f32>() / x.len() as f32;
//!     let slope = x.iter().map(|x| 2.0 * (w - x)).sum::<f32>() / x.len() as f32;
//!     *results = vec![data::f32_buffer(&[loss], &[])?, data::f32_buffer(&[w - 0.1 * slope], &[])?];
//!     Ok(())
//! };
//! let examples = data::f32_buffer(&[1.0, 2.0, 3.0, 4.0], &[4])?;
//! let mut params = Params::new();
//! params.insert("w", data::f32_buffer(&[0.0], &[])?)?;
//!
//! let inputs = vec![data::f32_buffer(&[0.0; 2], &[2])?];
//! let mut stepper = Stepper::new(step, Layout::in_order(1, 1, ["w"]), inputs, &params)?;
//! let order = Order::new(&[0, 1, 2, 3], 2, 50, 7)?;
//! stepper.fit(
//!     &order,
//!     &Progress::new(order.all_steps()),
//!     |stepper, rows| data::gather_into(&examples, rows, stepper.input(0)),
//!     |_, epoch| Ok(format!("loss {:.3}", epoch.loss)),
//! )?;
//! let w = stepper.params()?.get("w").map(|w| w.get(0).as_f64());
//! assert!(w.is_some_and(|w| (w - 2.5).abs() < 0.3));
//! # Ok(())
//! # }
//! ```

pub mod data;
mod error;
mod log;
mod params;
pub mod plot;
mod progress;
mod random;
mod stepper;

pub use data::{Order, Split};
pub use error::TrainError;
pub use log::Log;
pub use params::Params;
pub use progress::Progress;
pub use random::Random;
pub use stepper::{Epoch, Layout, State, Step, Stepper};
