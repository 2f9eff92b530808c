#include "harness.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

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
  enum { kPassed, kFailed, kSkipped } what;
  // The complaint of a failed case, the reason of a skipped one.
  std::string text;
};

// Runs one case in a new process.
Verdict run_in_child(const char* program, const Case& test) {
  int error_pipe[2];
  if (pipe(error_pipe) != 0) return {Verdict::kFailed, "cannot make a pipe"};
  const pid_t child = fork();
  if (child == 0) {
    dup2(error_pipe[1], STDERR_FILENO);
    close(error_pipe[0]);
    close(error_pipe[1]);
    for (const std::string& variable : test.environment) {
      const std::size_t equals = variable.find('=');
      setenv(variable.substr(0, equals).c_str(), variable.c_str() + equals + 1, 1);
    }
    alarm(kMostSeconds);
    execl(program, program, test.name, nullptr);
    _exit(127);
  }
  close(error_pipe[1]);
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
  for (const Case& test : cases()) {
    const Verdict verdict = run_in_child("/proc/self/exe", test);
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
