build-asan/src/execution/block_executor.o: \
 src/execution/block_executor.cpp src/execution/block_executor.h \
 src/abi.h src/results.inc include/culebra_emu/image.h \
 src/execution/fault.h src/execution/fiber.h
src/execution/block_executor.h:
src/abi.h:
src/results.inc:
include/culebra_emu/image.h:
src/execution/fault.h:
src/execution/fiber.h:
