// A case: driver calls, made in a process of their own, and what an H200 answered to them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "driver.h"
#include "graph_driver.h"

namespace differential {

// What the calls of a case answer, as one line of words.
class Answer {
 public:
  // A call that the case is about.
  void operator()(CUresult result) { word(std::to_string(static_cast<int>(result))); }
  void word(const std::string& text) { text_ += (text_.empty() ? "" : " ") + text; }
  // A call that only prepares the case; if it fails, there is no answer.
  void need(CUresult result, const char* call);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

struct Case {
  std::string name;
  // The calls, in words.
  std::string calls;
  // The answer on an H200, driver API 13.0; empty if nobody has recorded one. "crash" for a process
  // that ends by SIGSEGV. "A or B" if the device answered A in one run and B in another.
  std::string recorded;
  std::function<void(Answer&)> body;
  // How many it needs; where there are fewer, it is skipped.
  int devices = 1;
};

// With what a process ends that has too few devices for its case.
inline constexpr int kTooFewDevices = 4;

// All cases, in the order of the report.
const std::vector<Case>& cases();

// Each file of cases adds its own.
struct Cases {
  explicit Cases(std::vector<Case> list);
};

// For the bodies.

// cuInit and a current primary context of device 0.
CUcontext use_device(Answer& answer);
// The image of the self-test kernels that fits the device.
const std::vector<char>& image();
CUmodule load_module(Answer& answer);
CUfunction find_function(Answer& answer, CUmodule module, const char* name);
CUstream new_stream(Answer& answer, unsigned flags = CU_STREAM_NON_BLOCKING);
CUevent new_event(Answer& answer, unsigned flags = CU_EVENT_DISABLE_TIMING);
CUdeviceptr new_memory(Answer& answer, std::size_t bytes);

// culebra_selftest_write_at_u32 and _spin_u32: two 64-bit parameters and a 32-bit one between or
// behind them.
struct Kernels {
  CUmodule module;
  CUfunction write;    // (address, index, value)
  CUfunction spin;     // (address, value, nanoseconds)
  CUfunction reverse;  // (out, in), dynamic shared memory
  explicit Kernels(Answer& answer);
};

CUresult launch_write(CUfunction write, CUdeviceptr address, CUstream stream = nullptr,
                      unsigned grid = 1);
CUresult launch_spin(CUfunction spin, CUdeviceptr address, std::uint64_t milliseconds,
                     CUstream stream);

}  // namespace differential

#define NEED(call) answer.need(call, #call)
