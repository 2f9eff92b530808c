build-asan/src/config.o: src/config.cpp src/config.h src/abi.h \
 src/results.inc
src/config.h:
src/abi.h:
src/results.inc:
