//! Masked stores of one lane become stores of one element.
//!
//! LLVM does the same on its own, but where the lanes are wider integers cut short it forgets so on processors with
//! AVX-512 (LLVM 22.1.8): to store the first of sixteen `i8` that are truncated `i32` it writes four bytes. What is known
//! here to be one lane never gets there.

use mlir_sys::{
    LLVMBuildExtractElement, LLVMBuildGEP2, LLVMBuildStore, LLVMConstInt, LLVMConstIntGetZExtValue,
    LLVMContextRef, LLVMCreateBuilderInContext, LLVMDisposeBuilder, LLVMGetAggregateElement,
    LLVMGetElementType, LLVMGetFirstFunction, LLVMGetFirstUse, LLVMGetIntTypeWidth, LLVMGetNextFunction,
    LLVMGetNextUse, LLVMGetOperand, LLVMGetTypeKind, LLVMGetUser, LLVMGetValueName2, LLVMGetVectorSize,
    LLVMInstructionEraseFromParent, LLVMInt64TypeInContext, LLVMIsACallInst, LLVMIsAConstantInt,
    LLVMIsConstant, LLVMModuleRef, LLVMPositionBuilderBefore, LLVMSetAlignment,
    LLVMTypeKind_LLVMIntegerTypeKind, LLVMTypeOf, LLVMValueRef,
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
            for store in masked_stores(function) {
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

/// The calls of a function, if it is one of LLVM's masked stores.
///
/// # Safety
/// It is a function of a live module.
unsafe fn masked_stores(function: LLVMValueRef) -> Vec<LLVMValueRef> {
    let mut calls = Vec::new();
    // SAFETY: the name belongs to the function; uses and users are live as long as nothing is erased.
    unsafe {
        let mut length = 0;
        let name = LLVMGetValueName2(function, &mut length).cast::<u8>();
        if !std::slice::from_raw_parts(name, length).starts_with(b"llvm.masked.store.") {
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
