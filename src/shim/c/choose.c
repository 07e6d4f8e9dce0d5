/*
 * This file chooses the cheapest route for blocks of a few bytes, by a rule that all ranks apply to the same
 * numbers.
 */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CANDIDATES = 12, HOPS = 2 * RW_MAX_STEPS, BLOCK = 16 };

typedef struct {
  rw_route route;
  char name[RW_NAME];
} candidate;

/* Reads the route that the user names on rank 0, if any: all ranks must have the same. */
static int read_named(MPI_Comm comm, const rw_lists *lists, const rw_layout *layout, candidate *named, int *is_named) {
  const char *text = rw_strategy();
  memset(named, 0, sizeof *named);
  if (text != NULL) snprintf(named->name, RW_NAME, "%s", text);
  int code = PMPI_Bcast(named->name, RW_NAME, MPI_CHAR, 0, comm);
  *is_named = code == MPI_SUCCESS && named->name[0] != '\0';
  if (!*is_named) return code;
  *is_named = rw_route_parse(named->name, lists->ranks, layout, &named->route);
  if (*is_named && rw_route_is_whole(&named->route)) return code;
  if (*is_named) {
    char whole[RW_NAME];
    rw_route_name(&named->route, whole, sizeof whole);
    *is_named = 0;
    if (lists->rank == 0)
      fprintf(stderr,
              "rankweave shim: RANKWEAVE_SHIM_STRATEGY: expected radices whose product is at least what they count, as in "
              "%s, got %s\n",
              whole, named->name);
    return code;
  }
  /* Naming shared memory does not create it. */
  if (layout->nodes == 1 && strcmp(named->name, "shared") == 0) return code;
  if (lists->rank == 0)
    fprintf(stderr,
            "rankweave shim: RANKWEAVE_SHIM_STRATEGY: expected routed:radices=2.2, hierarchical:between=2,inside=2.2, or on one "
            "node shared, got %s\n",
            named->name);
  return code;
}

static int add(candidate *all, int count, int ranks, const rw_layout *layout, const char *name) {
  if (!rw_route_parse(name, ranks, layout, &all[count].route)) return count;
  rw_route_name(&all[count].route, all[count].name, RW_NAME);
  return count + 1;
}

static int list_candidates(candidate *all, int ranks, const rw_layout *layout) {
  static const int radices[] = {2, 3, 4, 6, 8};
  char name[RW_NAME];
  int count = 0, root = 9;
  for (size_t i = 0; i < sizeof radices / sizeof *radices && radices[i] < ranks; i++) {
    snprintf(name, sizeof name, "routed:radices=%d", radices[i]);
    count = add(all, count, ranks, layout, name);
  }
  while ((int64_t)root * root < ranks) root++;
  if (root > 9) {
    snprintf(name, sizeof name, "routed:radices=%d", root);
    count = add(all, count, ranks, layout, name);
  }
  if (layout->nodes > 1 && layout->largest > 1) {
    count = add(all, count, ranks, layout, "hierarchical:between=2,inside=2");
    count = add(all, count, ranks, layout, "hierarchical:between=4,inside=4");
    snprintf(name, sizeof name, "hierarchical:between=%d,inside=2", layout->nodes);
    count = add(all, count, ranks, layout, name);
    snprintf(name, sizeof name, "hierarchical:between=%d,inside=4", layout->nodes);
    count = add(all, count, ranks, layout, name);
  }
  return count;
}

/* Returns the most messages that a rank can have in a hop, whatever the graph. */
static int most_messages(const rw_route *route, int h) {
  int is_between = h < route->between.steps;
  const rw_digits *digits = is_between ? &route->between : &route->inside;
  int step = is_between ? h : h - route->between.steps;
  int ratio = (digits->weights[step + 1] + digits->weights[step] - 1) / digits->weights[step];
  return ratio - 1;
}

/* Estimates the time of an average rank and of all that share its core. */
static double cost(const rw_settings *settings, const rw_route *route, const double *blocks, double crowd) {
  double us = 0;
  for (int h = 0; h < rw_route_hops(route); h++) {
    double messages = most_messages(route, h);
    if (blocks[h] < messages) messages = blocks[h];
    double work = 2 * messages * settings->overhead + blocks[h] * BLOCK * settings->gap + blocks[h] * 0.02;
    us += settings->latency + crowd * (work + (crowd > 1 ? settings->latency : 0));
  }
  return us;
}

/*
 * Measures the blocks that an average rank sends in every hop of every candidate, its destinations, and the ranks
 * per core.
 */
static int measure_load(MPI_Comm comm, const rw_lists *lists, int collective, const rw_layout *layout,
                        const candidate *all, int count, double *load) {
  for (int c = 0; c < count; c++) {
    rw_own_moves moves;
    if (!rw_own_moves_find(lists, &all[c].route, collective, &moves)) moves.count = 0;
    for (int i = 0; i < moves.count; i++) load[c * HOPS + moves.items[i].hop]++;
    free(moves.items);
  }
  for (int i = 0; i < lists->out_count; i++)
    load[count * HOPS] += lists->out[i] != MPI_PROC_NULL && lists->out[i] != lists->rank;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  int node = layout->node[lists->rank];
  load[count * HOPS + 1] = cores > 0 ? (double)(layout->start[node + 1] - layout->start[node]) / (double)cores : 1;
  int code = PMPI_Allreduce(MPI_IN_PLACE, load, count * HOPS + 2, MPI_DOUBLE, MPI_SUM, comm);
  for (int i = 0; i < count * HOPS + 2; i++) load[i] /= lists->ranks;
  return code;
}

static int choose(MPI_Comm comm, const rw_lists *lists, int collective, const rw_settings *settings,
                  const rw_layout *layout, candidate *chosen, int *is_worth) {
  candidate all[CANDIDATES];
  double load[CANDIDATES * HOPS + 2] = {0};
  int count = list_candidates(all, lists->ranks, layout);
  int code = measure_load(comm, lists, collective, layout, all, count, load);
  if (code != MPI_SUCCESS) return code;
  double degree = load[count * HOPS], crowd = load[count * HOPS + 1] > 1 ? load[count * HOPS + 1] : 1;
  double least = settings->latency + crowd * degree * (2 * settings->overhead + BLOCK * settings->gap);
  for (int c = 0; c < count; c++) {
    double us = cost(settings, &all[c].route, &load[c * HOPS], crowd);
    if (us >= least && (settings->always == 0 || *is_worth)) continue;
    least = us;
    *is_worth = 1;
    *chosen = all[c];
  }
  return MPI_SUCCESS;
}

int rw_choose(MPI_Comm comm, const rw_lists *lists, int collective, const rw_settings *settings, rw_layout *layout,
              rw_route *route, char name[RW_NAME], int *is_worth) {
  candidate chosen;
  int code = rw_layout_make(comm, (int)settings->cores, layout);
  *is_worth = 0;
  if (code == MPI_SUCCESS) code = read_named(comm, lists, layout, &chosen, is_worth);
  if (code == MPI_SUCCESS && !*is_worth) code = choose(comm, lists, collective, settings, layout, &chosen, is_worth);
  if (code != MPI_SUCCESS || !*is_worth) return code;
  *route = chosen.route;
  memcpy(name, chosen.name, RW_NAME);
  return code;
}
