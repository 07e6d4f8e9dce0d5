/*
 * Decides which process a vertex gets: rank 0 reads a file or maps the graph itself, and tells every rank its new
 * rank.
 */
#include "shim.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest graph that rank 0 maps, and holds for that. */
enum { MOST_RANKS = 1 << 20, MOST_EDGES = 1 << 24 };

/* The counts of communicators whose rank 0 is this process. */
static uint64_t reordered, in_order, as_given, pairs_before, pairs_after;

static void count(uint64_t *counter, uint64_t by) { __atomic_fetch_add(counter, by, __ATOMIC_RELAXED); }

/* Warnings are printed once, because programs make a communicator in every step. */
static int is_first_time(int *is_said) { return __atomic_exchange_n(is_said, 1, __ATOMIC_RELAXED) == 0; }

static rw_mapping *mapping;
static pthread_once_t read_once = PTHREAD_ONCE_INIT;

static void read_mapping(void) {
  char wrong[512];
  mapping = rw_mapping_read(rw_reorder_path(), wrong, sizeof wrong);
  if (mapping == NULL) fprintf(stderr, "rankweave shim: the mapping %s is not used: %s\n", rw_reorder_path(), wrong);
}

/* Chooses by a file on rank 0, where `keys` initially holds each rank's own number. */
static int choose_by_file(const rw_graph_given *given, int *keys) {
  static int is_said;
  pthread_once(&read_once, read_mapping);
  if (mapping == NULL) return RW_AS_GIVEN;
  if (mapping->ranks != given->edges->ranks || memcmp(mapping->graph, given->graph, sizeof mapping->graph) != 0) {
    if (is_first_time(&is_said))
      fprintf(stderr, "rankweave shim: the mapping %s is not used on a communicator of %d ranks: it is for another graph\n",
              rw_reorder_path(), given->size);
    return RW_AS_GIVEN;
  }
  int is_order = 1;
  for (int v = 0; v < mapping->ranks; v++) {
    keys[mapping->slot_of[v]] = v;
    is_order = is_order && mapping->slot_of[v] == v;
  }
  return is_order ? RW_IN_ORDER : RW_REORDERED;
}

/* Gathers all edges on rank 0, in memory that the caller frees. MPI_ERR_NO_MEM on all ranks alike. Collective. */
static int gather(const rw_graph_given *given, int **pairs) {
  int is_first = given->rank == 0, own = 2 * given->edges->count, *counts = NULL, *places = NULL;
  *pairs = NULL;
  if (is_first) {
    counts = malloc(sizeof(int) * (size_t)given->size);
    places = malloc(sizeof(int) * (size_t)given->size);
    *pairs = malloc(sizeof(int) * 2 * ((size_t)given->total + 1));
  }
  int code = rw_agree_on_memory(given->comm, !is_first || (counts != NULL && places != NULL && *pairs != NULL));
  if (code == MPI_SUCCESS) code = PMPI_Gather(&own, 1, MPI_INT, counts, 1, MPI_INT, 0, given->comm);
  if (code == MPI_SUCCESS && is_first)
    for (int r = 0, next = 0; r < given->size; next += counts[r++]) places[r] = next;
  if (code == MPI_SUCCESS)
    code = PMPI_Gatherv(given->edges->pairs, own, MPI_INT, *pairs, counts, places, MPI_INT, 0, given->comm);
  free(counts);
  free(places);
  return code;
}

/* Maps the gathered graph on rank 0. */
static int map_gathered(const rw_graph_given *given, const rw_layout *layout, const int *pairs, int *keys) {
  int64_t before, after;
  int vertices = given->edges->ranks;
  rw_to_map to_map = {vertices, layout->nodes, layout->node, given->total, pairs, given->dimensions, given->extents};
  int *slot_of = malloc(sizeof(int) * (size_t)vertices);
  if (slot_of == NULL || !rw_map(&to_map, slot_of, &before, &after)) {
    free(slot_of);
    return RW_AS_GIVEN;
  }
  for (int v = 0; v < vertices; v++) keys[slot_of[v]] = v;
  free(slot_of);
  count(&pairs_before, (uint64_t)before);
  count(&pairs_after, (uint64_t)after);
  return after < before ? RW_REORDERED : RW_IN_ORDER;
}

/* Chooses by the graph. The code is the same on all ranks; the choice and keys of rank 0 count. Collective. */
static int choose_by_graph(const rw_graph_given *given, int *keys, int *choice) {
  static int is_said;
  rw_layout layout;
  int *pairs = NULL;
  *choice = RW_AS_GIVEN;
  if (given->edges->ranks > MOST_RANKS || given->total > MOST_EDGES) {
    if (given->rank == 0 && is_first_time(&is_said))
      fprintf(stderr, "rankweave shim: a graph of %d ranks and %lld edges is not reordered: at most %d and %d are\n",
              given->edges->ranks, (long long)given->total, MOST_RANKS, MOST_EDGES);
    return MPI_SUCCESS;
  }
  int code = rw_layout_make(given->comm, (int)rw_world_settings()->cores, &layout);
  if (code == MPI_SUCCESS && layout.nodes < 2) *choice = RW_IN_ORDER;
  else if (code == MPI_SUCCESS) {
    code = gather(given, &pairs);
    if (code == MPI_SUCCESS && given->rank == 0) *choice = map_gathered(given, &layout, pairs, keys);
  }
  free(pairs);
  rw_layout_free(&layout);
  return code;
}

int rw_reorder_choose(const rw_graph_given *given, int *choice, int *key) {
  int is_first = given->rank == 0;
  int *keys = is_first ? malloc(sizeof(int) * (size_t)given->size) : NULL;
  int code = rw_agree_on_memory(given->comm, !is_first || keys != NULL);
  *choice = RW_AS_GIVEN;
  /* Ranks beyond a grid keep their numbers. */
  for (int r = 0; code == MPI_SUCCESS && is_first && r < given->size; r++) keys[r] = r;
  if (code == MPI_SUCCESS && rw_world_settings()->reorders < RW_REORDER_BY_FILE) code = choose_by_graph(given, keys, choice);
  else if (code == MPI_SUCCESS && is_first) *choice = choose_by_file(given, keys);
  if (code == MPI_SUCCESS) code = PMPI_Bcast(choice, 1, MPI_INT, 0, given->comm);
  if (code == MPI_SUCCESS && *choice == RW_REORDERED) code = PMPI_Scatter(keys, 1, MPI_INT, key, 1, MPI_INT, 0, given->comm);
  free(keys);
  if (is_first) count(*choice == RW_REORDERED ? &reordered : *choice == RW_IN_ORDER ? &in_order : &as_given, 1);
  /* A program continues without the memory for another order. */
  if (code != MPI_ERR_NO_MEM) return code;
  *choice = RW_AS_GIVEN;
  return MPI_SUCCESS;
}

void rw_reorder_report(void) {
  char line[256];
  if (reordered + in_order + as_given == 0) return;
  int used = snprintf(line, sizeof line, "graphs with reorder = 1: %llu reordered, %llu in order, %llu left to MPI",
                      (unsigned long long)reordered, (unsigned long long)in_order, (unsigned long long)as_given);
  if (pairs_before > 0)
    snprintf(line + used, sizeof line - (size_t)used, "; pairs of a rank and another node: %llu before, %llu after",
             (unsigned long long)pairs_before, (unsigned long long)pairs_after);
  rw_report_line(line);
}
