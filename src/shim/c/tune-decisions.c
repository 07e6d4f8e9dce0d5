/*
 * The decisions of a tuning file, as binary tests in one block of memory: the same as
 * src/tuning/models/decision-tree.ts. Grids are in one block, too: the grid, the edges of its axes, the best settings,
 * the performances, the excluded settings.
 */
#include "shim.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const collectives[RW_TUNE_COLLECTIVES] = {
    "barrier", "bcast", "scatter", "gather", "allgather", "reduce", "allreduce", "reduce-scatter", "alltoall",
    "scan",    "exscan",
};
const char *rw_tune_collective_name(int collective) { return collectives[collective]; }

/* The order is that of the operations in src/shim/packed-files.ts. */
int rw_tune_operation(MPI_Op op) {
  const MPI_Op known[] = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX,  MPI_LAND,   MPI_LOR,
                          MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};
  for (int i = 0; i < (int)(sizeof known / sizeof *known); i++)
    if (op == known[i]) return i + 1;
  return RW_WORD_UNSTATED;
}

size_t rw_tuning_bytes(const rw_tuning *tuning) {
  return sizeof *tuning + (size_t)tuning->tests * sizeof(rw_tune_test) + (size_t)tuning->settings * sizeof(rw_tune_setting);
}

const rw_tune_test *rw_tuning_tests(const rw_tuning *tuning) { return (const rw_tune_test *)(tuning + 1); }

const rw_tune_setting *rw_tuning_settings(const rw_tuning *tuning) {
  return (const rw_tune_setting *)(rw_tuning_tests(tuning) + tuning->tests);
}

static int holds(const rw_tune_test *test, const rw_tune_call *call) {
  double value = test->value;
  switch (test->attribute) {
    case RW_TEST_NODES: return call->nodes <= value;
    case RW_TEST_PER_NODE: return call->per_node <= value;
    case RW_TEST_PROCESSES: return call->processes <= value;
    case RW_TEST_BYTES: return call->bytes <= value;
    case RW_TEST_TOTAL: return call->bytes * call->processes <= value;
    case RW_TEST_NODE_BYTES: return call->bytes * call->per_node <= value;
    case RW_TEST_DISTRIBUTED: return call->bytes * (call->processes - 1) <= value;
    case RW_TEST_COLLECTIVE: return call->collective == value;
    case RW_TEST_OPERATION: return call->operation == value;
    case RW_TEST_ORDER: return call->order == value;
    case RW_TEST_SHARED: return call->is_shared == value;
    case RW_TEST_EVEN: return call->is_even == value;
    default: return call->is_power == value;
  }
}

int rw_tune_decide(const rw_tuning *tuning, const rw_tune_call *call) {
  const rw_tree *tree = &tuning->trees[call->collective];
  const rw_tune_test *tests = rw_tuning_tests(tuning) + tree->first;
  int32_t at = tree->root;
  while (at >= 0) at = holds(&tests[at], call) ? tests[at].yes : tests[at].no;
  return tree->first_setting + ~at;
}

/* Returns whether a test depends on what differs between calls on one communicator. */
static int is_open(int attribute) {
  return attribute == RW_TEST_BYTES || attribute == RW_TEST_TOTAL || attribute == RW_TEST_NODE_BYTES ||
         attribute == RW_TEST_DISTRIBUTED || attribute == RW_TEST_OPERATION || attribute == RW_TEST_ORDER;
}

/* Consecutive tests of a word are one test of the file, so they are no deeper here. */
static void reach(const rw_tune_test *tests, int32_t at, const rw_tune_call *call, char *is_reached) {
  while (at >= 0) {
    const rw_tune_test *test = &tests[at];
    if (is_open(test->attribute)) reach(tests, test->yes, call, is_reached);
    at = !is_open(test->attribute) && holds(test, call) ? test->yes : test->no;
  }
  is_reached[~at] = 1;
}

void rw_tune_reach(const rw_tuning *tuning, const rw_tune_call *call, char *is_reached) {
  const rw_tree *tree = &tuning->trees[call->collective];
  if (tree->settings == 0) return;
  reach(rw_tuning_tests(tuning) + tree->first, tree->root, call, is_reached + tree->first_setting);
}

void rw_tune_setting_name(const rw_tune_setting *setting, char *name, size_t room) {
  int used = snprintf(name, room, "%s %s", collectives[setting->collective], setting->algorithm);
  for (int i = 0; i < setting->parameters && used >= 0 && (size_t)used < room; i++)
    used += snprintf(name + used, room - (size_t)used, "%c%s=%" PRId64, i == 0 ? ':' : ',', setting->names[i],
                     setting->values[i]);
}

int rw_tune_is_same(const rw_tune_setting *a, const rw_tune_setting *b) {
  if (a->collective != b->collective || a->parameters != b->parameters || strcmp(a->algorithm, b->algorithm) != 0) return 0;
  for (int i = 0; i < a->parameters; i++) {
    int j = 0;
    while (j < b->parameters && strcmp(a->names[i], b->names[j]) != 0) j++;
    if (j == b->parameters || a->values[i] != b->values[j]) return 0;
  }
  return 1;
}

static int all_edges(const rw_grid *grid) {
  return grid->edges[RW_GRID_BYTES] + grid->edges[RW_GRID_NODES] + grid->edges[RW_GRID_PER_NODE];
}

int rw_grid_cells(const rw_grid *grid) {
  return grid->edges[RW_GRID_BYTES] * grid->edges[RW_GRID_NODES] * grid->edges[RW_GRID_PER_NODE];
}

static size_t performances(const rw_grid *grid) {
  return grid->has_performances ? (size_t)rw_grid_cells(grid) * (size_t)grid->settings : 0;
}

size_t rw_grid_bytes(const rw_grid *grid) {
  size_t before = sizeof *grid + (size_t)all_edges(grid) * sizeof(double) + (size_t)rw_grid_cells(grid) * sizeof(int32_t);
  return before + performances(grid) * sizeof(float) + (size_t)grid->settings;
}

const double *rw_grid_edges(const rw_grid *grid, int axis) {
  const double *edges = (const double *)(grid + 1);
  for (int before = 0; before < axis; before++) edges += grid->edges[before];
  return edges;
}

const int32_t *rw_grid_best(const rw_grid *grid) {
  return (const int32_t *)((const double *)(grid + 1) + all_edges(grid));
}

const float *rw_grid_performances(const rw_grid *grid) {
  return grid->has_performances ? (const float *)(rw_grid_best(grid) + rw_grid_cells(grid)) : NULL;
}

const char *rw_grid_excluded(const rw_grid *grid) {
  return (const char *)((const float *)(rw_grid_best(grid) + rw_grid_cells(grid)) + performances(grid));
}

int rw_grid_interval(const rw_grid *grid, int axis, double value) {
  const double *edges = rw_grid_edges(grid, axis);
  int low = 0, high = grid->edges[axis] - 1;
  while (low < high) {
    int middle = (low + high + 1) / 2;
    if (edges[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}
