build-asan/src/entry/context_entry.o: src/entry/context_entry.cpp \
 src/entry/call.h src/abi.h src/results.inc src/model/context.h \
 src/model/stream.h src/model/completion.h src/model/device.h \
 src/model/address_space.h src/model/memory_pool.h
src/entry/call.h:
src/abi.h:
src/results.inc:
src/model/context.h:
src/model/stream.h:
src/model/completion.h:
src/model/device.h:
src/model/address_space.h:
src/model/memory_pool.h:
