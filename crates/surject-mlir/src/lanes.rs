//! Lanes that LLVM 22.1.8 gets wrong, and must not see.
//!
//! Vectors of one number, some lanes of which do not matter, have it in all lanes. Of the same operation on several of
//! them, open in different lanes, the selection of instructions makes one by the other, and the other by the one, and does
//! not end.

use crate::llvm::functions;
use mlir_sys::{
    LLVMConstVector, LLVMGetAggregateElement, LLVMGetFirstBasicBlock, LLVMGetFirstInstruction,
    LLVMGetNextBasicBlock, LLVMGetNextInstruction, LLVMGetNumOperands, LLVMGetOperand, LLVMGetVectorSize,
    LLVMIsAConstantVector, LLVMIsUndef, LLVMModuleRef, LLVMSetOperand, LLVMTypeOf, LLVMValueRef,
};

/// Gives vectors of one number that have lanes left open the number in these too.
///
/// # Safety
/// The module is live.
pub(crate) unsafe fn fill_open(module: LLVMModuleRef) {
    // SAFETY: every value is reached from the live module; operands are asked for and set within their number.
    unsafe {
        for function in functions(module) {
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
