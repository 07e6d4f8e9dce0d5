/* The edges of a graph that a rank knows, and the digest of all of them. */
#include "shim.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* MPI refuses other neighbors. */
static int are_ranks(const rw_edges *edges, int count, const int *list) {
  if (count < 0 || (count > 0 && list == NULL)) return 0;
  for (int i = 0; i < count; i++)
    if (list[i] < 0 || list[i] >= edges->ranks) return 0;
  return 1;
}

/* Pairs are counted by an int, as MPI counts elements. */
static int has_room(rw_edges *edges, int64_t most) {
  edges->count = 0;
  edges->pairs = most <= INT_MAX / 2 ? malloc(sizeof(int) * 2 * ((size_t)most + 1)) : NULL;
  return edges->pairs != NULL;
}

static void add(rw_edges *edges, int source, int destination) {
  edges->pairs[2 * edges->count] = source;
  edges->pairs[2 * edges->count++ + 1] = destination;
}

int rw_edges_of_neighbors(rw_edges *edges, int rank, int in, const int sources[], int out, const int destinations[]) {
  if (!are_ranks(edges, in, sources) || !are_ranks(edges, out, destinations) || !has_room(edges, out)) return 0;
  for (int i = 0; i < out; i++) add(edges, rank, destinations[i]);
  return 1;
}

int rw_edges_of_lists(rw_edges *edges, int count, const int sources[], const int degrees[], const int destinations[]) {
  int64_t total = 0;
  if (!are_ranks(edges, count, sources) || (count > 0 && degrees == NULL)) return 0;
  for (int i = 0; i < count; i++) {
    if (degrees[i] < 0) return 0;
    total += degrees[i];
  }
  if (!has_room(edges, total) || !are_ranks(edges, (int)total, destinations)) return 0;
  for (int i = 0, next = 0; i < count; i++)
    for (int d = 0; d < degrees[i]; d++) add(edges, sources[i], destinations[next++]);
  return 1;
}

/*
 * Returns the rank of the neighbor at a distance of one in a dimension, whose extent and number of ranks in a step
 * are given.
 */
static int beside(int rank, int step, int extent, int is_periodic, int by) {
  int at = rank / step % extent, to = at + by;
  if (is_periodic) to = (to + extent) % extent;
  return to < 0 || to >= extent ? MPI_PROC_NULL : rank + (to - at) * step;
}

int rw_edges_of_grid(rw_edges *edges, int rank, int dimensions, const int extents[], const int periods[]) {
  if (dimensions < 0 || (dimensions > 0 && (extents == NULL || periods == NULL)) || edges->ranks < 1) return 0;
  if (!has_room(edges, 2 * (int64_t)dimensions)) return 0;
  for (int d = dimensions - 1, step = 1; rank < edges->ranks && d >= 0; step *= extents[d--])
    for (int by = -1; by <= 1; by += 2) {
      int to = beside(rank, step, extents[d], periods[d] != 0, by);
      if (to != MPI_PROC_NULL) add(edges, rank, to);
    }
  return 1;
}

void rw_edges_free(rw_edges *edges) {
  free(edges->pairs);
  edges->pairs = NULL;
}

/* Applies the finalizer of MurmurHash3. */
static uint32_t mixed(uint32_t word) {
  word = (word ^ word >> 16) * 0x85ebca6bu;
  word = (word ^ word >> 13) * 0xc2b2ae35u;
  return word ^ word >> 16;
}

void rw_edges_add(const rw_edges *edges, uint64_t sums[RW_LANES]) {
  for (int i = 0; i < RW_LANES; i++)
    for (int e = 0; e < edges->count; e++) {
      uint32_t source = (uint32_t)edges->pairs[2 * e], destination = (uint32_t)edges->pairs[2 * e + 1];
      sums[i] += mixed(mixed(source + ((uint32_t)i + 1) * 0x9e3779b9u) + destination);
    }
}
