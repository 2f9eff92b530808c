build-asan/src/model/address_space.o: src/model/address_space.cpp \
 src/model/address_space.h src/abi.h src/results.inc
src/model/address_space.h:
src/abi.h:
src/results.inc:
