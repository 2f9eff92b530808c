// For nvcc: a real cubin, which the emulator must refuse.
extern "C" __global__ void nothing() {}
