/*
 * Draws alike on all ranks of a call without a message, and chooses the setting of a call by how probable each is: bit
 * by bit as src/tuning/online/grid-selection.ts.
 */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

static const int functions[RW_ONLINE_FUNCTIONS] = {RW_TUNE_ALLREDUCE, RW_TUNE_BCAST, RW_TUNE_ALLGATHER, RW_TUNE_ALLTOALL};
/* The names in files of calls, in the order of src/schedule/specification.ts. */
static const char *const names[] = {"neighbor-allgather", "barrier", "bcast", "scatter", "gather", "allgather", "reduce",
                                    "allreduce", "reduce-scatter", "scan", "exscan", "alltoall", "neighbor-alltoall",
                                    "neighbor-reduce"};
static const int places[RW_TUNE_COLLECTIVES] = {1, 2, 3, 4, 5, 6, 7, 8, 11, 9, 10};

int rw_online_place_of(int function) {
  for (int i = 0; i < RW_ONLINE_FUNCTIONS; i++)
    if (functions[i] == function) return i;
  return -1;
}

int rw_online_function(int place) { return functions[place]; }

int rw_online_collective(int collective) { return places[collective]; }

const char *rw_online_collective_name(int place) {
  return place < (int)(sizeof names / sizeof *names) ? names[place] : NULL;
}

/* Applies the finalizer of MurmurHash3. */
static uint32_t mixed(uint32_t hash) {
  hash = (hash ^ hash >> 16) * 0x85ebca6bu;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
  return hash ^ hash >> 16;
}

double rw_online_draw(uint32_t seed, uint32_t communicator, uint32_t call, int collective) {
  uint32_t hash = mixed(seed ^ 0x9e3779b9u);
  hash = mixed(hash ^ communicator);
  hash = mixed((hash + 0x7f4a7c15u) ^ call);
  hash = mixed((hash + 0x2545f491u) ^ (uint32_t)rw_online_collective(collective));
  return hash / 4294967296.0;
}

static double bounded(double share, double scale, double low, double high) {
  double scaled = scale * share;
  if (scaled < low) scaled = low;
  return scaled > high ? high : scaled;
}

static double sum_of(const double *shares, int count, double scale, double low, double high) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += bounded(shares[i], scale, low, high);
  return sum;
}

/* Returns the scale at which shares within bounds have sum 1. */
static double scale_of_sum_one(const double *shares, int count, double least, double most) {
  double low = 0, high = 1;
  while (sum_of(shares, count, high, least, most) < 1 && high < 1152921504606846976.0) high *= 2;
  for (int i = 0; i < 120; i++) {
    double middle = (low + high) / 2;
    if (middle == low || middle == high) break;
    if (sum_of(shares, count, middle, least, most) < 1) low = middle;
    else high = middle;
  }
  return high;
}

/*
 * Computes sums of probabilities up to each place, with the usual bounds of grid-selection.ts. Weights are at least 0,
 * one above 0.
 */
static void sum_probabilities(const double *weights, int count, double *sums) {
  double sum = 0, least = 1.0 / count < 0.03 ? 1.0 / count : 0.03, most = 1.0 / count > 0.5 ? 1.0 / count : 0.5;
  for (int i = 0; i < count; i++) sum += weights[i];
  for (int i = 0; i < count; i++) sums[i] = weights[i] / sum;
  double scale = scale_of_sum_one(sums, count, least, most);
  for (int i = 0; i < count; i++) sums[i] = bounded(sums[i], scale, least, most);
  sum = 0;
  for (int i = 0; i < count; i++) sum += sums[i];
  for (int i = 0; i < count; i++) sums[i] /= sum;
  for (int i = 1; i < count; i++) sums[i] += sums[i - 1];
  sums[count - 1] = 1;
}

/* Returns the first place whose sum is at least this. */
static int place_of_draw(const double *sums, int count, double drawn) {
  int place = 0;
  while (place < count - 1 && sums[place] < drawn) place++;
  return place;
}

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
  sum_probabilities(weights, cell->count, cell->sums);
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
  return cell->numbers[place_of_draw(cell->sums, cell->count, drawn)];
}
