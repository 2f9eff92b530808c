// Images, functions, and the rules of launches.
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <set>

#include "support.h"

using namespace culebra_test;

namespace {

CUresult load(const std::string& image) {
  CUmodule module = nullptr;
  const CUresult result = cuModuleLoadData(&module, image.data());
  if (result == CUDA_SUCCESS) RETURNS(0, cuModuleUnload(module));
  return result;
}

// For what is done a thousand times with all of an image's bytes.
const std::string& small_image() {
  static const std::string image = read_file(std::getenv("CULEBRA_TEST_OTHER_IMAGE"));
  return image;
}

// The image's bytes right before a page that cannot be read, so that a read beyond them faults.
class AtTheEdge {
 public:
  explicit AtTheEdge(const std::string& bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    length_ = (bytes.size() / page + 2) * page;
    memory_ = static_cast<char*>(
        mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_ + length_ - page, page, PROT_NONE);
    data_ = memory_ + length_ - page - bytes.size();
    std::memcpy(data_, bytes.data(), bytes.size());
  }
  ~AtTheEdge() { munmap(memory_, length_); }
  const void* data() const { return data_; }

 private:
  char* memory_;
  char* data_;
  std::size_t length_;
};

Elf64_Ehdr header_of(const std::string& image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof header);
  return header;
}

std::string with_header(std::string image, const Elf64_Ehdr& header) {
  std::memcpy(image.data(), &header, sizeof header);
  return image;
}

}  // namespace

TEST(a_truncated_image_is_refused_wherever_it_ends) {
  use_device();
  const std::string& image = small_image();
  const Elf64_Ehdr header = header_of(image);
  std::set<std::size_t> cuts = {0,
                                1,
                                4,
                                63,
                                64,
                                header.e_shoff,
                                image.size() - 1,
                                image.size() / 20,
                                image.size() / 2,
                                image.size() / 10 * 9};
  for (int i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, image.data() + header.e_shoff + i * sizeof section, sizeof section);
    for (const std::size_t edge : {section.sh_offset, section.sh_offset + section.sh_size,
                                   header.e_shoff + (i + 1) * sizeof section}) {
      for (const std::size_t cut : {edge - 1, edge, edge + 1}) {
        if (cut < image.size()) cuts.insert(cut);
      }
    }
  }
  CHECK(cuts.size() > 20);
  CUmodule module = nullptr;
  for (const std::size_t cut : cuts) {
    // Once with nothing behind it, and once with zeros.
    const AtTheEdge edge(image.substr(0, cut));
    RETURNS(200, cuModuleLoadData(&module, edge.data()));
    std::string padded = image.substr(0, cut);
    padded.resize(image.size() + 4096);
    // (Zeros may be just what was cut off.)
    RETURNS(padded.compare(0, image.size(), image) == 0 ? 0 : 200, load(padded));
  }
  RETURNS(0, load(image));
}

TEST(a_damaged_image_is_refused_whichever_byte_it_is) {
  use_device();
  const std::string& image = small_image();
  const Elf64_Ehdr header = header_of(image);
  std::size_t tried = 0;
  const auto flip = [&](std::size_t at) {
    std::string damaged = image;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    const CUresult result = load(damaged);
    // (Bytes between sections and a few header fields mean nothing.)
    CHECK(result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_IMAGE ||
          result == CUDA_ERROR_NO_BINARY_FOR_GPU);
    ++tried;
    return result;
  };
  for (std::size_t at = 0; at < sizeof header; ++at) flip(at);
  for (std::size_t at = header.e_shoff; at < image.size(); at += 3) flip(at);
  for (int i = 1; i < header.e_shnum - 1; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, image.data() + header.e_shoff + i * sizeof section, sizeof section);
    for (std::size_t at = 0; at < section.sh_size; at += section.sh_size / 7 + 1) {
      CHECK(flip(section.sh_offset + at) != CUDA_SUCCESS);
    }
  }
  CHECK(tried > 200);
}

