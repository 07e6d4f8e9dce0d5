/*
 * Reads a tuning file as the preloaded library does, and prints a setting for every line of the standard input:
 * collective, nodes, processes per node, bytes, as numbers. With a number behind the file it prints the ns of a
 * look-up instead. Linked with the library.
 */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static rw_tune_call call_of(int collective, int nodes, int per_node, double bytes) {
  int processes = nodes * per_node;
  return (rw_tune_call){.nodes = nodes,
                        .per_node = per_node,
                        .processes = processes,
                        .bytes = bytes,
                        .is_even = processes % 2 == 0 ? RW_WORD_YES : RW_WORD_NO,
                        .is_power = (processes & (processes - 1)) == 0 ? RW_WORD_YES : RW_WORD_NO,
                        .is_shared = nodes == 1 ? RW_WORD_YES : RW_WORD_NO,
                        .collective = collective};
}

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e9 + now.tv_nsec;
}

int main(int argc, char **argv) {
  char wrong[512] = "";
  int collective, nodes, per_node;
  double bytes;
  if (argc < 2) return 2;
  rw_tuning *tuning = rw_tune_read(argv[1], NULL, wrong, sizeof wrong);
  if (tuning == NULL) {
    printf("%s\n", wrong);
    return 1;
  }
  if (argc > 2) {
    int times = atoi(argv[2]);
    unsigned sum = 0;
    double begin = now_ns();
    for (int i = 0; i < times; i++) {
      rw_tune_call call = call_of(RW_TUNE_BCAST, 1 + i % 64, 1 + i % 32, i % 1048576);
      sum += (unsigned)rw_tune_decide(tuning, &call);
    }
    printf("%.1f ns, sum %u\n", (now_ns() - begin) / times, sum);
  } else {
    while (scanf("%d %d %d %lf", &collective, &nodes, &per_node, &bytes) == 4) {
      rw_tune_call call = call_of(collective, nodes, per_node, bytes);
      printf("%d\n", rw_tune_decide(tuning, &call) - tuning->trees[collective].first_setting);
    }
  }
  free(tuning);
  return 0;
}
