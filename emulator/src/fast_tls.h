// For the few small thread-local variables that every call or a signal handler looks at.
#pragma once

// Its place is known when the library is loaded, so that a look at it is one instruction and calls
// nothing. Such variables take of a space that the C library reserves for all libraries that a
// process opens, of which there are less than two thousand bytes.
#define CULEBRA_EMU_FAST_TLS __attribute__((tls_model("initial-exec")))
