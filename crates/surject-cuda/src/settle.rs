//! Which libraries a plan uses, decided by the device that is there.
//!
//! A plan is made where there may be no device. So a step that a library can do has two forms ([`Step::Either`]): calls
//! of the library with kernels around them, and a step of the host. When the plan is loaded, the device says of each call
//! whether it has it and how much memory it needs; one form stays, and the arena is planned again with the workspaces.

use crate::in_place::drop_unseen;
use crate::{Device, DeviceError, Plan, PlanError, RunError, Step, memory};

/// Leaves one form of every step that has two. What the host does instead says why.
pub fn settle<D: Device + ?Sized>(plan: &mut Plan, device: &mut D) -> Result<(), RunError> {
    if plan.is_settled() {
        return Ok(());
    }
    plan.check()?;
    let (mut init, mut steps) = (std::mem::take(&mut plan.init), std::mem::take(&mut plan.steps));
    let done = list(plan, device, &mut init).and_then(|()| list(plan, device, &mut steps));
    (plan.init, plan.steps) = (init, steps);
    done?;
    drop_unseen(plan);
    memory::place(plan)?;
    // A workspace is nothing else: with its size now, an archive that lies about that is refused.
    plan.check()?;
    Ok(())
}

fn list<D: Device + ?Sized>(plan: &mut Plan, device: &mut D, steps: &mut Vec<Step>) -> Result<(), RunError> {
    let mut settled = Vec::with_capacity(steps.len());
    for mut step in std::mem::take(steps) {
        match &mut step {
            Step::Either { device: calls, host } => {
                let (calls, host) = (std::mem::take(calls), std::mem::take(host));
                match prepared(plan, device, &calls)? {
                    None => settled.extend(calls),
                    Some(reason) => {
                        for step in &host {
                            if let Step::Host { program, .. } = step {
                                plan.host[*program as usize].reason = Some(reason.clone());
                            }
                        }
                        settled.extend(host);
                    }
                }
                continue;
            }
            Step::While { condition, body, .. } => {
                list(plan, device, condition)?;
                list(plan, device, body)?;
            }
            Step::Repeat { body, .. } => list(plan, device, body)?,
            Step::Choose { branches, .. } => {
                branches.iter_mut().try_for_each(|branch| list(plan, device, branch))?;
            }
            Step::Launch { .. } | Step::Copy { .. } | Step::Call { .. } | Step::Host { .. } => {}
        }
        settled.push(step);
    }
    *steps = settled;
    Ok(())
}

/// Makes the device ready for the calls of some steps, and gives their workspaces their sizes; why it does not have one of
/// them otherwise.
fn prepared<D: Device + ?Sized>(
    plan: &mut Plan,
    device: &mut D,
    steps: &[Step],
) -> Result<Option<String>, RunError> {
    for step in steps {
        let Step::Call { call: number, tensors } = step else { continue };
        let step = &mut plan.calls[*number as usize];
        let mut found = device.prepare(&step.call);
        // A library that has no call for all matrices is no reason to leave them to the host.
        if let (Err(DeviceError::NoLibrary { .. } | DeviceError::Library { .. }), Some(each)) =
            (&found, step.call.one_by_one())
        {
            found = device.prepare(&each);
            step.call = each;
        }
        let bytes = match found {
            Ok(bytes) => bytes,
            Err(error @ (DeviceError::NoLibrary { .. } | DeviceError::Library { .. })) => {
                return Ok(Some(error.to_string()));
            }
            Err(error) => {
                let (call, assignment) = (step.call.name(), step.assignment.clone());
                return Err(RunError::Call { call, assignment, error });
            }
        };
        let size = usize::try_from(bytes).map_err(|_| PlanError(format!("a workspace of {bytes} bytes")))?;
        if let Some(workspace) = tensors.last() {
            plan.tensors[workspace.0 as usize].shape = vec![size];
        }
    }
    Ok(None)
}
