build-asan/src/entry/launch_entry.o: src/entry/launch_entry.cpp \
 src/config.h src/abi.h src/results.inc src/entry/call.h \
 src/model/context.h src/model/stream.h src/model/completion.h \
 src/model/device.h src/model/address_space.h src/model/memory_pool.h \
 src/execution/grid.h src/execution/block_executor.h \
 include/culebra_emu/image.h src/execution/fault.h src/execution/fiber.h \
 src/model/objects.h src/image/loaded_image.h src/model/event.h \
 src/model/registry.h
src/config.h:
src/abi.h:
src/results.inc:
src/entry/call.h:
src/model/context.h:
src/model/stream.h:
src/model/completion.h:
src/model/device.h:
src/model/address_space.h:
src/model/memory_pool.h:
src/execution/grid.h:
src/execution/block_executor.h:
include/culebra_emu/image.h:
src/execution/fault.h:
src/execution/fiber.h:
src/model/objects.h:
src/image/loaded_image.h:
src/model/event.h:
src/model/registry.h:
