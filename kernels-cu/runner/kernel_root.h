// A kernel root (docs/decisions/0002-kernel-root.md), as far as the runner needs it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "driver.h"

namespace runner {

// The kernels of a root for one device: loads the best image of each family when a kernel of it is
// first asked for.
class KernelRoot {
 public:
  KernelRoot(const Driver& driver, std::string folder);

  bool has_family(const std::string& family) const { return files_.count(family) != 0; }

  // The file of a family's best image.
  std::string image_of(const std::string& family) const;

  struct Kernel {
    void* function;
    unsigned max_threads;
  };
  Kernel kernel(const std::string& symbol);

 private:
  const Driver& driver_;
  std::string folder_;
  struct Entry {
    std::string family;
    unsigned max_threads;
  };
  std::map<std::string, Entry> kernels_;
  std::map<std::string, std::string> files_;  // the chosen image of each family
  std::map<std::string, void*> modules_;
};

}  // namespace runner
