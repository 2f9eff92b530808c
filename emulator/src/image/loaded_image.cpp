#include "image/loaded_image.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "config.h"
#include "execution/group_executor.h"
#include "image/elf.h"
#include "image/sha256.h"

namespace culebra_emu {

// A file without a name, gone when closed.
class LoadedImage::MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("culebra-emulator", MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // Appends memory that may not be readable: the kernel reports that as an error where a load would
  // fault.
  bool append(const void* data, std::size_t bytes) {
    const char* next = static_cast<const char*>(data);
    while (bytes != 0) {
      // Not through the C library: AddressSanitizer would report what is, with an address and no
      // length, unavoidable.
      const auto written = static_cast<ssize_t>(syscall(SYS_write, descriptor_, next, bytes));
      if (written <= 0) return false;
      next += written;
      bytes -= static_cast<std::size_t>(written);
    }
    return true;
  }

  // Spelled anew each time: the dynamic linker knows libraries by their path, and where dlclose
  // leaves one in place, the next file with the same descriptor would be taken for it. Not through
  // /proc/self, which a debugger of this process would take for its own.
  std::string path() const {
    static std::atomic<std::size_t> files{0};
    const std::string slashes(1 + files.fetch_add(1) % 1024, '/');
    return "/proc/" + std::to_string(getpid()) + "/fd" + slashes + std::to_string(descriptor_);
  }

  std::string contents() const {
    std::string result(static_cast<std::size_t>(lseek(descriptor_, 0, SEEK_END)), '\0');
    const ssize_t got = pread(descriptor_, result.data(), result.size(), 0);
    result.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return result;
  }

 private:
  int descriptor_;
};

namespace {

using MemoryFile = LoadedImage::MemoryFile;

// Loading and unloading, one at a time. The dynamic linker has a lock of its own, but one that
// tools cannot see: they would take an image's data for those of the one that lay there before.
std::mutex& linker() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}

void* open_library(const std::string& path) {
  const std::lock_guard lock(linker());
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

void close_library(void* library) {
  const std::lock_guard lock(linker());
  dlclose(library);
}

// The bytes at an address, or nothing if not all of them can be read.
std::optional<std::string> read_memory(const void* base, std::uint64_t offset,
                                       std::uint64_t bytes) {
  constexpr std::uint64_t kLargestImage = std::uint64_t{1} << 30;
  if (offset > kLargestImage || bytes > kLargestImage) return std::nullopt;
  MemoryFile file;
  if (!file.append(static_cast<const char*>(base) + offset, bytes)) return std::nullopt;
  return file.contents();
}

struct Rejection {
  CUresult result;
  std::string log;
};

Rejection invalid(const std::string& why) { return {CUDA_ERROR_INVALID_IMAGE, why}; }

// What text or a fat binary would be for a real driver; anything else is no image at all.
Rejection reject_other_format(const void* data) {
  constexpr std::uint32_t kFatbinMagic = 0xBA55ED50;
  std::uint32_t magic = 0;
  if (const auto head = read_memory(data, 0, sizeof magic)) {
    std::memcpy(&magic, head->data(), sizeof magic);
    if (magic == kFatbinMagic) {
      return {CUDA_ERROR_NO_BINARY_FOR_GPU, "a fat binary holds no code for the emulator"};
    }
    // PTX begins with comments or its version. A text may end anywhere, hence byte by byte.
    constexpr std::size_t kLookedAt = 4096;
    MemoryFile text;
    for (std::size_t i = 0; i < kLookedAt && text.append(static_cast<const char*>(data) + i, 1);
         ++i) {
    }
    if (std::string_view(text.contents().c_str()).find(".version") != std::string_view::npos) {
      return {CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "the emulator cannot compile PTX"};
    }
  }
  return invalid("neither an ELF file, nor a fat binary, nor PTX");
}

// The contents of the sections, by name.
std::optional<Rejection> read_sections(const void* data,
                                       std::map<std::string, std::string>& sections) {
  const auto head = read_memory(data, 0, sizeof(Elf64_Ehdr));
  if (!head || std::memcmp(head->data(), ELFMAG, SELFMAG) != 0) return reject_other_format(data);
  Elf64_Ehdr header;
  std::memcpy(&header, head->data(), sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_ident[EI_VERSION] != EV_CURRENT) {
    return invalid("not a 64-bit little-endian ELF file");
  }
  const unsigned char os_abi = header.e_ident[EI_OSABI];
  if (header.e_machine != kMachineCuda || (os_abi != kOsAbiCuda && os_abi != kOsAbiCudaUpTo12)) {
    return invalid("an ELF file of another machine");
  }
  const unsigned architecture = architecture_of_flags(os_abi, header.e_flags);
  if (architecture != LoadedImage::kArchitecture) {
    return Rejection{CUDA_ERROR_NO_BINARY_FOR_GPU,
                     "the image is for sm_" + std::to_string(architecture) + ", the device is sm_" +
                         std::to_string(LoadedImage::kArchitecture) +
                         " (the emulator, which runs images that its own packer made)"};
  }
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0 ||
      header.e_shstrndx >= header.e_shnum) {
    return invalid("the ELF header's section table is not valid");
  }
  const auto table =
      read_memory(data, header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  if (!table) return invalid("the section table lies outside the image");
  std::vector<Elf64_Shdr> headers(header.e_shnum);
  std::memcpy(headers.data(), table->data(), table->size());

  const Elf64_Shdr& names_header = headers[header.e_shstrndx];
  const auto names = read_memory(data, names_header.sh_offset, names_header.sh_size);
  if (!names) return invalid("the section names lie outside the image");
  for (const Elf64_Shdr& section : headers) {
    if (section.sh_name >= names->size()) return invalid("a section's name lies outside the names");
    const std::string name(names->c_str() + section.sh_name);
    if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL) {
      sections[name];
      continue;
    }
    const auto contents = read_memory(data, section.sh_offset, section.sh_size);
    if (!contents) return invalid("section " + name + " lies outside the image");
    sections[name] = *contents;
  }
  return std::nullopt;
}

std::optional<Rejection> check_sections(const std::map<std::string, std::string>& sections) {
  const auto abi = sections.find(kAbiSection);
  if (abi == sections.end()) {
    if (sections.contains(".nv.info")) {
      return Rejection{
          CUDA_ERROR_NO_BINARY_FOR_GPU,
          "the image holds code of a GPU, sm_" + std::to_string(LoadedImage::kArchitecture) +
              "; this is the emulator, which runs images that its own packer made: set "
              "CULEBRA_KERNELS to them, or make them with bin/culebra-image"};
    }
    return invalid("the image holds no kernels");
  }
  if (abi->second != kAbiText) {
    return Rejection{CUDA_ERROR_NO_BINARY_FOR_GPU,
                     "the image was packed for another version of the emulator"};
  }
  const auto parameters = sections.find(kParametersSection);
  const auto host = sections.find(kHostSection);
  const auto digest = sections.find(kDigestSection);
  if (parameters == sections.end() || host == sections.end() || digest == sections.end()) {
    return invalid("the image lacks a section");
  }
  Sha256 sha;
  sha.update(parameters->second);
  sha.update(host->second);
  if (sha.hex() != digest->second) return invalid("the image's digest does not fit its contents");
  return std::nullopt;
}

}  // namespace

CUresult LoadedImage::load(const void* data, std::shared_ptr<LoadedImage>& image,
                           std::string& log) {
  std::map<std::string, std::string> sections;
  std::optional<Rejection> rejection = read_sections(data, sections);
  if (!rejection) rejection = check_sections(sections);
  if (rejection) {
    log = rejection->log;
    return rejection->result;
  }
  auto file = std::make_unique<MemoryFile>();
  const std::string& host = sections[kHostSection];
  if (!file->append(host.data(), host.size())) return CUDA_ERROR_OPERATING_SYSTEM;
  void* library = open_library(file->path());
  if (library == nullptr) {
    log = dlerror();
    return CUDA_ERROR_SHARED_OBJECT_INIT_FAILED;
  }
  const auto entry = reinterpret_cast<ImageEntry>(dlsym(library, kImageEntryName));
  const Image* description = entry == nullptr ? nullptr : entry(&kRuntime);
  if (description == nullptr || description->abi_version != kAbiVersion) {
    log = "the image's host code was compiled for another version of the emulator";
    close_library(library);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  if (config().checks.any() && description->checked == 0) {
    log =
        "CULEBRA_EMU_CHECK is set, but the image was not compiled for checks: use the kernels of "
        "`make -C emulator checked`";
    std::fprintf(stderr, "culebra-emulator: %s\n", log.c_str());
    close_library(library);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  image = std::shared_ptr<LoadedImage>(new LoadedImage(std::move(file), library, *description));
  return CUDA_SUCCESS;
}

LoadedImage::LoadedImage(std::unique_ptr<MemoryFile> file, void* library, const Image& image)
    : file_(std::move(file)),
      library_(library),
      kernels_(image.kernels, image.kernels + image.kernel_count),
      current_thread_(image.current_thread) {
  static std::atomic<std::uint64_t> loaded = 0;
  serial_ = ++loaded;
  if (config().checks.any()) {
    data_layout_ = std::make_shared<DataLayout>(host_code(), load_address());
  }
  if (config().timeout_s != 0) code_ = find_code(host_code(), load_address());
}

LoadedImage::~LoadedImage() {
  variables_ = nullptr;
  close_library(library_);
}

std::string LoadedImage::host_code() const { return file_->contents(); }

std::uint64_t LoadedImage::load_address() const {
  link_map* loaded = nullptr;
  return dlinfo(library_, RTLD_DI_LINKMAP, &loaded) == 0 ? loaded->l_addr : 0;
}

const Kernel* LoadedImage::find(std::string_view symbol) const {
  const auto found = std::find_if(kernels_.begin(), kernels_.end(),
                                  [&](const Kernel* kernel) { return kernel->symbol == symbol; });
  return found == kernels_.end() ? nullptr : *found;
}

std::uint32_t parameter_block_bytes(const Kernel& kernel) {
  if (kernel.parameter_count == 0) return 0;
  const Parameter& last = kernel.parameters[kernel.parameter_count - 1];
  return last.offset + last.size;
}

}  // namespace culebra_emu
