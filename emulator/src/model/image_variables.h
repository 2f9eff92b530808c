// The device variables of a loaded image as memory that the driver knows.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "abi.h"

namespace culebra_emu {

class LoadedImage;

class ImageVariables {
 public:
  struct Memory {
    std::uint64_t address;
    std::uint64_t bytes;
  };

  ImageVariables() = default;
  ~ImageVariables();
  ImageVariables(const ImageVariables&) = delete;
  ImageVariables& operator=(const ImageVariables&) = delete;

  // Known from the first question on and as long as the image is loaded; it is on the context's
  // device. Nothing if the image has no variable of that name.
  static std::optional<Memory> find(LoadedImage& image, const std::string& name, Context& context);

 private:
  std::map<std::string, Memory> known_;
};

}  // namespace culebra_emu
