#include "harness.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "driver.h"

namespace culebra_test {
namespace {

std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

int failed_checks = 0;
int checks = 0;

constexpr int kSkippedExit = 77;

// A case that hangs is a failure; one that a sanitizer makes slow, on a busy machine, is not.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr unsigned kMostSeconds = 600;
#else
constexpr unsigned kMostSeconds = 60;
#endif

struct Verdict {
  enum { kPassed, kFailed, kSkipped } what = kFailed;
  // The complaint of a failed case, the reason of a skipped one.
  std::string text;
};

// Runs one case in a new process; several threads may, each another one.
Verdict run_in_child(const char* program, const Case& test) {
  // The case's variables go before those of the same name.
  std::vector<std::string> variables = test.environment;
  for (char** inherited = environ; *inherited != nullptr; ++inherited) {
    const std::string variable = *inherited;
    const std::string name = variable.substr(0, variable.find('=') + 1);
    const bool replaced =
        std::any_of(test.environment.begin(), test.environment.end(),
                    [&](const std::string& one) { return one.rfind(name, 0) == 0; });
    if (!replaced) variables.push_back(variable);
  }
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);

  // Other children must not keep its end for writing open.
  int error_pipe[2];
  if (pipe2(error_pipe, O_CLOEXEC) != 0) return {Verdict::kFailed, "cannot make a pipe"};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, error_pipe[1], STDERR_FILENO);
  char* arguments[] = {const_cast<char*>(program), const_cast<char*>(test.name), nullptr};
  pid_t child = 0;
  const int refused =
      posix_spawn(&child, program, &actions, nullptr, arguments, environment.data());
  posix_spawn_file_actions_destroy(&actions);
  close(error_pipe[1]);
  if (refused != 0) {
    close(error_pipe[0]);
    return {Verdict::kFailed, std::string("cannot start a process: ") + std::strerror(refused)};
  }
  std::string error_text;
  std::array<char, 4096> buffer;
  for (ssize_t got; (got = read(error_pipe[0], buffer.data(), buffer.size())) > 0;) {
    error_text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(error_pipe[0]);
  int status = 0;
  waitpid(child, &status, 0);

  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == 0 && WEXITSTATUS(status) == kSkippedExit) return {Verdict::kSkipped, error_text};
  std::string complaint;
  if (signal != test.expected_signal) {
    complaint = "ended by signal " + std::to_string(signal) + ", expected " +
                std::to_string(test.expected_signal);
  } else if (signal == 0 && WEXITSTATUS(status) != test.expected_exit) {
    complaint = "exit status " + std::to_string(WEXITSTATUS(status));
  } else if (error_text.find(test.expected_error_text) == std::string::npos) {
    complaint = "did not write \"" + test.expected_error_text + "\"";
  }
  if (complaint.empty()) return {Verdict::kPassed, ""};
  return {Verdict::kFailed, complaint + "\n" + error_text};
}

// Of all cases, as many at a time as there are cores.
std::vector<Verdict> run_all() {
  std::vector<Verdict> verdicts(cases().size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i; (i = next++) < verdicts.size();) {
      verdicts[i] = run_in_child("/proc/self/exe", cases()[i]);
    }
  };
  std::vector<std::thread> workers(std::max(1u, std::thread::hardware_concurrency()));
  for (std::thread& worker : workers) worker = std::thread(work);
  for (std::thread& worker : workers) worker.join();
  return verdicts;
}

}  // namespace

Registration::Registration(Case test) { cases().push_back(std::move(test)); }

void check(bool ok, const char* file, int line, const std::string& text) {
  ++checks;
  if (ok) return;
  ++failed_checks;
  std::fprintf(stderr, "  %s:%d: %s\n", file, line, text.c_str());
}

void skip(const char* reason) {
  std::fputs(reason, stderr);
  // At once: whatever the case has begun is of no interest.
  _exit(kSkippedExit);
}

}  // namespace culebra_test

int main(int argc, char** argv) {
  using namespace culebra_test;
  if (argc == 2) {
    for (const Case& test : cases()) {
      if (std::strcmp(test.name, argv[1]) != 0) continue;
      alarm(kMostSeconds);
      open_driver();
      test.body();
      // A case that checked nothing has shown nothing.
      return failed_checks == 0 && checks != 0 ? 0 : 1;
    }
    std::fprintf(stderr, "no case of that name\n");
    return 2;
  }
  int passed = 0;
  int failed = 0;
  int skipped = 0;
  const std::vector<Verdict> verdicts = run_all();
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const Case& test = cases()[i];
    const Verdict& verdict = verdicts[i];
    switch (verdict.what) {
      case Verdict::kPassed:
        ++passed;
        break;
      case Verdict::kFailed:
        ++failed;
        std::printf("FAILED %s: %s\n", test.name, verdict.text.c_str());
        break;
      case Verdict::kSkipped:
        ++skipped;
        std::printf("skipped %s: %s\n", test.name, verdict.text.c_str());
        break;
    }
  }
  std::printf("emulator: %d passed, %d failed, %d skipped\n", passed, failed, skipped);
  return failed == 0 ? 0 : 1;
}
