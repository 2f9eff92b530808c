#include "image/code_range.h"

#include <elf.h>

#include "image/elf_reader.h"

namespace culebra_emu {

CodeRange find_code(const std::string& host, std::uint64_t base) {
  CodeRange range;
  const auto header = read_element<Elf64_Ehdr>(host, 0);
  if (!header || base == 0) return range;
  for (std::uint16_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = read_element<Elf64_Phdr>(host, header->e_phoff, i);
    if (!segment) break;
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0) continue;
    range = {base + segment->p_vaddr, base + segment->p_vaddr + segment->p_memsz};
  }
  return range;
}

}  // namespace culebra_emu
