build-asan/src/entry/function_table.o: src/entry/function_table.cpp \
 src/entry/function_table.h src/abi.h src/results.inc src/config.h \
 src/entry/call.h src/model/context.h src/model/stream.h \
 src/model/completion.h src/model/device.h src/model/address_space.h \
 src/model/memory_pool.h src/driver_functions.inc
src/entry/function_table.h:
src/abi.h:
src/results.inc:
src/config.h:
src/entry/call.h:
src/model/context.h:
src/model/stream.h:
src/model/completion.h:
src/model/device.h:
src/model/address_space.h:
src/model/memory_pool.h:
src/driver_functions.inc:
