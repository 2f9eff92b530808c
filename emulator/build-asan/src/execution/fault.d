build-asan/src/execution/fault.o: src/execution/fault.cpp \
 src/execution/fault.h
src/execution/fault.h:
