// pack_image OBJECT.so IMAGE: wraps a host build of kernels into an emulator image
// (docs/decisions/0002).
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "describe_kernels.h"
#include "image/elf.h"
#include "image/sha256.h"

namespace {

using namespace culebra_emu;

constexpr unsigned kArchitecture = 90;

std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(std::string("cannot read ") + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void align(std::string& bytes) { bytes.resize((bytes.size() + 15) / 16 * 16); }

std::string pack(const std::vector<std::pair<std::string, std::string>>& contents) {
  Elf64_Ehdr header = {};
  std::string names(1, '\0');
  std::string file(sizeof header, '\0');
  std::vector<Elf64_Shdr> sections(1);

  const auto add = [&](const std::string& name, Elf64_Word type, const std::string* data) {
    Elf64_Shdr section = {};
    section.sh_name = static_cast<Elf64_Word>(names.size());
    names += name + '\0';
    // The names' own section is added last, when its name is among them.
    const std::string& bytes = data == nullptr ? names : *data;
    align(file);
    section.sh_type = type;
    section.sh_offset = file.size();
    section.sh_size = bytes.size();
    section.sh_addralign = 16;
    file += bytes;
    sections.push_back(section);
  };
  for (const auto& [name, data] : contents) add(name, SHT_PROGBITS, &data);
  add(".shstrtab", SHT_STRTAB, nullptr);

  align(file);
  std::copy_n(ELFMAG, SELFMAG, header.e_ident);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_ident[EI_OSABI] = kOsAbiCuda;
  header.e_ident[EI_ABIVERSION] = kAbiVersionCuda;
  header.e_type = ET_EXEC;
  header.e_machine = kMachineCuda;
  header.e_version = EV_CURRENT;
  header.e_flags = flags_of_architecture(kArchitecture);
  header.e_ehsize = sizeof header;
  header.e_shoff = file.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(sections.size());
  header.e_shstrndx = static_cast<Elf64_Half>(sections.size() - 1);
  for (const Elf64_Shdr& section : sections) append(file, section);
  file.replace(0, sizeof header, reinterpret_cast<const char*>(&header), sizeof header);
  return file;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: pack_image OBJECT.so IMAGE\n");
    return 2;
  }
  try {
    const std::string parameters = describe_kernels(argv[1]);
    const std::string host = read_file(argv[1]);
    Sha256 digest;
    digest.update(parameters);
    digest.update(host);
    const std::string image = pack({{kAbiSection, kAbiText},
                                    {kParametersSection, parameters},
                                    {kDigestSection, digest.hex()},
                                    {kHostSection, host}});
    std::ofstream file(argv[2], std::ios::binary | std::ios::trunc);
    file.write(image.data(), static_cast<std::streamsize>(image.size()));
    file.close();
    if (!file) throw std::runtime_error(std::string("cannot write ") + argv[2]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pack_image: %s\n", error.what());
    return 1;
  }
}
