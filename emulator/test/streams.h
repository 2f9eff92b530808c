// What cases about the order of work need.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "support.h"

namespace culebra_test {

// Holds a stream until it is opened.
struct Gate {
  std::atomic<bool> open = false;
  static void wait(void* gate) {
    while (!static_cast<Gate*>(gate)->open)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};

inline CUstream new_stream(unsigned flags) {
  CUstream stream = nullptr;
  RETURNS(0, cuStreamCreate(&stream, flags));
  return stream;
}

}  // namespace culebra_test
