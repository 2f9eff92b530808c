// The differential test: the same calls to whatever driver is there, beside what an H200 answered.
//
//   differential ROOT [DRIVER] [--json FILE] [--only TEXT]
//
// ROOT is a kernel root with the selftest family; DRIVER is the driver's library (else
// CULEBRA_DRIVER, else libcuda.so.1). Each case runs in a process of its own: some end it, and some
// leave a device that answers nothing else any more. Ends with 1 if an answer differs from the
// recorded one, unless it is the emulator's and the one that known.def has for it.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>

#include "case.h"
#include "runner/kernel_root.h"
#include "verdict.h"

using namespace differential;

namespace {

constexpr int kSecondsPerCase = 60;
// What the emulator says where the real driver crashes.
constexpr const char* kEmulatedCrash = "the real driver crashes here";

const std::map<std::string, Known> kKnown = {
#define KNOWN(name, answer, reason) {name, {answer, reason}},
#include "known.def"
#undef KNOWN
};

constexpr const char* kNeedsMoreDevices = "too few devices";

struct Outcome {
  std::string answer;
  Verdict verdict = Verdict::kSame;
  const Known* known = nullptr;
};

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t got; (got = read(descriptor, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(descriptor);
  return text;
}

// The case's answer; what it writes to standard error ends up in `complaint`.
std::string run_in_child(const char* program, const Case& each, std::string& complaint) {
  int answers[2];
  int errors[2];
  if (pipe(answers) != 0 || pipe(errors) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    dup2(answers[1], STDOUT_FILENO);
    dup2(errors[1], STDERR_FILENO);
    for (const int end : {answers[0], answers[1], errors[0], errors[1]}) close(end);
    alarm(kSecondsPerCase);
    // The emulator has as many as are asked for.
    if (each.devices > 1) setenv("CULEBRA_EMU_DEVICES", std::to_string(each.devices).c_str(), 1);
    execl(program, program, "--case", each.name.c_str(), nullptr);
    _exit(127);
  }
  close(answers[1]);
  close(errors[1]);
  // Answers are short: they fit into the pipe while errors are read.
  complaint = read_all(errors[0]);
  const std::string answer = read_all(answers[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    if (signal == SIGSEGV) return "crash";
    if (signal == SIGABRT && complaint.find(kEmulatedCrash) != std::string::npos) return "crash";
    return signal == SIGALRM ? "timeout" : "signal " + std::to_string(signal);
  }
  if (WEXITSTATUS(status) == kTooFewDevices) return kNeedsMoreDevices;
  if (WEXITSTATUS(status) != 0) {
    return "cannot run: " + complaint.substr(0, complaint.find('\n'));
  }
  return answer;
}

int run_case(const std::string& name) {
  open_driver();
  for (const Case& each : cases()) {
    if (each.name != name) continue;
    Answer answer;
    int count = 0;
    if (each.devices > 1 &&
        (cuInit(0) != 0 || cuDeviceGetCount(&count) != 0 || count < each.devices)) {
      return kTooFewDevices;
    }
    each.body(answer);
    std::fputs(answer.text().c_str(), stdout);
    std::fflush(stdout);
    // Without the destructors of a driver that may have failed.
    _exit(0);
  }
  return 2;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

void write_json(const char* path, const std::string& device,
                const std::vector<std::pair<const Case*, Outcome>>& outcomes) {
  std::ofstream file(path);
  file << "{\"device\": " << quoted(device) << ", \"cases\": [";
  const char* separator = "\n";
  for (const auto& [each, outcome] : outcomes) {
    file << separator << "  {\"case\": " << quoted(each->name)
         << ", \"calls\": " << quoted(each->calls) << ", \"recorded\": " << quoted(each->recorded)
         << ", \"here\": " << quoted(outcome.answer)
         << ", \"verdict\": " << quoted(to_string(outcome.verdict));
    if (outcome.known != nullptr) file << ", \"known\": " << quoted(outcome.known->reason);
    file << "}";
    separator = ",\n";
  }
  file << "\n]}\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--case") == 0) return run_case(argv[2]);
  const char* json = nullptr;
  const char* only = "";
  std::vector<const char*> plain;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
      json = argv[++i];
    } else if (std::strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
      only = argv[++i];
    } else {
      plain.push_back(argv[i]);
    }
  }
  if (plain.empty() || plain.size() > 2) {
    std::fprintf(stderr, "usage: differential ROOT [DRIVER] [--json FILE] [--only TEXT]\n");
    return 2;
  }
  if (plain.size() == 2) setenv("CULEBRA_DRIVER", plain[1], 1);
  const char* driver_path = std::getenv("CULEBRA_DRIVER");

  std::string device;
  try {
    // Asked in this process, which then makes no call of the cases.
    const runner::Driver driver(driver_path == nullptr ? "libcuda.so.1" : driver_path);
    device = driver.device_name();
    const runner::KernelRoot root(driver, plain[0]);
    setenv("CULEBRA_DIFFERENTIAL_IMAGE", root.image_of("selftest").c_str(), 1);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "differential: %s\n", failure.what());
    return 2;
  }
  const bool emulated = device.find("emulator") != std::string::npos;

  std::printf("%s\n%-28s %-62s %-24s %-24s %s\n", device.c_str(), "case", "calls", "recorded",
              "here", "");
  std::vector<std::pair<const Case*, Outcome>> outcomes;
  std::map<Verdict, std::size_t> counts;
  std::size_t failures = 0;
  for (const Case& each : cases()) {
    if (each.name.find(only) == std::string::npos) continue;
    std::string complaint;
    Outcome outcome;
    outcome.answer = run_in_child(argv[0], each, complaint);
    const auto known = kKnown.find(each.name);
    if (emulated && known != kKnown.end()) outcome.known = &known->second;
    outcome.verdict = outcome.answer == kNeedsMoreDevices
                          ? Verdict::kSkipped
                          : judge(each.recorded, outcome.answer, outcome.known);
    ++counts[outcome.verdict];
    failures += is_failure(outcome.verdict);
    std::printf("%-28s %-62s %-24s %-24s %s\n", each.name.c_str(), each.calls.c_str(),
                each.recorded.c_str(), outcome.answer.c_str(), to_string(outcome.verdict));
    if (outcome.known != nullptr) {
      std::printf("%-28s   known.def: %s, %s\n", "", outcome.known->answer.c_str(),
                  outcome.known->reason.c_str());
    }
    std::fflush(stdout);
    outcomes.emplace_back(&each, std::move(outcome));
  }
  for (const auto& [name, known] : kKnown) {
    const bool is_there = std::any_of(cases().begin(), cases().end(),
                                      [&](const Case& each) { return each.name == name; });
    if (is_there) continue;
    ++failures;
    std::printf("known.def names a case that is not there: %s\n", name.c_str());
  }
  if (json != nullptr) write_json(json, device, outcomes);
  std::printf(
      "differential: %zu same, %zu different, %zu known to differ, %zu not recorded, %zu skipped\n",
      counts[Verdict::kSame], counts[Verdict::kDifferent] + counts[Verdict::kOutdated],
      counts[Verdict::kKnown], counts[Verdict::kNotRecorded], counts[Verdict::kSkipped]);
  return failures == 0 ? 0 : 1;
}
