/* Chooses the setting of a call, as GridSelection of src/tuning/online/grid-selection.ts does. */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

int rw_online_choice_make(rw_online_choice *choice, const rw_grid *grid, int mode, double nodes, double per_node,
                          int32_t *numbers, int count) {
  *choice = (rw_online_choice){.grid = grid, .mode = mode, .intervals = 1, .numbers = numbers};
  for (int i = 0; i < count; i++)
    if (grid == NULL || numbers[i] > grid->settings || !rw_grid_excluded(grid)[numbers[i] - 1])
      numbers[choice->eligible++] = numbers[i];
  if (grid != NULL) {
    int place = rw_grid_interval(grid, RW_GRID_PER_NODE, per_node) * grid->edges[RW_GRID_NODES] +
                rw_grid_interval(grid, RW_GRID_NODES, nodes);
    choice->intervals = grid->edges[RW_GRID_BYTES];
    choice->first_cell = place * choice->intervals;
  }
  choice->cells = malloc((size_t)choice->intervals * sizeof *choice->cells);
  for (int i = 0; choice->cells != NULL && i < choice->intervals; i++) choice->cells[i] = (rw_online_cell){-1, NULL, NULL};
  return choice->cells != NULL;
}

void rw_online_choice_free(rw_online_choice *choice) {
  for (int i = 0; choice->cells != NULL && i < choice->intervals; i++) {
    free(choice->cells[i].numbers);
    free(choice->cells[i].sums);
  }
  free(choice->cells);
  free(choice->numbers);
}

static int is_eligible(const rw_online_choice *choice, int32_t number) {
  for (int i = 0; i < choice->eligible; i++)
    if (choice->numbers[i] == number) return 1;
  return 0;
}

static void take_one(rw_online_cell *cell, int32_t number) {
  cell->count = 1;
  cell->numbers[0] = number;
  cell->sums[0] = 1;
}

static void take_all_alike(rw_online_cell *cell, const rw_online_choice *choice) {
  cell->count = choice->eligible;
  for (int i = 0; i < cell->count; i++) {
    cell->numbers[i] = choice->numbers[i];
    double share = 1.0 / cell->count;
    cell->sums[i] = i == 0 ? share : cell->sums[i - 1] + share;
  }
  if (cell->count > 0) cell->sums[cell->count - 1] = 1;
}

/* Chooses in proportion to the performances in `weights`; with none above 0, all settings are equally likely. */
static void take_known(rw_online_cell *cell, const rw_online_choice *choice, double *weights) {
  int best = 0;
  double sum = 0;
  for (int i = 0; i < choice->eligible; i++) {
    sum += weights[i];
    if (weights[i] > weights[best]) best = i;
  }
  if (choice->mode == RW_ONLINE_TUNED) {
    if (sum > 0) take_one(cell, choice->numbers[best]);
    return;
  }
  if (choice->eligible == 0) return;
  /* The known performances are of other settings than those that may serve this call. */
  for (int i = 0; i < choice->eligible && !(sum > 0); i++) weights[i] = 1;
  cell->count = choice->eligible;
  memcpy(cell->numbers, choice->numbers, (size_t)cell->count * sizeof *cell->numbers);
  rw_online_sums(weights, cell->count, cell->sums);
}

/* Prepares the cell of an interval; 0: no memory. */
static int prepare(rw_online_choice *choice, int interval) {
  const rw_grid *grid = choice->grid;
  rw_online_cell cell = {0, NULL, NULL};
  size_t room = (size_t)choice->eligible + 1;
  double *weights = malloc(room * sizeof *weights);
  cell.numbers = malloc(room * sizeof *cell.numbers);
  cell.sums = malloc(room * sizeof *cell.sums);
  if (weights == NULL || cell.numbers == NULL || cell.sums == NULL) {
    free(weights);
    free(cell.numbers);
    free(cell.sums);
    return 0;
  }
  if (grid == NULL || !grid->is_trained) {
    if (choice->mode == RW_ONLINE_TUNING) take_all_alike(&cell, choice);
  } else if (!grid->has_performances) {
    int32_t best = rw_grid_best(grid)[choice->first_cell + interval];
    if (is_eligible(choice, best)) take_one(&cell, best);
  } else {
    const float *own = rw_grid_performances(grid) + (size_t)(choice->first_cell + interval) * (size_t)grid->settings;
    for (int i = 0; i < choice->eligible; i++) {
      int32_t number = choice->numbers[i];
      weights[i] = number <= grid->settings ? own[number - 1] : 0;
    }
    take_known(&cell, choice, weights);
  }
  free(weights);
  choice->cells[interval] = cell;
  return 1;
}

int rw_online_choose(rw_online_choice *choice, double bytes, double drawn) {
  int interval = choice->grid == NULL ? 0 : rw_grid_interval(choice->grid, RW_GRID_BYTES, bytes);
  if (choice->cells[interval].count < 0 && !prepare(choice, interval)) return -1;
  const rw_online_cell *cell = &choice->cells[interval];
  if (cell->count <= 1) return cell->count == 0 ? 0 : cell->numbers[0];
  return cell->numbers[rw_online_place_of_draw(cell->sums, cell->count, drawn)];
}
