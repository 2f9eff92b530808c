#include "entry/host_access.h"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "execution/fault.h"
#include "fast_tls.h"
#include "model/address_space.h"
#include "model/origin.h"

namespace culebra_emu {
namespace {

// Read in a signal handler, as is the calling thread's origin: see execution/fault.cpp.
CULEBRA_EMU_FAST_TLS thread_local HostAccess current_access;

// The code of this library.
struct Code {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  bool contains(const void* address) const {
    return reinterpret_cast<std::uintptr_t>(address) - begin < end - begin;
  }
};
Code own_code;

int find_own_code(dl_phdr_info* info, std::size_t, void*) {
  const auto here = reinterpret_cast<std::uintptr_t>(&watch_host_accesses);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && here - begin < segment.p_memsz) {
      own_code = {begin, begin + segment.p_memsz};
      return 1;
    }
  }
  return 0;
}

const char* verb(AccessKind kind) {
  switch (kind) {
    case AccessKind::kRead:
      return "reads";
    case AccessKind::kWrite:
      return "writes to";
    default:
      return "touches";
  }
}

// Only for faults of a driver call itself, or of a function of the C library right below it
// (memcpy, strlen): all others, a JVM's for example, are none of ours.
void tell(const AccessFault& fault) {
  if (!own_code.contains(fault.code) && !own_code.contains(fault.return_address)) return;
  const HostAccess& access = current_access;
  const Origin origin = current_origin();
  char call[96];
  if (access.symbol != nullptr) {
    std::snprintf(call, sizeof call, "%s", access.symbol);
  } else if (origin.symbol != nullptr) {
    std::snprintf(call, sizeof call, "%s #%llu", origin.symbol,
                  static_cast<unsigned long long>(origin.call));
  } else {
    return;
  }
  char where[32] = "an impossible address";
  if (fault.address != nullptr || !fault.has_no_address) {
    std::snprintf(where, sizeof where, "%p", fault.address);
  }
  char what[160] = "an argument points there";
  if (access.parameter != nullptr) {
    std::snprintf(what, sizeof what, "%s[%u], for parameter %s, points there", access.what,
                  access.index, access.parameter);
  } else if (access.what != nullptr) {
    std::snprintf(what, sizeof what, "%s", access.what);
  }
  char line[512];
  const int length = std::snprintf(
      line, sizeof line,
      "culebra-emulator: %s: %s host memory at %s, where there is none: %s (the real driver "
      "crashes here)\n",
      call, verb(fault.kind), where, what);
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, line, std::min(static_cast<std::size_t>(length), sizeof line - 1));
}

}  // namespace

AccessScope::AccessScope(const char* what, const char* symbol) : current_(current_access) {
  current_.what = what;
  current_.symbol = symbol;
}

AccessScope::~AccessScope() { current_ = {}; }

void AccessScope::set_parameter(std::uint32_t index, const char* name) {
  current_.index = index;
  current_.parameter = name;
}

void watch_host_accesses() {
  dl_iterate_phdr(&find_own_code, nullptr);
  watch_faults(&tell);
}

}  // namespace culebra_emu
