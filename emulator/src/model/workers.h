// OS threads for what may wait: as many as there is work at a time.
#pragma once

#include <functional>

namespace culebra_emu {

// Runs the work on an idle thread, or on a new one: never behind other work. Where the system gives
// no more threads, runs it here before it returns.
void start_on_worker(std::function<void()> work);

}  // namespace culebra_emu
