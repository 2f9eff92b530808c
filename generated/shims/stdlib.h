/* Empty on purpose: cuda.h includes stdlib.h for size_t alone, and the real one would add a hundred
 * libc functions. */
#include <stddef.h>
