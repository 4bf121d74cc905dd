//! Masked loads and stores that LLVM 22.1.8 gets wrong, or is slow at.
//!
//! Masked stores of one lane become stores of one element. LLVM does the same on its own, but where the lanes are wider
//! integers cut short it forgets so on processors with AVX-512: to store the first of sixteen `i8` that are truncated `i32`
//! it writes four bytes. What is known here to be one lane never gets there.
//!
//! The rest is for processors whose masks are vectors (AVX2). Of a load of several registers whose mask is known to leave
//! out a whole register, and is not known otherwise, LLVM loads that register without a mask: lanes that are to be what they
//! were get what lies in memory, which need not even be there. Such a load is made one load a register here, and none of
//! what is left out.
//!
//! A masked store takes such a processor some 20 cycles. Where the mask is known, the lanes it has are stored in powers of
//! two. (Zen 3: seven lanes take 1.1 ns in place of 5.9.)

use crate::llvm::functions;
use mlir_sys::{
    LLVMBuildCall2, LLVMBuildExtractElement, LLVMBuildGEP2, LLVMBuildLoad2, LLVMBuildShuffleVector,
    LLVMBuildStore, LLVMBuilderRef, LLVMConstInt, LLVMConstIntGetZExtValue, LLVMConstVector, LLVMContextRef,
    LLVMCreateBuilderInContext, LLVMDisposeBuilder, LLVMGetAggregateElement, LLVMGetElementType,
    LLVMGetFirstUse, LLVMGetInstructionOpcode, LLVMGetIntTypeWidth, LLVMGetIntrinsicDeclaration,
    LLVMGetNextUse, LLVMGetOperand, LLVMGetPoison, LLVMGetTypeKind, LLVMGetUser, LLVMGetValueName2,
    LLVMGetVectorSize, LLVMInstructionEraseFromParent, LLVMInt32TypeInContext, LLVMInt64TypeInContext,
    LLVMIntrinsicGetType, LLVMIsACallInst, LLVMIsAConstantInt, LLVMIsAInstruction, LLVMIsConstant,
    LLVMLookupIntrinsicID, LLVMModuleRef, LLVMOpcode_LLVMAnd, LLVMOpcode_LLVMOr, LLVMOpcode_LLVMSelect,
    LLVMPositionBuilderBefore, LLVMReplaceAllUsesWith, LLVMSetAlignment, LLVMTypeKind_LLVMBFloatTypeKind,
    LLVMTypeKind_LLVMDoubleTypeKind, LLVMTypeKind_LLVMFloatTypeKind, LLVMTypeKind_LLVMHalfTypeKind,
    LLVMTypeKind_LLVMIntegerTypeKind, LLVMTypeOf, LLVMTypeRef, LLVMValueRef, LLVMVectorType,
};
use std::ops::Range;

/// Bytes of a register.
const REGISTER: u32 = 32;
/// A mask is followed through so many operations.
const DEPTH: usize = 8;

/// Makes masked stores of one lane plain ones; where masks are vectors, all whose masks are known, and masked loads one a
/// register.
///
/// # Safety
/// Both are live, and the module belongs to the context.
pub(crate) unsafe fn take_apart(module: LLVMModuleRef, context: LLVMContextRef, vectors: bool) {
    // SAFETY: every value is reached from the live module, and is not used after it has been erased.
    unsafe {
        let at = At { builder: LLVMCreateBuilderInContext(context), module, context, vectors };
        for function in functions(module) {
            if vectors {
                for call in calls(function, b"llvm.masked.load.") {
                    at.load(call);
                }
            }
            for call in calls(function, b"llvm.masked.store.") {
                at.store(call);
            }
        }
        LLVMDisposeBuilder(at.builder);
    }
}

/// The calls of a function, if its name begins so.
///
/// # Safety
/// It is a function of a live module.
unsafe fn calls(function: LLVMValueRef, begins: &[u8]) -> Vec<LLVMValueRef> {
    let mut calls = Vec::new();
    // SAFETY: the name belongs to the function; uses and users are live as long as nothing is erased.
    unsafe {
        let mut length = 0;
        let name = LLVMGetValueName2(function, &mut length).cast::<u8>();
        if !std::slice::from_raw_parts(name, length).starts_with(begins) {
            return calls;
        }
        let mut usage = LLVMGetFirstUse(function);
        while !usage.is_null() {
            let user = LLVMGetUser(usage);
            if !LLVMIsACallInst(user).is_null() {
                calls.push(user);
            }
            usage = LLVMGetNextUse(usage);
        }
    }
    calls
}

/// Where instructions are put.
struct At {
    builder: LLVMBuilderRef,
    module: LLVMModuleRef,
    context: LLVMContextRef,
    /// Are masks vectors?
    vectors: bool,
}

/// The methods' values belong to the module.
impl At {
    unsafe fn load(&self, call: LLVMValueRef) {
        // SAFETY: the operands of a masked load are a pointer, a mask and what the other lanes are.
        unsafe {
            let [from, mask, otherwise] = [0, 1, 2].map(|i| LLVMGetOperand(call, i));
            let ty = LLVMTypeOf(call);
            let (element, all) = (LLVMGetElementType(ty), LLVMGetVectorSize(ty));
            let Some(size @ (4 | 8)) = bytes(element) else { return };
            let native = REGISTER / size;
            if all <= native {
                return;
            }
            LLVMPositionBuilderBefore(self.builder, call);
            let known = known(mask, DEPTH);
            let mut result = LLVMGetPoison(ty);
            for first in (0..all).step_by(native as usize) {
                let lanes = first..(first + native).min(all);
                let known = &known[first as usize..lanes.end as usize];
                let part = if known.iter().all(|k| *k == Some(false)) {
                    self.take(otherwise, lanes.clone())
                } else {
                    let ty = LLVMVectorType(element, lanes.end - first);
                    let from = self.element(element, from, first);
                    if known.iter().all(|k| *k == Some(true)) {
                        let part = LLVMBuildLoad2(self.builder, ty, from, c"".as_ptr());
                        LLVMSetAlignment(part, 1);
                        part
                    } else {
                        let [mask, otherwise] = [mask, otherwise].map(|v| self.take(v, lanes.clone()));
                        self.masked_load(ty, [from, mask, otherwise])
                    }
                };
                result = self.put(part, result, lanes);
            }
            LLVMReplaceAllUsesWith(call, result);
            LLVMInstructionEraseFromParent(call);
        }
    }

    unsafe fn store(&self, call: LLVMValueRef) {
        // SAFETY: the operands of a masked store are a value, a pointer and a mask.
        unsafe {
            let [value, to, mask] = [0, 1, 2].map(|i| LLVMGetOperand(call, i));
            let element = LLVMGetElementType(LLVMTypeOf(value));
            let Some(size) = bytes(element) else { return };
            let known = known(mask, DEPTH);
            let alone = known.iter().filter(|k| **k == Some(true)).count() == 1;
            let integers = LLVMGetTypeKind(element) == LLVMTypeKind_LLVMIntegerTypeKind;
            if known.iter().any(Option::is_none) || !(self.vectors || alone && integers) {
                return;
            }
            LLVMPositionBuilderBefore(self.builder, call);
            let mut lane = 0;
            while lane < known.len() as u32 {
                let run = known[lane as usize..].iter().take_while(|k| **k == Some(true)).count() as u32;
                if run == 0 {
                    lane += 1;
                    continue;
                }
                let count = (1 << run.ilog2()).min(REGISTER / size);
                let part = if count == 1 {
                    let lane = LLVMConstInt(LLVMInt64TypeInContext(self.context), lane.into(), 0);
                    LLVMBuildExtractElement(self.builder, value, lane, c"".as_ptr())
                } else {
                    self.take(value, lane..lane + count)
                };
                let to = self.element(element, to, lane);
                LLVMSetAlignment(LLVMBuildStore(self.builder, part, to), 1);
                lane += count;
            }
            LLVMInstructionEraseFromParent(call);
        }
    }

    /// The address of an element behind another.
    unsafe fn element(&self, ty: LLVMTypeRef, from: LLVMValueRef, index: u32) -> LLVMValueRef {
        // SAFETY: the pointer and the number belong to the module's context.
        unsafe {
            let mut index = LLVMConstInt(LLVMInt64TypeInContext(self.context), index.into(), 0);
            LLVMBuildGEP2(self.builder, ty, from, &mut index, 1, c"".as_ptr())
        }
    }

    /// Some lanes of a vector.
    unsafe fn take(&self, vector: LLVMValueRef, lanes: Range<u32>) -> LLVMValueRef {
        // SAFETY: the lanes are in the vector.
        unsafe {
            let none = LLVMGetPoison(LLVMTypeOf(vector));
            LLVMBuildShuffleVector(self.builder, vector, none, self.order(lanes.map(Some)), c"".as_ptr())
        }
    }

    /// A vector with other lanes in some of its places.
    unsafe fn put(&self, part: LLVMValueRef, into: LLVMValueRef, lanes: Range<u32>) -> LLVMValueRef {
        // SAFETY: the part has as many lanes as are put.
        unsafe {
            let all = LLVMGetVectorSize(LLVMTypeOf(into));
            let none = LLVMGetPoison(LLVMTypeOf(part));
            let wide = self.order((0..all).map(|i| (i < lanes.end - lanes.start).then_some(i)));
            let part = LLVMBuildShuffleVector(self.builder, part, none, wide, c"".as_ptr());
            let both = (0..all).map(|i| Some(if lanes.contains(&i) { all + i - lanes.start } else { i }));
            LLVMBuildShuffleVector(self.builder, into, part, self.order(both), c"".as_ptr())
        }
    }

    /// The numbers of the lanes of a shuffle; what is none may be any.
    unsafe fn order(&self, lanes: impl Iterator<Item = Option<u32>>) -> LLVMValueRef {
        // SAFETY: as many values as are counted.
        unsafe {
            let ty = LLVMInt32TypeInContext(self.context);
            let number =
                |lane: Option<u32>| lane.map_or(LLVMGetPoison(ty), |lane| LLVMConstInt(ty, lane.into(), 0));
            let mut numbers: Vec<LLVMValueRef> = lanes.map(number).collect();
            LLVMConstVector(numbers.as_mut_ptr(), numbers.len() as u32)
        }
    }

    /// LLVM's masked load of a vector: a pointer, a mask, and what the other lanes are.
    unsafe fn masked_load(&self, ty: LLVMTypeRef, mut operands: [LLVMValueRef; 3]) -> LLVMValueRef {
        // SAFETY: the intrinsic is one of a vector and a pointer, whose declaration the module gets.
        unsafe {
            let name = "llvm.masked.load";
            let id = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
            let mut types = [ty, LLVMTypeOf(operands[0])];
            let function = LLVMGetIntrinsicDeclaration(self.module, id, types.as_mut_ptr(), types.len());
            let ty = LLVMIntrinsicGetType(self.context, id, types.as_mut_ptr(), types.len());
            LLVMBuildCall2(self.builder, ty, function, operands.as_mut_ptr(), 3, c"".as_ptr())
        }
    }
}

/// The bytes of an element of a vector, if it has whole ones.
///
/// # Safety
/// It is a type of a live module.
unsafe fn bytes(ty: LLVMTypeRef) -> Option<u32> {
    // SAFETY: only the width of an integer is asked for.
    #[allow(non_upper_case_globals)]
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMTypeKind_LLVMHalfTypeKind | LLVMTypeKind_LLVMBFloatTypeKind => Some(2),
            LLVMTypeKind_LLVMFloatTypeKind => Some(4),
            LLVMTypeKind_LLVMDoubleTypeKind => Some(8),
            LLVMTypeKind_LLVMIntegerTypeKind => {
                let bits = LLVMGetIntTypeWidth(ty);
                bits.is_multiple_of(8).then_some(bits / 8)
            }
            _ => None,
        }
    }
}

/// What is known of each lane of a mask.
///
/// # Safety
/// It is a vector of `i1` of a live module.
unsafe fn known(mask: LLVMValueRef, depth: usize) -> Vec<Option<bool>> {
    // SAFETY: elements are asked for within the size, and only of a constant; operands within their number.
    #[allow(non_upper_case_globals)]
    unsafe {
        let all = LLVMGetVectorSize(LLVMTypeOf(mask));
        if LLVMIsConstant(mask) != 0 {
            let lane = |lane| {
                let element = LLVMGetAggregateElement(mask, lane);
                let number = !element.is_null() && !LLVMIsAConstantInt(element).is_null();
                number.then(|| LLVMConstIntGetZExtValue(element) != 0)
            };
            return (0..all).map(lane).collect();
        }
        let of = |[a, b]: [u32; 2], join: fn(Option<bool>, Option<bool>) -> Option<bool>| {
            let [a, b] = [a, b].map(|i| known(LLVMGetOperand(mask, i), depth - 1));
            a.into_iter().zip(b).map(|(a, b)| join(a, b)).collect()
        };
        let opcode = match depth {
            0 => None,
            _ => (!LLVMIsAInstruction(mask).is_null()).then(|| LLVMGetInstructionOpcode(mask)),
        };
        match opcode {
            Some(LLVMOpcode_LLVMAnd) => of([0, 1], |a, b| match (a, b) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            }),
            Some(LLVMOpcode_LLVMOr) => of([0, 1], |a, b| match (a, b) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            }),
            Some(LLVMOpcode_LLVMSelect) => of([1, 2], |a, b| a.filter(|_| a == b)),
            _ => vec![None; all as usize],
        }
    }
}
