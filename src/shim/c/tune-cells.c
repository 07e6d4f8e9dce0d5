/*
 * The cells of a grid, in one block: the grid, the edges of its axes, the best settings, the performances, the
 * excluded settings.
 */
#include "shim.h"

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
