build-asan/src/execution/fiber.o: src/execution/fiber.cpp \
 src/execution/fiber.h
src/execution/fiber.h:
