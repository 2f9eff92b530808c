#include "kernel_root.h"

#include <cctype>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace runner {

namespace {

// How well an image of `target` fits a device: 0 not at all, else the higher the better. sm_XYa
// fits X.Y alone, sm_XY fits X.Z with Z >= Y, compute_XY fits X.Y and above, in that order of
// preference.
int fit(const std::string& target, int device) {
  constexpr int kExact = 1 << 20;
  constexpr int kBinary = 1 << 10;
  const bool ptx = target.rfind("compute_", 0) == 0;
  const std::string digits = target.substr(target.find('_') + 1);
  const int version = std::stoi(digits);
  if (ptx) return version <= device ? version : 0;
  if (std::isalpha(static_cast<unsigned char>(digits.back()))) {
    return version == device ? kExact : 0;
  }
  return version <= device && version / 10 == device / 10 ? kBinary + version : 0;
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, '\t');) fields.push_back(field);
  return fields;
}

std::ifstream open(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return file;
}

}  // namespace

KernelRoot::KernelRoot(const Driver& driver, std::string folder)
    : driver_(driver), folder_(std::move(folder)) {
  std::ifstream index = open(folder_ + "/kernels.index");
  std::map<std::string, int> best;
  for (std::string line; std::getline(index, line);) {
    const std::vector<std::string> fields = split(line);
    if (fields.size() == 6 && fields[0] == "image") {
      const int score = fit(fields[2], driver_.compute_capability());
      if (score > best[fields[1]]) {
        best[fields[1]] = score;
        files_[fields[1]] = fields[3];
      }
    } else if (fields.size() == 4 && fields[0] == "kernel") {
      kernels_[fields[1]] = {fields[2], static_cast<unsigned>(std::stoul(fields[3]))};
    }
  }
}

std::string KernelRoot::image_of(const std::string& family) const {
  const auto file = files_.find(family);
  if (file == files_.end()) {
    throw std::runtime_error("no image of " + family + " in " + folder_ +
                             " fits compute capability " +
                             std::to_string(driver_.compute_capability()));
  }
  return folder_ + "/" + file->second;
}

KernelRoot::Kernel KernelRoot::kernel(const std::string& symbol) {
  const auto entry = kernels_.find(symbol);
  if (entry == kernels_.end()) throw std::runtime_error("no kernel " + symbol + " in " + folder_);
  const std::string path = image_of(entry->second.family);
  void*& module = modules_[entry->second.family];
  if (module == nullptr) {
    std::ifstream stream = open(path);
    std::vector<char> image{std::istreambuf_iterator<char>(stream), {}};
    image.push_back('\0');  // PTX is a C string
    module = driver_.load_module(image);
  }
  return {driver_.function(module, symbol), entry->second.max_threads};
}

}  // namespace runner
