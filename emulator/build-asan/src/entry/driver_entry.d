build-asan/src/entry/driver_entry.o: src/entry/driver_entry.cpp \
 src/config.h src/abi.h src/results.inc src/entry/call.h \
 src/model/context.h src/model/stream.h src/model/completion.h \
 src/model/device.h src/model/address_space.h src/model/memory_pool.h \
 src/entry/function_table.h src/results.inc
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
src/entry/function_table.h:
src/results.inc:
