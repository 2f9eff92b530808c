build-asan/src/execution/grid.o: src/execution/grid.cpp \
 src/execution/grid.h src/execution/block_executor.h src/abi.h \
 src/results.inc include/culebra_emu/image.h src/execution/fault.h \
 src/execution/fiber.h
src/execution/grid.h:
src/execution/block_executor.h:
src/abi.h:
src/results.inc:
include/culebra_emu/image.h:
src/execution/fault.h:
src/execution/fiber.h:
