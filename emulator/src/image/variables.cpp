#include "image/variables.h"

#include <elf.h>

#include <cstring>

namespace culebra_emu {
namespace {

// The I-th T behind an offset, if all of it lies in the file.
template <class T>
std::optional<T> read(const std::string& file, std::uint64_t offset, std::uint64_t index = 0) {
  std::uint64_t at = 0;
  if (__builtin_mul_overflow(index, sizeof(T), &at) || __builtin_add_overflow(at, offset, &at) ||
      at > file.size() || sizeof(T) > file.size() - at) {
    return std::nullopt;
  }
  T value;
  std::memcpy(&value, file.data() + at, sizeof value);
  return value;
}

bool has_name(const std::string& file, const Elf64_Shdr& names, std::uint32_t at,
              std::string_view name) {
  const std::uint64_t start = names.sh_offset + at;
  // With the zero behind it.
  return at < names.sh_size && start < file.size() && name.size() < file.size() - start &&
         std::memcmp(file.data() + start, name.data(), name.size()) == 0 &&
         file[start + name.size()] == '\0';
}

}  // namespace

std::optional<Variable> find_variable(const std::string& host, std::string_view name) {
  const auto header = read<Elf64_Ehdr>(host, 0);
  if (!header) return std::nullopt;
  for (std::uint16_t i = 0; i < header->e_shnum; ++i) {
    const auto table = read<Elf64_Shdr>(host, header->e_shoff, i);
    if (!table || table->sh_type != SHT_SYMTAB) continue;
    const auto names = read<Elf64_Shdr>(host, header->e_shoff, table->sh_link);
    if (!names) continue;
    for (std::uint64_t k = 0; k < table->sh_size / sizeof(Elf64_Sym); ++k) {
      const auto symbol = read<Elf64_Sym>(host, table->sh_offset, k);
      if (!symbol) break;
      const bool is_data = ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT &&
                           symbol->st_shndx != SHN_UNDEF && symbol->st_size != 0;
      if (is_data && has_name(host, *names, symbol->st_name, name)) {
        return Variable{symbol->st_value, symbol->st_size};
      }
    }
  }
  return std::nullopt;
}

}  // namespace culebra_emu
