//! The programs of a bench, their arguments, and whether results are the same.

use crate::Failure;
use std::path::{Path, PathBuf};
use surject_ir::{Buffer, DType, Function, Scalar, TensorType};
use surject_runtime::{compare, npy};

/// The programs that some paths name, with short names.
pub fn find(paths: &[PathBuf]) -> Result<Vec<(String, PathBuf)>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_file() || path.extension().is_some() {
            found.push((stem(path), path.clone()));
        } else if path.join("program.mlir").exists() {
            found.push((stem(path), path.join("program.mlir")));
        } else if path.is_dir() {
            let inner = below(path, "")?;
            if inner.is_empty() {
                let message = format!("{}: no program.mlir in it or below", path.display());
                return Err(Failure::bad_input(message));
            }
            found.extend(inner);
        } else {
            found.extend(named(path)?);
        }
    }
    Ok(found)
}

/// The workloads of the suite whose names begin like this.
fn named(prefix: &Path) -> Result<Vec<(String, PathBuf)>, Failure> {
    let suite =
        std::env::var_os("SURJECT_SUITE").map_or_else(|| PathBuf::from("target/suite"), PathBuf::from);
    let (prefix, place) = (prefix.display().to_string(), suite.display());
    let found = if suite.is_dir() { below(&suite, &prefix)? } else { Vec::new() };
    if found.is_empty() {
        return Err(Failure::bad_input(format!(
            "{prefix}: neither a file nor a folder, and no workload in {place} begins like this \
             (benches/suite.py writes the suite; SURJECT_SUITE names its folder)"
        )));
    }
    Ok(found)
}

/// The programs of the folders in a folder whose names begin with a prefix, in order.
fn below(folder: &Path, prefix: &str) -> Result<Vec<(String, PathBuf)>, Failure> {
    let read = |e| Failure::bad_input(format!("{}: {e}", folder.display()));
    let entries = std::fs::read_dir(folder).map_err(read)?;
    let mut inner: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    inner.retain(|p| stem(p).starts_with(prefix) && p.join("program.mlir").exists());
    inner.sort();
    Ok(inner.into_iter().map(|p| (stem(&p), p.join("program.mlir"))).collect())
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned())
}

/// The inputs: files beside the program, else noise.
pub fn inputs(function: &Function, folder: Option<&Path>) -> Result<Vec<Buffer>, Failure> {
    let mut inputs = Vec::new();
    for (i, &param) in function.params.iter().enumerate() {
        let ty = function.ty(param);
        let file = folder.map(|f| f.join(npy::file_name(&format!("in{i}"), ty.dtype))).filter(|f| f.exists());
        inputs.push(match file {
            Some(file) => npy::read(&file).map_err(Failure::bad_input)?,
            None => noise(ty, i as u64 + 1)
                .ok_or_else(|| Failure::unsupported(format!("argument {i}: {ty} does not fit in memory")))?,
        });
    }
    Ok(inputs)
}

/// Nearly normal numbers; small whole ones of integer types. `None` where there is not so much memory.
fn noise(ty: &TensorType, seed: u64) -> Option<Buffer> {
    let shape: Vec<usize> = ty.space.sizes()?.iter().map(|&n| n as usize).collect();
    let mut buffer = Buffer::try_zeros(ty.dtype, &shape)?;
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    for i in 0..buffer.len() {
        // The sum of four uniform numbers has a third of the variance of one.
        let sum = next() + next() + next() + next() - 2.0;
        let value = match ty.dtype {
            DType::I1 => Scalar::bool(sum > 0.0),
            d if d.is_int() => Scalar::from_i128(d, (sum.abs() * 4.0) as i128),
            d => Scalar::from_f64(d, sum * 3f64.sqrt()),
        };
        buffer.set(i, value);
    }
    Some(buffer)
}

/// How the results differ from those of a peer, if they do.
pub fn difference(results: &[Buffer], expected: &[Buffer]) -> Option<String> {
    if results.len() != expected.len() {
        return Some(format!("{} results, {} of the peer", results.len(), expected.len()));
    }
    for (i, (found, wanted)) in results.iter().zip(expected).enumerate() {
        let half = matches!(found.dtype(), DType::BF16 | DType::F16);
        let scale = (0..wanted.len()).map(|k| wanted.get(k).as_f64().abs()).filter(|v| v.is_finite());
        let scale = if found.dtype().is_float() { scale.fold(0.0, f64::max) } else { 0.0 };
        let relative = if half { 2e-2 } else { 1e-4 };
        let report = compare::compare(found, wanted, relative, relative * 0.3 * scale);
        if !report.passed() {
            return Some(format!("result {i} differs: {report}"));
        }
    }
    None
}
