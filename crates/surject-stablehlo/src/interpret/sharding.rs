//! Operations of Shardy. Constraints only say where tensors lie; a computation that is divided among the devices of a mesh runs
//! on as many simulated ones.

use super::error::Error;
use super::machine::{Call, Values};

impl Call<'_, '_> {
    pub(crate) fn shardy(&mut self, short: &str) -> Values {
        match short {
            "sharding_constraint" | "reshard" | "propagation_barrier" | "data_flow_edge" => {
                Ok(std::mem::take(&mut self.args))
            }
            "sharding_group" => Ok(Vec::new()),
            "constant" => self.constant(),
            "named_computation" => {
                let args = std::mem::take(&mut self.args);
                self.block(0, args)
            }
            "manual_computation" => match self.machine.module.manual_devices(self.op) {
                Some(1) => {
                    let args = std::mem::take(&mut self.args);
                    self.block(0, args)
                }
                Some(count) => Err(Error::unsupported(format!("a mesh of {count} devices"))),
                None => Err(Error::unsupported("a mesh that the module does not describe")),
            },
            _ => Err(Error::unsupported("a collective of the partitioner")),
        }
    }
}
