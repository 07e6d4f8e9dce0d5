/* The moves of blocks between ranks. The source of a block finds its ways, and tells both ends of every move. */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

static int add(rw_own_moves *moves, rw_own_move move) {
  if (moves->count == moves->room) {
    int room = moves->room > 0 ? 2 * moves->room : 64;
    rw_own_move *items = realloc(moves->items, sizeof *items * (size_t)room);
    if (items == NULL) return 0;
    moves->items = items;
    moves->room = room;
  }
  moves->items[moves->count++] = move;
  return 1;
}

/*
 * The ways of one block to all destinations form a tree. A rank gets the block in the first hop in which it is on a
 * way. Only destinations and ranks that pass the block on get it.
 */
static int find_tree(const rw_lists *lists, const rw_route *route, rw_own_moves *moves) {
  int source = lists->rank, hops = rw_route_hops(route);
  size_t ranks = (size_t)lists->ranks;
  int *arrival = malloc(sizeof(int) * ranks), *parent = malloc(sizeof(int) * ranks);
  int *at = malloc(sizeof(int) * (size_t)(lists->out_count + 1));
  char *is_seen = calloc(ranks, 1), *is_needed = calloc(ranks, 1);
  int ok = arrival && parent && at && is_seen && is_needed;
  if (ok) {
    is_seen[source] = is_needed[source] = 1;
    for (int d = 0; d < lists->out_count; d++) at[d] = source;
    for (int h = 0; h < hops; h++) {
      for (int d = 0; d < lists->out_count; d++) {
        int destination = lists->out[d];
        if (destination == MPI_PROC_NULL || destination == source) continue;
        int next = rw_route_hop(route, h, source, destination);
        if (!is_seen[next]) {
          is_seen[next] = 1;
          arrival[next] = h;
          parent[next] = at[d];
        }
        at[d] = next;
      }
    }
    for (int d = 0; ok && d < lists->out_count; d++) {
      int rank = lists->out[d];
      if (rank == MPI_PROC_NULL) continue;
      for (; ok && !is_needed[rank]; rank = parent[rank]) {
        is_needed[rank] = 1;
        rw_own_move move = {arrival[rank], parent[rank], rank, 0, 0};
        ok = add(moves, move);
      }
    }
  }
  free(arrival);
  free(parent);
  free(at);
  free(is_seen);
  free(is_needed);
  return ok;
}

/* Finds the way of the block to one destination; a way that returns to a rank has rested there. */
static int find_way(const rw_lists *lists, const rw_route *route, int part, rw_own_moves *moves) {
  int way[2 * RW_MAX_STEPS + 1], since[2 * RW_MAX_STEPS + 1];
  int length = 0, hops = rw_route_hops(route);
  way[0] = lists->rank;
  for (int h = 0; h < hops; h++) {
    int next = rw_route_hop(route, h, lists->rank, lists->out[part]);
    int visited = 0;
    while (visited <= length && way[visited] != next) visited++;
    if (visited > length) since[visited] = h;
    length = visited;
    way[length] = next;
  }
  for (int i = 1; i <= length; i++) {
    rw_own_move move = {since[i], way[i - 1], way[i], part, i == length};
    if (!add(moves, move)) return 0;
  }
  return 1;
}

static int find_ways(const rw_lists *lists, const rw_route *route, rw_own_moves *moves) {
  int ok = 1;
  for (int part = 0; ok && part < lists->out_count; part++)
    if (lists->out[part] != MPI_PROC_NULL && lists->out[part] != lists->rank) ok = find_way(lists, route, part, moves);
  return ok;
}

int rw_own_moves_find(const rw_lists *lists, const rw_route *route, int collective, rw_own_moves *moves) {
  memset(moves, 0, sizeof *moves);
  return collective == RW_ALLGATHER ? find_tree(lists, route, moves) : find_ways(lists, route, moves);
}
