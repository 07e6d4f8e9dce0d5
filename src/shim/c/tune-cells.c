/* Cells of a grid, in one block: the grid, the edges of its axes, the best settings and the performances. */
#include "shim.h"

static int all_edges(const rw_grid *grid) {
  return grid->edges[RW_GRID_BYTES] + grid->edges[RW_GRID_NODES] + grid->edges[RW_GRID_PER_NODE];
}

int rw_grid_cells(const rw_grid *grid) {
  return grid->edges[RW_GRID_BYTES] * grid->edges[RW_GRID_NODES] * grid->edges[RW_GRID_PER_NODE];
}

size_t rw_grid_bytes(const rw_grid *grid) {
  size_t cells = (size_t)rw_grid_cells(grid), performances = grid->has_performances ? cells * (size_t)grid->settings : 0;
  return sizeof *grid + (size_t)all_edges(grid) * sizeof(double) + cells * sizeof(int32_t) + performances * sizeof(float);
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
