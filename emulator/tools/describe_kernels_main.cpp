// describe_kernels OBJECT.so: prints the index lines of a host build of kernels.
#include <cstdio>
#include <exception>

#include "describe_kernels.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: describe_kernels OBJECT.so\n");
    return 2;
  }
  try {
    std::fputs(culebra_emu::describe_kernels(argv[1]).c_str(), stdout);
    return std::fflush(stdout) == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "describe_kernels: %s\n", error.what());
    return 1;
  }
}
