// What every entry that copies or fills does; the entries themselves describe the work.
#pragma once

#include "abi.h"
#include "model/work.h"

namespace culebra_emu {

// Whether both ends are memory that may be copied.
bool is_valid(const CopyWork& work);
bool is_valid(const FillWork& work);

// Synchronous, in the current context.
CUresult copy_now(const char* symbol, const CopyWork& work);
CUresult fill_now(const char* symbol, const FillWork& work);

// Copies the source now if the driver does not make the caller wait for it: small and pageable.
void stage(CopyWork& work);

CUresult copy_async(const char* symbol, const CopyWork& work, CUstream stream);
CUresult fill_async(const char* symbol, const FillWork& work, CUstream stream);

}  // namespace culebra_emu
