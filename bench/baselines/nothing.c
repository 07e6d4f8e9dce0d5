// Starts and ends: SECONDS
#include "bench.h"

int main(int argc, char **argv) {
  bench_begin(&argc, &argv);
  bench_end();
  return 0;
}
