/* The calls that are measured: their data, and their expected results. */
#include "measure.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { BARRIER, BCAST, SCATTER, GATHER, ALLGATHER, ALLTOALL, REDUCE, ALLREDUCE, REDUCE_SCATTER, SCAN, EXSCAN, COLLECTIVES };

static const char *const names[COLLECTIVES] = {"barrier", "bcast",     "scatter",        "gather", "allgather", "alltoall",
                                               "reduce",  "allreduce", "reduce-scatter", "scan",   "exscan"};

/* Returns byte i of the block that one rank has for another. */
static unsigned char byte_of(long source, long destination, long i) {
  return (unsigned char)((source * 89 + destination * 31 + i * 7 + (i >> 8) * 13 + 5) % 251);
}

/* Returns element i of a rank's contribution: sums are exact in every type. */
static int term_of(int rank, long i) { return (int)((rank * 7 + i * 3) % 101) + 1; }

static void fill_blocks(void *array, int first, int count, long bytes, int rank, int is_origin) {
  unsigned char *at = array;
  for (int other = first; other < first + count; other++)
    for (long i = 0; i < bytes; i++) *at++ = is_origin ? byte_of(rank, other, i) : byte_of(other, rank, i);
}

static void set_element(void *array, MPI_Datatype type, long place, double value) {
  if (type == MPI_DOUBLE) ((double *)array)[place] = value;
  else ((int *)array)[place] = (int)value;
}

/* Writes elements from `first` of the sum over the ranks from 0 to `ranks - 1`. */
static void fill_sum(void *array, MPI_Datatype type, int count, int ranks, long first) {
  for (int i = 0; i < count; i++) {
    double sum = 0;
    for (int rank = 0; rank < ranks; rank++) sum += term_of(rank, first + i);
    set_element(array, type, i, sum);
  }
}

static void *room(size_t bytes) {
  void *memory = calloc(1, bytes > 0 ? bytes : 1);
  if (memory == NULL) rw_measure_fail("memory is exhausted: %zu bytes", bytes);
  return memory;
}

static void make_movement(rw_measured_call *call, long bytes) {
  int rank = call->rank, size = call->size, is_root = rank == 0;
  size_t one = (size_t)bytes, all = one * (size_t)size;
  int sends_all = call->collective == ALLTOALL || (call->collective == SCATTER && is_root);
  int gets_all = call->collective == ALLTOALL || call->collective == ALLGATHER || (call->collective == GATHER && is_root);
  int gets_one = call->collective == SCATTER || (call->collective == BCAST && !is_root);
  call->receive_bytes = gets_all ? all : gets_one ? one : 0;
  call->send = room(sends_all ? all : one);
  call->receive = room(call->receive_bytes);
  call->expected = room(call->receive_bytes);
  switch (call->collective) {
    case BCAST:
      fill_blocks(call->send, 0, 1, bytes, 0, 1);
      if (!is_root) fill_blocks(call->expected, 0, 1, bytes, 0, 1);
      break;
    case SCATTER:
      if (is_root) fill_blocks(call->send, 0, size, bytes, 0, 1);
      fill_blocks(call->expected, 0, 1, bytes, rank, 0);
      break;
    case GATHER:
    case ALLGATHER:
      fill_blocks(call->send, 0, 1, bytes, rank, 1);
      if (gets_all) fill_blocks(call->expected, 0, size, bytes, 0, 0);
      break;
    case ALLTOALL:
      fill_blocks(call->send, 0, size, bytes, rank, 1);
      fill_blocks(call->expected, 0, size, bytes, rank, 0);
      break;
    default: break;
  }
}

static void make_reduction(rw_measured_call *call, size_t element) {
  int rank = call->rank, size = call->size, is_whole = call->collective == REDUCE_SCATTER;
  long length = (long)call->count * (is_whole ? size : 1);
  int is_receiver = call->collective == REDUCE ? rank == 0 : call->collective == EXSCAN ? rank > 0 : 1;
  call->receive_bytes = is_receiver ? element * (size_t)call->count : 0;
  call->send = room(element * (size_t)length);
  call->receive = room(element * (size_t)call->count);
  call->expected = room(call->receive_bytes);
  for (long i = 0; i < length; i++) set_element(call->send, call->type, i, term_of(rank, i));
  if (is_receiver) {
    int ranks = call->collective == SCAN ? rank + 1 : call->collective == EXSCAN ? rank : size;
    fill_sum(call->expected, call->type, call->count, ranks, is_whole ? (long)rank * call->count : 0);
  }
  call->counts = room(sizeof(int) * (size_t)size);
  for (int other = 0; other < size; other++) call->counts[other] = call->count;
}

int rw_measured_make(rw_measured_call *call, const char *collective, const char *type, long bytes, int rank, int size) {
  memset(call, 0, sizeof *call);
  call->rank = rank;
  call->size = size;
  while (call->collective < COLLECTIVES && strcmp(names[call->collective], collective) != 0) call->collective++;
  if (call->collective == COLLECTIVES || bytes < 0 || bytes > INT_MAX) return 0;
  call->type = strcmp(type, "float64") == 0 ? MPI_DOUBLE : strcmp(type, "int32") == 0 ? MPI_INT : MPI_BYTE;
  size_t element = call->type == MPI_DOUBLE ? sizeof(double) : call->type == MPI_INT ? sizeof(int) : 1;
  if ((size_t)bytes % element != 0 || (call->collective >= REDUCE) != (call->type != MPI_BYTE)) return 0;
  call->count = (int)((size_t)bytes / element);
  if (call->collective >= REDUCE) make_reduction(call, element);
  else make_movement(call, bytes);
  return 1;
}

void rw_measured_free(rw_measured_call *call) {
  free(call->send);
  free(call->receive);
  free(call->expected);
  free(call->counts);
  memset(call, 0, sizeof *call);
}

int rw_measured_run(const rw_measured_call *call, MPI_Comm comm) {
  void *send = call->send, *receive = call->receive;
  int count = call->count;
  MPI_Datatype type = call->type;
  switch (call->collective) {
    case BARRIER: return MPI_Barrier(comm);
    case BCAST: return MPI_Bcast(call->rank == 0 ? send : receive, count, type, 0, comm);
    case SCATTER: return MPI_Scatter(send, count, type, receive, count, type, 0, comm);
    case GATHER: return MPI_Gather(send, count, type, receive, count, type, 0, comm);
    case ALLGATHER: return MPI_Allgather(send, count, type, receive, count, type, comm);
    case ALLTOALL: return MPI_Alltoall(send, count, type, receive, count, type, comm);
    case REDUCE: return MPI_Reduce(send, receive, count, type, MPI_SUM, 0, comm);
    case ALLREDUCE: return MPI_Allreduce(send, receive, count, type, MPI_SUM, comm);
    case REDUCE_SCATTER: return MPI_Reduce_scatter(send, receive, call->counts, type, MPI_SUM, comm);
    case SCAN: return MPI_Scan(send, receive, count, type, MPI_SUM, comm);
    default: return MPI_Exscan(send, receive, count, type, MPI_SUM, comm);
  }
}

void rw_measured_clear(const rw_measured_call *call) { memset(call->receive, 0, call->receive_bytes); }

int rw_measured_is_right(const rw_measured_call *call) {
  return memcmp(call->receive, call->expected, call->receive_bytes) == 0;
}
