// libFuzzer's entry point for programs with a main of their own; the compiler links it with -sanitize=fuzzer.
// Source: LLVM, "Using libFuzzer as a library", https://llvm.org/docs/LibFuzzer.html.
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
