// Loads and stores with a hint for the caches, which mean nothing here.
#pragma once

#include <type_traits>

#define CULEBRA_EMU_LOAD(name) \
  template <class T>           \
  T name(const T* address) {   \
    return *address;           \
  }
CULEBRA_EMU_LOAD(__ldg)
CULEBRA_EMU_LOAD(__ldca)
CULEBRA_EMU_LOAD(__ldcg)
CULEBRA_EMU_LOAD(__ldcs)
CULEBRA_EMU_LOAD(__ldlu)
#undef CULEBRA_EMU_LOAD

// Fetches again each time.
template <class T>
T __ldcv(const T* address) {
  return *address;
}

#define CULEBRA_EMU_STORE(name)                          \
  template <class T>                                     \
  void name(T* address, std::type_identity_t<T> value) { \
    *address = value;                                    \
  }
CULEBRA_EMU_STORE(__stwb)
CULEBRA_EMU_STORE(__stcg)
CULEBRA_EMU_STORE(__stcs)
CULEBRA_EMU_STORE(__stwt)
#undef CULEBRA_EMU_STORE