TEST(foreign_images_have_their_codes) {
  use_device();
  const std::string& image = test_image();
  Elf64_Ehdr header = header_of(image);
  CUmodule module = nullptr;
  RETURNS(1, cuModuleLoadData(&module, nullptr));
  RETURNS(200, load(std::string(4096, '\0')));
  RETURNS(200, load("this is no image" + std::string(4096, ' ')));
  header.e_flags = 0x6005004;  // sm_80
  RETURNS(209, load(with_header(image, header)));
  header = header_of(image);
  header.e_machine = EM_X86_64;
  RETURNS(200, load(with_header(image, header)));
  header = header_of(image);
  header.e_ident[EI_CLASS] = ELFCLASS32;
  RETURNS(200, load(with_header(image, header)));
  header = header_of(image);
  header.e_ident[EI_OSABI] = 0;
  RETURNS(200, load(with_header(image, header)));
  header = header_of(image);
  header.e_shoff = ~std::uint64_t{0} - 8;
  RETURNS(200, load(with_header(image, header)));
  RETURNS(221, load("//\n// a comment\n//\n.version 8.0\n.target sm_90\n"));
  const std::uint32_t fatbin = 0xBA55ED50;
  RETURNS(209,
          load(std::string(reinterpret_cast<const char*>(&fatbin), 4) + std::string(64, '\0')));

  char log[256] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  header = header_of(image);
  header.e_flags = 0x6005004;
  RETURNS(209, cuModuleLoadDataEx(&module, with_header(image, header).data(), 2, options, values));
  CHECK_EQ(
      std::string(log),
      "the image is for sm_80, the device is sm_90 (the emulator, which runs images that its own "
      "packer made)");
  CHECK_EQ(reinterpret_cast<std::uintptr_t>(values[1]), std::strlen(log));
  // As nvcc up to 12 writes it.
  header.e_ident[EI_OSABI] = 0x33;
  header.e_flags = 0x560556;
  values[1] = reinterpret_cast<void*>(sizeof log);
  RETURNS(209, cuModuleLoadDataEx(&module, with_header(image, header).data(), 2, options, values));
  CHECK(std::string(log).starts_with("the image is for sm_86, the device is sm_90"));
}

// As nvcc writes it, as far as the emulator looks: the header of an image, and a section .nv.info
// in place of ours.
TEST(an_elf_with_gpu_code_is_refused) {
  use_device();
  std::string image = test_image();
  const std::string ours(".culebra.abi\0", 13);
  std::string theirs = ".nv.info";
  theirs.resize(ours.size());
  const std::size_t name = image.rfind(ours);
  CHECK(name != std::string::npos);
  image.replace(name, ours.size(), theirs);
  RETURNS(209, load(image));
  // Without either it is nobody's.
  image.replace(name, ours.size(), ours.size(), '\0');
  RETURNS(200, load(image));
}

TEST(a_cubin_of_nvcc_is_refused) {
  const char* path = std::getenv("CULEBRA_TEST_CUBIN");
  if (path == nullptr || *path == '\0') skip("no nvcc to make a cubin with");
  use_device();
  char log[256] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module = nullptr;
  RETURNS(209, cuModuleLoadDataEx(&module, read_file(path).data(), 2, options, values));
  CHECK(std::string(log).starts_with("the image holds code of a GPU, sm_90; this is the emulator"));
}

TEST(two_images_at_once) {
  use_device();
  const CUmodule first = load_test_module();
  CUmodule second = nullptr;
  RETURNS(0, cuModuleLoadData(&second, read_file(std::getenv("CULEBRA_TEST_OTHER_IMAGE")).data()));
  CUfunction twice = nullptr;
  RETURNS(500, cuModuleGetFunction(&twice, first, "other_double"));
  RETURNS(0, cuModuleGetFunction(&twice, second, "other_double"));
  Buffer<int> value(1, 21);
  RETURNS(0, launch(twice, 1, 1, 0, nullptr, value.address));
  RETURNS(0, launch(function(first, "store"), 1, 1, 0, nullptr, value.address, 5));
  value.download();
  CHECK_EQ(value.host[0], 5);
  RETURNS(0, launch(twice, 1, 1, 0, nullptr, value.address));
  value.download();
  CHECK_EQ(value.host[0], 10);
}

TEST(module_functions) {
  use_device();
  const CUmodule module = load_test_module();
  CUfunction found = nullptr, again = nullptr;
  unsigned count = 0;
  RETURNS(500, cuModuleGetFunction(&found, module, "absent"));
  RETURNS(1, cuModuleGetFunction(&found, module, ""));
  RETURNS(0, cuModuleGetFunction(&found, module, "axpy"));
  RETURNS(0, cuModuleGetFunction(&again, module, "axpy"));
  CHECK_EQ(found, again);
  RETURNS(0, cuModuleGetFunctionCount(&count, module));
  CHECK(count > 20);
  const struct { std::size_t offset, bytes; } expected[] = {{0, 8}, {8, 8}, {16, 4}, {24, 8}};
  for (std::size_t i = 0; i < 4; ++i) {
    std::size_t offset = 99, bytes = 99;
    RETURNS(0, cuFuncGetParamInfo(found, i, &offset, &bytes));
    CHECK_EQ(offset, expected[i].offset);
    CHECK_EQ(bytes, expected[i].bytes);
  }
  std::size_t offset = 0;
  RETURNS(1, cuFuncGetParamInfo(found, 4, &offset, nullptr));
  RETURNS(0, cuModuleUnload(module));
  RETURNS(400, cuModuleUnload(module));
  RETURNS(400, cuFuncGetParamInfo(found, 0, &offset, nullptr));
}

TEST(libraries) {
  use_device();
  CUlibrary library = nullptr, junk = nullptr;
  CUkernel kernel = nullptr, all[100] = {};
  CUfunction as_function = nullptr;
  CUmodule module = nullptr;
  unsigned count = 0;
  const char* name = nullptr;
  // Loading is lazy: junk is told of later.
  RETURNS(0, cuLibraryLoadData(&junk, "junk, and more junk to fill the space of a header", nullptr,
                               nullptr, 0, nullptr, nullptr, 0));
  RETURNS(200, cuLibraryGetKernel(&kernel, junk, "axpy"));
  RETURNS(0, cuLibraryUnload(junk));
  RETURNS(400, cuLibraryUnload(junk));

  RETURNS(0, cuLibraryLoadData(&library, test_image().data(), nullptr, nullptr, 0, nullptr, nullptr,
                               0));
  RETURNS(500, cuLibraryGetKernel(&kernel, library, "absent"));
  RETURNS(0, cuLibraryGetKernel(&kernel, library, "store"));
  RETURNS(0, cuKernelGetName(&name, kernel));
  CHECK_EQ(std::string(name), "store");
  RETURNS(0, cuLibraryGetKernelCount(&count, library));
  RETURNS(0, cuLibraryEnumerateKernels(all, count, library));
  for (unsigned i = 0; i < count; ++i) RETURNS(0, cuKernelGetName(&name, all[i]));
  RETURNS(0, cuLibraryGetModule(&module, library));
  RETURNS(0, cuKernelGetFunction(&as_function, kernel));
  Buffer<int> value(1);
  RETURNS(0, launch(as_function, 1, 1, 0, nullptr, value.address, 4));
  value.download();
  CHECK_EQ(value.host[0], 4);
  RETURNS(0, launch(kernel, 1, 1, 0, nullptr, value.address, 6));
  value.download();
  CHECK_EQ(value.host[0], 6);
  // A kernel's setting is its functions' too.
  int bytes = 0;
  RETURNS(
      0, cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100'000, kernel, 0));
  RETURNS(0,
          cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, as_function));
  CHECK_EQ(bytes, 100'000);
  RETURNS(0, cuLibraryUnload(library));
  RETURNS(400, launch(as_function, 1, 1, 0, nullptr, value.address, 4));
  RETURNS(400, launch(kernel, 1, 1, 0, nullptr, value.address, 4));
}

TEST(a_launch_outside_of_the_limits_is_refused) {
  use_device();
  const CUmodule module = load_test_module();
  const CUfunction nothing = function(module, "nothing");
  const struct {
    unsigned gx, gy, gz, bx, by, bz, shared;
    int code;
  } cases[] = {
      {1, 1, 1, 1, 1, 1, 0, 0},         {0, 1, 1, 1, 1, 1, 0, 1},
      {1, 1, 0, 1, 1, 1, 0, 1},         {1, 1, 1, 0, 1, 1, 0, 1},
      {1, 1, 1, 1024, 1, 1, 0, 0},      {1, 1, 1, 1025, 1, 1, 0, 1},
      {1, 1, 1, 1, 1, 65, 0, 1},        {1, 1, 1, 32, 33, 1, 0, 1},
      {1, 1, 1, 4, 4, 64, 0, 0},        {1, 65536, 1, 1, 1, 1, 0, 1},
      {1, 1, 65536, 1, 1, 1, 0, 1},     {0x80000000, 1, 1, 1, 1, 1, 0, 1},
      {1, 1, 1, 65536, 65536, 1, 0, 1}, {1, 1, 1, 1, 1, 1, 49152, 0},
      {1, 1, 1, 1, 1, 1, 49153, 1},
  };
  for (const auto& c : cases) {
    RETURNS(c.code, cuLaunchKernel(nothing, c.gx, c.gy, c.gz, c.bx, c.by, c.bz, c.shared, nullptr,
                                   nullptr, nullptr));
  }
  RETURNS(1, cuFuncSetAttribute(nothing, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232449));
  RETURNS(1, cuFuncSetAttribute(nothing, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 300000));
  RETURNS(0, cuFuncSetAttribute(nothing, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448));
  RETURNS(0, launch(nothing, 1, 1, 232448, nullptr));
  // Beyond the kernel's own launch bound.
  Buffer<unsigned> out(512);
  RETURNS(701, launch(function(module, "fill"), 1, 512, 0, nullptr, out.address, 1u, 512u));
  // Parameters, but no list of them.
  RETURNS(
      1, cuLaunchKernel(function(module, "store"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  RETURNS(0, cuCtxSynchronize());
}

TEST(parameters_as_one_block) {
  use_device();
  const CUfunction store = function(load_test_module(), "store");
  Buffer<int> value(1);
  struct {
    CUdeviceptr address;
    int value;
  } block = {value.address, 77};
  const auto launch_with = [&](std::size_t bytes) {
    void* extra[] = {reinterpret_cast<void*>(1), &block, reinterpret_cast<void*>(2), &bytes,
                     nullptr};
    return cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra);
  };
  RETURNS(1, launch_with(0));
  RETURNS(701, launch_with(16));
  RETURNS(701, launch_with(64));
  RETURNS(0, launch_with(12));
  value.download();
  CHECK_EQ(value.host[0], 77);
  // Accepted, and the last parameter is garbage.
  RETURNS(0, launch_with(8));
  value.download();
  CHECK_EQ(value.host[0], -1);
}

TEST(launch_attributes) {
  use_device();
  const CUfunction nothing = function(load_test_module(), "nothing");
  CUlaunchAttribute attribute = {};
  CUlaunchConfig config = {3, 1, 1, 32, 1, 1, 0, nullptr, &attribute, 1};
  const auto launch_ex = [&] { return cuLaunchKernelEx(&config, nothing, nullptr, nullptr); };
  RETURNS(0, launch_ex());
  attribute.id = static_cast<CUlaunchAttributeID>(99);
  RETURNS(1, launch_ex());
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {2, 1, 1};
  RETURNS(912, launch_ex());
  attribute.value.clusterDim = {0, 1, 1};
  RETURNS(912, launch_ex());
  attribute.value.clusterDim = {1, 1, 1};
  RETURNS(0, launch_ex());
  attribute.value.clusterDim = {3, 1, 1};
  RETURNS(0, launch_ex());
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  RETURNS(0, launch_ex());
  int blocks = 0;
  RETURNS(0, cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 1024, 0));
  CHECK_EQ(blocks, 2);
  config.blockDimX = 1024;
  config.gridDimX = static_cast<unsigned>(2 * 132);
  RETURNS(0, launch_ex());
  config.gridDimX += 1;
  RETURNS(720, launch_ex());
  RETURNS(0, cuCtxSynchronize());
}
