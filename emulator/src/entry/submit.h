// The one place where a stream takes work.
#pragma once

#include "abi.h"
#include "model/stream.h"
#include "model/work.h"

namespace culebra_emu {

// Puts the work behind what the stream has, or makes it a node of the graph that the stream is
// being captured into. `done`, if wanted, is what the caller may wait for; null if it was captured.
CUresult submit(const char* symbol, Stream& stream, Work work, CompletionPtr* done = nullptr);

}  // namespace culebra_emu
