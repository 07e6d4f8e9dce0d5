/*
 * Chooses settings as online tuning of the preloaded library does, and prints a number for every line of the standard
 * input: seed, communicator, number of the call, bytes. Arguments: a model, a mode as a number, nodes, processes per
 * node, and numbers of the settings of bcast that may serve. Linked with the library.
 */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  char wrong[512] = "";
  rw_tune_model model = {.checksum = ""};
  rw_online_choice choice;
  unsigned seed, communicator, call;
  double bytes;
  if (argc < 5) return 2;
  rw_tuning *tuning = rw_tune_read(argv[1], &model, wrong, sizeof wrong);
  int count = argc - 5;
  int32_t *numbers = malloc(((size_t)count + 1) * sizeof *numbers);
  if (tuning == NULL || numbers == NULL) {
    printf("%s\n", wrong);
    return 1;
  }
  for (int i = 0; i < count; i++) numbers[i] = atoi(argv[5 + i]);
  if (!rw_online_choice_make(&choice, model.grids[RW_TUNE_BCAST], atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), numbers, count))
    return 1;
  while (scanf("%u %u %u %lf", &seed, &communicator, &call, &bytes) == 4)
    printf("%d\n", rw_online_choose(&choice, bytes, rw_online_draw(seed, communicator, call, RW_TUNE_BCAST)));
  rw_online_choice_free(&choice);
  rw_tune_model_free(&model);
  free(tuning);
  return 0;
}
