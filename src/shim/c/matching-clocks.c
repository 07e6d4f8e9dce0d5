/*
 * This file measures the clocks of machines, which begin anywhere. The first process of each node asks rank 0 for
 * its time, a few times; the fastest answer is assumed to be given half way.
 */
#include "shim.h"

#include <time.h>
#include <unistd.h>

enum { TAG = 0, QUESTIONS = 16 };

static int make_node(const rw_settings *world, int rank, MPI_Comm *node) {
  if (world->cores > 0) return PMPI_Comm_split(MPI_COMM_WORLD, rank / (int)world->cores, rank, node);
  return PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, node);
}

/* Answers a leader's questions on the first process of the first node. */
static void answer(MPI_Comm leaders, int leader) {
  for (int i = 0; i < QUESTIONS; i++) {
    PMPI_Recv(NULL, 0, MPI_BYTE, leader, TAG, leaders, MPI_STATUS_IGNORE);
    int64_t now = rw_matching_now();
    PMPI_Send(&now, 1, MPI_INT64_T, leader, TAG, leaders);
  }
}

static int64_t ask(MPI_Comm leaders) {
  int64_t soonest = INT64_MAX, offset = 0;
  for (int i = 0; i < QUESTIONS; i++) {
    int64_t theirs, begin = rw_matching_now();
    PMPI_Send(NULL, 0, MPI_BYTE, 0, TAG, leaders);
    PMPI_Recv(&theirs, 1, MPI_INT64_T, 0, TAG, leaders, MPI_STATUS_IGNORE);
    int64_t took = rw_matching_now() - begin;
    if (took >= soonest) continue;
    soonest = took;
    offset = begin + took / 2 - theirs;
  }
  return offset;
}

static int64_t offset_of_leader(MPI_Comm leaders) {
  int leader, count;
  PMPI_Comm_rank(leaders, &leader);
  PMPI_Comm_size(leaders, &count);
  if (leader > 0) return ask(leaders);
  for (int other = 1; other < count; other++) answer(leaders, other);
  return 0;
}

int64_t rw_matching_offset(void) {
  int rank, local;
  int64_t offset = 0;
  MPI_Comm node, leaders;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (make_node(rw_world_settings(), rank, &node) != MPI_SUCCESS) return 0;
  PMPI_Comm_rank(node, &local);
  if (PMPI_Comm_split(MPI_COMM_WORLD, local == 0 ? 0 : MPI_UNDEFINED, rank, &leaders) == MPI_SUCCESS && local == 0) {
    offset = offset_of_leader(leaders);
    PMPI_Comm_free(&leaders);
  }
  PMPI_Bcast(&offset, 1, MPI_INT64_T, 0, node);
  PMPI_Comm_free(&node);
  return offset;
}

/* Mixes the time of day and the process, so that simultaneous runs differ. */
int64_t rw_matching_run(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t mixed = ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) ^ (uint64_t)getpid() << 40;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
  int64_t run = (int64_t)((mixed ^ mixed >> 27) & INT64_MAX);
  PMPI_Bcast(&run, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  return run;
}

int64_t rw_matching_skew(void) {
  int rank;
  const rw_settings *world = rw_world_settings();
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return world->cores > 0 ? (int64_t)(rank / (int)world->cores * rw_own_settings()->matching_skew * 1e3) : 0;
}
