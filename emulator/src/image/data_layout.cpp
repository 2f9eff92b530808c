#include "image/data_layout.h"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "image/elf_reader.h"
#include "image/variables.h"
#include "words.h"

namespace culebra_emu {
namespace {

std::string readable(const std::string& name) {
  int status = 0;
  char* const text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  if (status != 0 || text == nullptr) return name;
  std::string result = text;
  std::free(text);
  return result;
}

// What the compiler tells its own checks: no kernel reads that.
bool is_for_diagnoses(std::string_view name) { return name.starts_with(".Lubsan_"); }

}  // namespace

DataLayout::DataLayout(const std::string& host, std::uint64_t base) {
  const auto header = read_element<Elf64_Ehdr>(host, 0);
  if (!header || base == 0) return;
  begin_ = ~std::uint64_t{0};
  for (std::uint16_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = read_element<Elf64_Phdr>(host, header->e_phoff, i);
    if (!segment) break;
    const Range range = {base + segment->p_vaddr, base + segment->p_vaddr + segment->p_memsz};
    if (segment->p_type == PT_LOAD) {
      begin_ = std::min(begin_, range.begin);
      end_ = std::max(end_, range.end);
      if ((segment->p_flags & PF_W) != 0) writable_.push_back(range);
    } else if (segment->p_type == PT_GNU_RELRO) {
      read_only_after_loading_.push_back(range);
    }
  }
  begin_ = std::min(begin_, end_);
  visit_variables(host, [&](const Variable& variable, std::string_view name) {
    const std::uint64_t begin = base + variable.offset;
    if (!is_for_diagnoses(name)) {
      objects_.push_back({begin, begin + variable.bytes, std::string(name)});
    }
    return true;
  });
  std::sort(objects_.begin(), objects_.end(), [](const Object& a, const Object& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  // Two names may stand for one object.
  std::vector<Object> distinct;
  for (Object& object : objects_) {
    if (distinct.empty() || object.begin >= distinct.back().end) {
      distinct.push_back(std::move(object));
    }
  }
  objects_ = std::move(distinct);
}

const DataLayout::Object* DataLayout::before(std::uint64_t address) const {
  const auto after =
      std::upper_bound(objects_.begin(), objects_.end(), address,
                       [](std::uint64_t at, const Object& object) { return at < object.begin; });
  return after == objects_.begin() ? nullptr : &*std::prev(after);
}

bool DataLayout::is_writable(std::uint64_t address) const {
  const auto holds = [&](const Range& range) { return range.contains(address); };
  return std::any_of(writable_.begin(), writable_.end(), holds) &&
         std::none_of(read_only_after_loading_.begin(), read_only_after_loading_.end(), holds);
}

bool DataLayout::allows(std::uint64_t address, std::uint64_t bytes) const {
  const Object* const object = before(address);
  if (object != nullptr && address < object->end) return bytes <= object->end - address;
  return !is_writable(address);
}

std::string DataLayout::describe(std::uint64_t address, std::uint64_t bytes) const {
  const Object* const object = before(address);
  if (object == nullptr) return "before all variables of the image";
  const std::string name =
      "the variable " + readable(object->name) + " of " + bytes_text(object->end - object->begin);
  if (address < object->end && bytes <= object->end - address) {
    return "at byte " + std::to_string(address - object->begin) + " of " + name;
  }
  if (address < object->end) {
    return "reaching " + bytes_text(address + bytes - object->end) + " beyond " + name;
  }
  if (address == object->end) return "right behind " + name;
  return bytes_text(address - object->end) + " behind " + name;
}

}  // namespace culebra_emu
