/* Built and run by LayoutTest: what C thinks of the structs that jextract made. rows.inc is made
   from the Java layouts. C11, because older standards lose the alignment of CUtensorMap. */
#include <cuda.h>
#include <stddef.h>
#include <stdio.h>

#define TYPE(name, type) \
  printf("%s\tsizeof\t%zu\n%s\talignof\t%zu\n", name, sizeof(type), name, _Alignof(type));
#define FIELD(name, type, field) printf("%s\t%s\t%zu\n", name, #field, offsetof(type, field));

int main(void) {
#include "rows.inc"
  return 0;
}
