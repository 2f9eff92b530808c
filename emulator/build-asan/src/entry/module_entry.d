build-asan/src/entry/module_entry.o: src/entry/module_entry.cpp \
 src/entry/call.h src/abi.h src/results.inc src/model/context.h \
 src/model/stream.h src/model/completion.h src/model/device.h \
 src/model/address_space.h src/model/memory_pool.h src/model/objects.h \
 src/image/loaded_image.h include/culebra_emu/image.h src/model/event.h \
 src/model/registry.h
src/entry/call.h:
src/abi.h:
src/results.inc:
src/model/context.h:
src/model/stream.h:
src/model/completion.h:
src/model/device.h:
src/model/address_space.h:
src/model/memory_pool.h:
src/model/objects.h:
src/image/loaded_image.h:
include/culebra_emu/image.h:
src/model/event.h:
src/model/registry.h:
