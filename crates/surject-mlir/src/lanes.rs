//! Lanes that LLVM 22.1.8 gets wrong, and must not see.
//!
//! Masked stores of one lane become stores of one element. LLVM does the same on its own, but where the lanes are wider
//! integers cut short it forgets so on processors with AVX-512: to store the first of sixteen `i8` that are truncated `i32`
//! it writes four bytes. What is known here to be one lane never gets there.
//!
//! Vectors of one number, some lanes of which do not matter, have it in all lanes. Of the same operation on several of
//! them, open in different lanes, the selection of instructions makes one by the other, and the other by the one, and does
//! not end.

use mlir_sys::{
    LLVMBuildExtractElement, LLVMBuildGEP2, LLVMBuildStore, LLVMConstInt, LLVMConstIntGetZExtValue,
    LLVMConstVector, LLVMContextRef, LLVMCreateBuilderInContext, LLVMDisposeBuilder, LLVMGetAggregateElement,
    LLVMGetElementType, LLVMGetFirstBasicBlock, LLVMGetFirstFunction, LLVMGetFirstInstruction,
    LLVMGetFirstUse, LLVMGetIntTypeWidth, LLVMGetNextBasicBlock, LLVMGetNextFunction, LLVMGetNextInstruction,
    LLVMGetNextUse, LLVMGetNumOperands, LLVMGetOperand, LLVMGetTypeKind, LLVMGetUser, LLVMGetValueName2,
    LLVMGetVectorSize, LLVMInstructionEraseFromParent, LLVMInt64TypeInContext, LLVMIsACallInst,
    LLVMIsAConstantInt, LLVMIsAConstantVector, LLVMIsConstant, LLVMIsUndef, LLVMModuleRef,
    LLVMPositionBuilderBefore, LLVMSetAlignment, LLVMSetOperand, LLVMTypeKind_LLVMIntegerTypeKind,
    LLVMTypeOf, LLVMValueRef,
};

/// Rewrites the masked stores of integers whose masks are known to have one lane.
///
/// # Safety
/// Both are live, and the module belongs to the context.
pub(crate) unsafe fn store_alone(module: LLVMModuleRef, context: LLVMContextRef) {
    // SAFETY: every value is reached from the live module, and is not used after it has been erased.
    unsafe {
        let builder = LLVMCreateBuilderInContext(context);
        let mut function = LLVMGetFirstFunction(module);
        while !function.is_null() {
            for store in calls(function, b"llvm.masked.store.") {
                let [value, to, mask] = [0, 1, 2].map(|i| LLVMGetOperand(store, i));
                let ty = LLVMGetElementType(LLVMTypeOf(value));
                let whole = LLVMGetTypeKind(ty) == LLVMTypeKind_LLVMIntegerTypeKind
                    && LLVMGetIntTypeWidth(ty).is_multiple_of(8);
                if !whole {
                    continue;
                }
                let Some(lane) = only_lane(mask) else { continue };
                LLVMPositionBuilderBefore(builder, store);
                let mut lane = LLVMConstInt(LLVMInt64TypeInContext(context), lane.into(), 0);
                let element = LLVMBuildExtractElement(builder, value, lane, c"".as_ptr());
                let to = LLVMBuildGEP2(builder, ty, to, &mut lane, 1, c"".as_ptr());
                LLVMSetAlignment(LLVMBuildStore(builder, element, to), 1);
                LLVMInstructionEraseFromParent(store);
            }
            function = LLVMGetNextFunction(function);
        }
        LLVMDisposeBuilder(builder);
    }
}

/// Gives vectors of one number that have lanes left open the number in these too.
///
/// # Safety
/// The module is live.
pub(crate) unsafe fn fill_open(module: LLVMModuleRef) {
    // SAFETY: every value is reached from the live module; operands are asked for and set within their number.
    unsafe {
        let mut function = LLVMGetFirstFunction(module);
        while !function.is_null() {
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                let mut instruction = LLVMGetFirstInstruction(block);
                while !instruction.is_null() {
                    for i in 0..LLVMGetNumOperands(instruction).unsigned_abs() {
                        if let Some(filled) = filled(LLVMGetOperand(instruction, i)) {
                            LLVMSetOperand(instruction, i, filled);
                        }
                    }
                    instruction = LLVMGetNextInstruction(instruction);
                }
                block = LLVMGetNextBasicBlock(block);
            }
            function = LLVMGetNextFunction(function);
        }
    }
}

/// The vector of one number, if a constant is one with lanes left open.
///
/// # Safety
/// It is a value of a live module.
unsafe fn filled(value: LLVMValueRef) -> Option<LLVMValueRef> {
    // SAFETY: elements are asked for within the size, and only of a constant vector; equal constants are one.
    unsafe {
        if LLVMIsAConstantVector(value).is_null() {
            return None;
        }
        let size = LLVMGetVectorSize(LLVMTypeOf(value));
        let (mut number, mut open) = (None, false);
        for lane in 0..size {
            let element = LLVMGetAggregateElement(value, lane);
            if element.is_null() {
                return None;
            }
            if LLVMIsUndef(element) != 0 {
                open = true;
            } else if number.replace(element).is_some_and(|other| other != element) {
                return None;
            }
        }
        let mut lanes = vec![number.filter(|_| open)?; size as usize];
        Some(LLVMConstVector(lanes.as_mut_ptr(), size))
    }
}

/// The calls of a function, if its name begins so.
///
/// # Safety
/// It is a function of a live module.
pub(crate) unsafe fn calls(function: LLVMValueRef, begins: &[u8]) -> Vec<LLVMValueRef> {
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

/// The lane of a mask that is known to have no other.
///
/// # Safety
/// It is a vector of a live module.
unsafe fn only_lane(mask: LLVMValueRef) -> Option<u32> {
    // SAFETY: elements are asked for within the size, and only of a constant.
    unsafe {
        if LLVMIsConstant(mask) == 0 {
            return None;
        }
        let mut only = None;
        for lane in 0..LLVMGetVectorSize(LLVMTypeOf(mask)) {
            let element = LLVMGetAggregateElement(mask, lane);
            if element.is_null() || LLVMIsAConstantInt(element).is_null() {
                return None;
            }
            if LLVMConstIntGetZExtValue(element) != 0 && only.replace(lane).is_some() {
                return None;
            }
        }
        only
    }
}
