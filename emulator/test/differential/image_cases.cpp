// What the driver makes of images that are none.
#include <cstring>

#include "case.h"

namespace differential {
namespace {

constexpr DriverFunction<CUmodule*, const char*> cuModuleLoad{"cuModuleLoad"};

// Where an ELF header has its fields.
constexpr std::size_t kMachineOffset = 18;
constexpr std::size_t kFlagsOffset = 48;

CUresult load(const void* data) {
  CUmodule module = nullptr;
  return cuModuleLoadData(&module, data);
}

// The first part of the image, with zeros behind it as far as the whole would reach: what is read
// beyond is no accident of this process.
CUresult load_part(unsigned percent) {
  std::vector<char> part(image().size() + 65536, '\0');
  std::memcpy(part.data(), image().data(), (image().size() - 1) * percent / 100);
  return load(part.data());
}

Case ptx_case(const char* name, const char* calls, const char* recorded, const char* version,
              const char* target, const char* body) {
  const std::string text = std::string(".version ") + version + "\n.target " + target +
                           "\n.address_size 64\n.visible .entry k() {\n" + body + "\nret;\n}\n";
  return {name, calls, recorded, [text](Answer& answer) {
            use_device(answer);
            answer(load(text.c_str()));
          }};
}

const Cases all({
    {"image-garbage", "load garbage", "200",
     [](Answer& answer) {
       use_device(answer);
       const std::vector<char> garbage(4096, '\x5a');
       answer(load(garbage.data()));
     }},
    {"image-empty", "load an empty string", "200",
     [](Answer& answer) {
       use_device(answer);
       const std::vector<char> empty(4096, '\0');
       answer(load(empty.data()));
     }},
    {"image-magic", "load a cubin with a wrong magic number, with a wrong machine", "200 200",
     [](Answer& answer) {
       use_device(answer);
       std::vector<char> wrong = image();
       wrong[1] = 'X';
       answer(load(wrong.data()));
       wrong = image();
       wrong[kMachineOffset] = 62;
       wrong[kMachineOffset + 1] = 0;
       answer(load(wrong.data()));
     }},
    {"image-part", "load the first 5 %, 50 % of a cubin", "200 200",
     [](Answer& answer) {
       use_device(answer);
       answer(load_part(5));
       answer(load_part(50));
     }},
    // One cubin's first 90 % crashed the driver, another's were refused.
    {"image-most", "load the first 90 % of a cubin", "200 or crash",
     [](Answer& answer) {
       use_device(answer);
       answer(load_part(90));
     }},
    {"image-architecture", "load a cubin whose flags name another architecture", "209",
     [](Answer& answer) {
       use_device(answer);
       std::vector<char> wrong = image();
       // Two layouts: the architecture is in the low byte, or in the one above.
       std::uint32_t flags = 0;
       std::memcpy(&flags, wrong.data() + kFlagsOffset, sizeof flags);
       if ((flags & 0xFF) == 90) flags = (flags & ~0xFFu) | 75;
       if ((flags >> 8 & 0xFF) == 90) flags = (flags & ~0xFF00u) | 75 << 8;
       std::memcpy(wrong.data() + kFlagsOffset, &flags, sizeof flags);
       answer(load(wrong.data()));
     }},
    ptx_case("ptx-version", "PTX with .version 99.0", "222", "99.0", "sm_90", ""),
    ptx_case("ptx-target", "PTX with .target sm_999", "218", "8.0", "sm_999", ""),
    ptx_case("ptx-newer", "PTX with .target sm_120 for 9.0", "218", "8.8", "sm_120", ""),
    ptx_case("ptx-syntax", "PTX with a syntax error", "218", "8.0", "sm_90", "no such thing;"),
    {"missing-symbol", "get a function that is not there", "500",
     [](Answer& answer) {
       use_device(answer);
       CUfunction function = nullptr;
       answer(cuModuleGetFunction(&function, load_module(answer), "culebra_selftest_none"));
     }},
    {"missing-file", "cuModuleLoad of a missing file", "301",
     [](Answer& answer) {
       use_device(answer);
       CUmodule module = nullptr;
       answer(cuModuleLoad(&module, "/nowhere/nothing.cubin"));
     }},
    {"library-junk", "cuLibraryLoadData of junk", "0",
     [](Answer& answer) {
       use_device(answer);
       const std::vector<char> junk(4096, '\x5a');
       CUlibrary library = nullptr;
       answer(cuLibraryLoadData(&library, junk.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
     }},
});

}  // namespace
}  // namespace differential
