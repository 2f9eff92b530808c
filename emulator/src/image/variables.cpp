#include "image/variables.h"

#include <elf.h>

#include "image/elf_reader.h"

namespace culebra_emu {

void visit_variables(const std::string& host,
                     const std::function<bool(const Variable&, std::string_view name)>& visit) {
  const auto header = read_element<Elf64_Ehdr>(host, 0);
  if (!header) return;
  for (std::uint16_t i = 0; i < header->e_shnum; ++i) {
    const auto table = read_element<Elf64_Shdr>(host, header->e_shoff, i);
    if (!table || table->sh_type != SHT_SYMTAB) continue;
    const auto names = read_element<Elf64_Shdr>(host, header->e_shoff, table->sh_link);
    if (!names) continue;
    for (std::uint64_t k = 0; k < table->sh_size / sizeof(Elf64_Sym); ++k) {
      const auto symbol = read_element<Elf64_Sym>(host, table->sh_offset, k);
      if (!symbol) break;
      const bool is_data = ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT &&
                           symbol->st_shndx != SHN_UNDEF && symbol->st_size != 0;
      if (!is_data) continue;
      const std::string_view name =
          read_name(host, names->sh_offset, names->sh_size, symbol->st_name);
      if (!name.empty() && !visit({symbol->st_value, symbol->st_size}, name)) return;
    }
  }
}

std::optional<Variable> find_variable(const std::string& host, std::string_view name) {
  std::optional<Variable> found;
  visit_variables(host, [&](const Variable& variable, std::string_view its_name) {
    if (its_name == name) found = variable;
    return !found;
  });
  return found;
}

}  // namespace culebra_emu
