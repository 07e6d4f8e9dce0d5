/* Tells the ends of moves about them in one exchange among all ranks of a communicator. */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

enum { FIELDS = 6 };

/* The record that both ends get of a move: these fields, and whether the receiver of the record sends. */
typedef struct {
  rw_move move;
  int is_send;
} record;

static int compare_ints(int a, int b) { return a < b ? -1 : a > b; }

/*
 * While moves are sorted, `peer` counts from the rank on, so that ranks do not all send to the same one at the same
 * time.
 */
static int compare_moves(const void *left, const void *right) {
  const rw_move *a = left, *b = right;
  if (a->hop != b->hop) return compare_ints(a->hop, b->hop);
  if (a->peer != b->peer) return compare_ints(a->peer, b->peer);
  if (a->source != b->source) return compare_ints(a->source, b->source);
  return compare_ints(a->part, b->part);
}

static void sort_moves(rw_moves *moves, int rank, int ranks) {
  for (int i = 0; i < moves->count; i++) moves->items[i].peer = (moves->items[i].peer - rank + ranks) % ranks;
  qsort(moves->items, (size_t)moves->count, sizeof *moves->items, compare_moves);
  for (int i = 0; i < moves->count; i++) moves->items[i].peer = (moves->items[i].peer + rank) % ranks;
}

/* Computes counts and offsets, in ints, of the records for every rank; returns the number of ints. */
static int64_t offsets(const int *counts, int *starts, int ranks) {
  int64_t all = 0;
  for (int r = 0; r < ranks; r++) {
    starts[r] = (int)all;
    all += counts[r];
  }
  return all;
}

static void pack(const rw_lists *lists, const rw_own_moves *own, int *next, record *out) {
  for (int i = 0; i < own->count; i++) {
    const rw_own_move *move = &own->items[i];
    rw_move of_sender = {move->hop, move->to, lists->rank, move->part, move->is_last};
    rw_move of_receiver = {move->hop, move->from, lists->rank, move->part, move->is_last};
    record *to_sender = &out[next[move->from] / FIELDS], *to_receiver = &out[next[move->to] / FIELDS];
    to_sender->move = of_sender;
    to_sender->is_send = 1;
    next[move->from] += FIELDS;
    to_receiver->move = of_receiver;
    to_receiver->is_send = 0;
    next[move->to] += FIELDS;
  }
}

static int divide(const record *in, int count, rw_moves *sends, rw_moves *receives) {
  size_t bytes = sizeof(rw_move) * (size_t)(count + 1);
  memset(sends, 0, sizeof *sends);
  memset(receives, 0, sizeof *receives);
  sends->items = malloc(bytes);
  receives->items = malloc(bytes);
  if (sends->items == NULL || receives->items == NULL) return 0;
  for (int i = 0; i < count; i++) {
    rw_moves *moves = in[i].is_send ? sends : receives;
    moves->items[moves->count++] = in[i].move;
  }
  return 1;
}

int rw_moves_tell(MPI_Comm comm, const rw_lists *lists, const rw_own_moves *own, rw_moves *sends, rw_moves *receives) {
  int ranks = lists->ranks;
  int *table = calloc(5 * (size_t)ranks, sizeof *table);
  record *out = malloc(sizeof *out * (2 * (size_t)own->count + 1)), *in = NULL;
  memset(sends, 0, sizeof *sends);
  memset(receives, 0, sizeof *receives);
  int code = rw_agree_on_memory(comm, table != NULL && out != NULL);
  if (code == MPI_SUCCESS) {
    int *given = table, *taken = table + ranks, *given_at = table + 2 * ranks, *taken_at = table + 3 * ranks;
    int *next = table + 4 * ranks;
    for (int i = 0; i < own->count; i++) {
      given[own->items[i].from] += FIELDS;
      given[own->items[i].to] += FIELDS;
    }
    offsets(given, given_at, ranks);
    memcpy(next, given_at, sizeof(int) * (size_t)ranks);
    pack(lists, own, next, out);
    code = PMPI_Alltoall(given, 1, MPI_INT, taken, 1, MPI_INT, comm);
    int64_t count = code == MPI_SUCCESS ? offsets(taken, taken_at, ranks) : 0;
    in = count <= INT32_MAX ? malloc(sizeof(int) * ((size_t)count + 1)) : NULL;
    if (code == MPI_SUCCESS) code = rw_agree_on_memory(comm, in != NULL);
    if (code == MPI_SUCCESS)
      code = PMPI_Alltoallv(out, given, given_at, MPI_INT, in, taken, taken_at, MPI_INT, comm);
    if (code == MPI_SUCCESS && !divide(in, (int)(count / FIELDS), sends, receives)) code = MPI_ERR_NO_MEM;
    if (code == MPI_SUCCESS) {
      sort_moves(sends, lists->rank, ranks);
      sort_moves(receives, lists->rank, ranks);
    }
  }
  free(table);
  free(out);
  free(in);
  return code;
}
