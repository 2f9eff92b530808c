/* A library like any other, for the test of a wrong path. */
__attribute__((visibility("default"))) int unrelated(void) { return 1; }
