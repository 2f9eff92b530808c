// Compiled by DriverFunctionTest, never run: holds the prototype that cudaTypedefs.h gives a name
// and version against that of the symbol that driver-functions.tsv pairs with it. rows.inc is that
// table as ROW(symbol, typedef).
#include <cuda.h>
#include <cudaTypedefs.h>

#include <type_traits>

// Where two versions share one prototype, older typedefs are hidden unless this is defined; all we
// name are visible.
#define ROW(symbol, type) \
  static_assert(std::is_same_v<decltype(&::symbol), type>, #symbol " is not a " #type);
#include "rows.inc"
