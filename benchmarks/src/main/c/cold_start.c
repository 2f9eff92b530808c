// The start of a process that uses the driver, without Java: opens the library that the first
// argument names, initialises it, retains device 0's context and gives it back. What Java's start
// is held against.

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

static void* symbol(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == 0) fprintf(stderr, "no %s\n", name);
  return found;
}

int main(int count, char** arguments) {
  void* library = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : 0;
  if (library == 0) {
    fprintf(stderr, "cannot open the driver\n");
    return 1;
  }
  int (*init)(unsigned) = (int (*)(unsigned))(intptr_t)symbol(library, "cuInit");
  int (*retain)(void**, int) =
      (int (*)(void**, int))(intptr_t)symbol(library, "cuDevicePrimaryCtxRetain");
  int (*release)(int) = (int (*)(int))(intptr_t)symbol(library, "cuDevicePrimaryCtxRelease_v2");
  if (init == 0 || retain == 0 || release == 0) return 1;
  void* context = 0;
  int result = init(0);
  if (result == 0) result = retain(&context, 0);
  if (result == 0) result = release(0);
  if (result != 0) fprintf(stderr, "CUresult %d\n", result);
  return result != 0;
}
