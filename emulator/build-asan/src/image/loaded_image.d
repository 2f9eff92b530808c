build-asan/src/image/loaded_image.o: src/image/loaded_image.cpp \
 src/image/loaded_image.h src/abi.h src/results.inc \
 include/culebra_emu/image.h src/execution/block_executor.h \
 src/execution/fault.h src/execution/fiber.h src/image/elf.h \
 src/image/sha256.h
src/image/loaded_image.h:
src/abi.h:
src/results.inc:
include/culebra_emu/image.h:
src/execution/block_executor.h:
src/execution/fault.h:
src/execution/fiber.h:
src/image/elf.h:
src/image/sha256.h:
