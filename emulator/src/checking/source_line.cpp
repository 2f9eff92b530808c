#include "checking/source_line.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

extern char** environ;

namespace culebra_emu {
namespace {

// What a program writes; empty if it cannot be run.
std::string output_of(const std::vector<const char*>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  std::vector<char*> arguments;
  for (const char* word : command) arguments.push_back(const_cast<char*>(word));
  arguments.push_back(nullptr);
  const bool runs =
      posix_spawnp(&child, command[0], &actions, nullptr, arguments.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  char buffer[1024];
  for (ssize_t got; runs && (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  if (runs) waitpid(child, nullptr, 0);
  return text;
}

std::string base_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

// "FILE:LINE (discriminator 2)" -> "FILE:LINE"; empty if the line is not known.
std::string place(std::string line) {
  if (const std::size_t space = line.find(' '); space != std::string::npos) line.resize(space);
  const std::size_t colon = line.rfind(':');
  if (colon == std::string::npos || line.compare(colon, std::string::npos, ":?") == 0 ||
      line.compare(colon, std::string::npos, ":0") == 0) {
    return {};
  }
  return line;
}

}  // namespace

std::string source_line(const void* return_address) {
  // The call itself is before where it returns to.
  const auto address = reinterpret_cast<std::uintptr_t>(return_address) - 1;
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(address), &info) == 0) return "unknown code";
  char offset[24];
  std::snprintf(
      offset, sizeof offset, "0x%lx",
      static_cast<unsigned long>(address - reinterpret_cast<std::uintptr_t>(info.dli_fbase)));
  const std::string text = output_of({"addr2line", "-i", "-e", info.dli_fname, offset});
  // From the innermost inlined function outwards.
  std::vector<std::string> places;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string found = place(text.substr(begin, end - begin));
    // What gives CUDA's names a meaning on the CPU is not the kernel's source.
    const bool is_shim = found.find("/culebra_emu/") != std::string::npos;
    if (!found.empty() && !is_shim) places.push_back(base_name(found));
    begin = end + 1;
  }
  if (places.empty()) return std::string("image offset ") + offset;
  std::string result = places.front();
  if (places.size() > 1) result += ", called in " + places.back();
  return result;
}

}  // namespace culebra_emu
