//! Inverses of divisors: of constants, and of what many quotients share.

use crate::machine::elem::Elem;
use surject_ir::DType;

/// The inverse of a divisor that is not far from 1, in two parts, the larger first; where it is no power of two, for `f32` alone.
pub(crate) fn inverse_of_constant(by: f64, elem: Elem) -> Option<[f64; 2]> {
    let usual = (2f64.powi(-60)..=2f64.powi(60)).contains(&by.abs());
    let parts = parts_towards_zero(by);
    (usual && (elem == Elem::F32 || parts[1] == 0.0)).then_some(parts)
}

/// The inverse of a number as a sum of floats of its sign: in `f32` rounded towards zero, and what is missing to it.
fn parts_towards_zero(by: f64) -> [f64; 2] {
    let inverse = 1.0 / by;
    let near = inverse as f32;
    let over = f64::from(near).abs() > inverse.abs();
    let high = f64::from(if over { f32::from_bits(near.to_bits() - 1) } else { near });
    [high, inverse - high]
}

/// The inverse of a divisor as a sum, if products with it are the quotients of every integer of a type.
pub(crate) fn inverse_parts(integer: DType, by: f32) -> Option<[f32; 2]> {
    if !integer.is_int() || integer.bits() > 16 || !by.is_normal() {
        return None;
    }
    let inverse = 1.0 / f64::from(by);
    let high = inverse as f32;
    let low = (inverse - f64::from(high)) as f32;
    let (first, last) = if integer.is_signed_int() {
        (-(1i32 << (integer.bits() - 1)), (1i32 << (integer.bits() - 1)) - 1)
    } else {
        (0, (1i32 << integer.bits()) - 1)
    };
    let same = |n: i32| {
        let x = n as f32;
        x.mul_add(high, x * low).to_bits() == (x / by).to_bits()
    };
    (first..=last).all(same).then_some([high, low])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quotients by the parts of an inverse are the rounded ones or, seldom, neighbours of them.
    #[test]
    fn parts_of_inverses() {
        let (mut all, mut wrong) = (0, 0);
        for by in [3.0f32, 255.0, 0.1, 784.0, -7.5, 1e-9, 1e9, 0.3333] {
            let [high, low] = parts_towards_zero(f64::from(by)).map(|p| p as f32);
            assert!(high * by > 0.0 && low * by >= 0.0);
            assert_eq!((f32::INFINITY.mul_add(high, f32::INFINITY * low)), f32::INFINITY / by);
            for i in 0..40_000u32 {
                let x = f32::from_bits(0x3000_0000 + i * 13_001);
                let (found, true_one) = (x.mul_add(high, x * low), x / by);
                all += 1;
                wrong += u32::from(found != true_one);
                assert!(found.to_bits().abs_diff(true_one.to_bits()) <= 1, "{x} / {by}");
            }
        }
        assert!(wrong * 1000 < all, "{wrong} of {all}");
        assert_eq!(parts_towards_zero(8.0), [0.125, 0.0]);
    }

    #[test]
    fn inverses() {
        // Nothing that is no quotient is taken for one: what is refused is divided.
        let given = |by| inverse_parts(DType::U8, by).is_some();
        assert!(given(255.0) && given(3.0) && given(127.5) && given(0.25));
        assert!(!given(0.0) && !given(f32::NAN) && !given(f32::INFINITY) && !given(1e-40));
        assert!(inverse_parts(DType::I16, 32767.0).is_some());
        assert!(inverse_parts(DType::I32, 3.0).is_none() && inverse_parts(DType::F32, 3.0).is_none());
    }
}
