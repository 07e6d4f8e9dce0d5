/*
 * Reads a tuning file as the preloaded library does, and prints a setting for every line of the standard input:
 * collective, nodes, processes per node, bytes, as numbers. With a number behind the file it prints the ns of a
 * look-up instead. With `draw` it chooses as online tuning does, among settings of bcast: behind it are a mode as a number,
 * nodes, processes per node, and numbers of the settings that may serve; a line has a seed, a communicator, the number of
 * the call and bytes. Linked with the library.
 */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static int draw(int words, char **word, const rw_grid *grid) {
  rw_online_choice choice;
  unsigned seed, communicator, call;
  double bytes;
  int count = words - 3;
  int32_t *numbers = malloc(((size_t)count + 1) * sizeof *numbers);
  for (int i = 0; numbers != NULL && i < count; i++) numbers[i] = atoi(word[3 + i]);
  if (!rw_online_choice_make(&choice, grid, atoi(word[0]), atoi(word[1]), atoi(word[2]), numbers, count)) return 1;
  while (scanf("%u %u %u %lf", &seed, &communicator, &call, &bytes) == 4)
    printf("%d\n", rw_online_choose(&choice, bytes, rw_online_draw(seed, communicator, call, RW_TUNE_BCAST)));
  rw_online_choice_free(&choice);
  return 0;
}

int main(int argc, char **argv) {
  char wrong[512] = "";
  int code = 0;
  rw_tune_model model;
  int collective, nodes, per_node;
  double bytes;
  if (argc < 2) return 2;
  rw_tuning *tuning = rw_tune_read(argv[1], &model, wrong, sizeof wrong);
  if (tuning == NULL) {
    printf("%s\n", wrong);
    return 1;
  }
  if (argc > 5 && strcmp(argv[2], "draw") == 0) code = draw(argc - 3, argv + 3, model.grids[RW_TUNE_BCAST]);
  else if (argc > 2) {
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
  rw_tune_model_free(&model);
  free(tuning);
  return code;
}
