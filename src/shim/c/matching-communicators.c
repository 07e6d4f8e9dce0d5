/*
 * Numbers of communicators. All processes know a communicator by a digest of its members and by how many of the
 * same members were made before it: all members make them in the same order. So nothing is sent. One whose creation
 * is not intercepted counts when it is first used.
 */
#include "shim.h"

#include <pthread.h>
#include <stdlib.h>

/* The most communicators of a process that are recorded, and the most sets of members. */
enum { MOST = 65536, SETS = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static struct {
  uint64_t digest;
  int64_t communicators;
} sets[SETS];
static int set_count;

/* The value of a number, from -1 on, which is not NULL. */
static void *value_of(int own) { return (void *)(intptr_t)(own + 2); }

static int number_of(const void *value) { return (int)(intptr_t)value - 2; }

static void remove_number(void *value) { rw_matching_queues_remove(number_of(value)); }

static rw_attribute attribute = RW_ATTRIBUTE(remove_number);

/* Returns FNV-1a of the world ranks of the members; 0 if one is of another world, or there is no memory. */
static uint64_t digest_of(MPI_Comm comm, int size) {
  uint64_t digest = 14695981039346656037u;
  MPI_Group own, all;
  int *numbers = malloc(2 * sizeof(int) * (size_t)size);
  if (numbers == NULL || PMPI_Comm_group(comm, &own) != MPI_SUCCESS) return free(numbers), 0;
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  for (int i = 0; i < size; i++) numbers[i] = i;
  int code = PMPI_Group_translate_ranks(own, size, numbers, all, numbers + size);
  if (code != MPI_SUCCESS) digest = 0;
  for (int i = 0; i < size && digest != 0; i++) {
    if (numbers[size + i] == MPI_UNDEFINED) digest = 0;
    else digest = (digest ^ (uint64_t)numbers[size + i]) * 1099511628211u;
  }
  PMPI_Group_free(&own);
  PMPI_Group_free(&all);
  free(numbers);
  return digest & INT64_MAX;
}

/* Returns how many communicators of the same members existed before; -1 if there are too many sets. */
static int64_t count_of(uint64_t digest) {
  int i = 0;
  while (i < set_count && sets[i].digest != digest) i++;
  if (i == SETS) return -1;
  if (i == set_count) {
    sets[set_count].digest = digest;
    sets[set_count++].communicators = 0;
  }
  return sets[i].communicators++;
}

static int number(MPI_Comm comm) {
  int size = 0, rank = 0, is_inter = 1, own = -1;
  int64_t which = -1;
  PMPI_Comm_test_inter(comm, &is_inter);
  PMPI_Comm_size(comm, &size);
  PMPI_Comm_rank(comm, &rank);
  uint64_t digest = is_inter ? 0 : digest_of(comm, size);
  pthread_mutex_lock(&lock);
  if (digest != 0 && count < MOST) which = count_of(digest);
  if (which >= 0) own = count++;
  pthread_mutex_unlock(&lock);
  if (own >= 0) rw_matching_add(RW_MATCHING_COMMUNICATOR, (int64_t)digest, own, rank, size, which);
  if (own >= 0) rw_matching_queues_add(comm, own);
  if (comm != MPI_COMM_WORLD) rw_attribute_set(&attribute, comm, value_of(own));
  return own;
}

/* Numbers a communicator. The first one of a file is MPI_COMM_WORLD. */
int rw_matching_communicator(MPI_Comm comm) {
  int code;
  if (comm == MPI_COMM_WORLD && count > 0) return 0;
  if (comm == MPI_COMM_NULL) return -1;
  const void *value = rw_attribute_get(&attribute, comm, &code);
  return value != NULL ? number_of(value) : number(comm);
}

void rw_matching_created(int code, const MPI_Comm *comm) {
  if (rw_matching_is_on && code == MPI_SUCCESS && *comm != MPI_COMM_NULL) rw_matching_communicator(*comm);
}
