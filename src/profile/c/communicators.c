/*
 * This file translates ranks of communicators. What it knows of a communicator is an attribute, which MPI deletes with
 * the communicator. A thread remembers the last communicator that it used until any is freed.
 */
#include "profile.h"

#include <pthread.h>
#include <stdlib.h>

static int key = MPI_KEYVAL_INVALID;
static MPI_Group world_group = MPI_GROUP_NULL;
static uint64_t generation = 1; /* grows when a communicator is freed */
static int64_t serials;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int remove_known(MPI_Comm comm, int keyval, void *known, void *extra) {
  rw_communicator *c = known;
  (void)comm;
  (void)keyval;
  (void)extra;
  __atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE);
  if (c->group != MPI_GROUP_NULL) PMPI_Group_free(&c->group);
  free(c->neighbors);
  free(c);
  return MPI_SUCCESS;
}

int rw_communicators_begin(void) {
  return PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, remove_known, &key, NULL) == MPI_SUCCESS &&
         PMPI_Comm_group(MPI_COMM_WORLD, &world_group) == MPI_SUCCESS;
}

static rw_communicator *make(MPI_Comm comm) {
  int is_inter = 0, code, relation = MPI_UNEQUAL;
  rw_communicator *c = calloc(1, sizeof *c);
  if (c == NULL) return NULL;
  PMPI_Comm_test_inter(comm, &is_inter);
  code = is_inter ? PMPI_Comm_remote_group(comm, &c->group) : PMPI_Comm_group(comm, &c->group);
  if (code != MPI_SUCCESS) return free(c), NULL;
  PMPI_Group_size(c->group, &c->size);
  PMPI_Group_compare(c->group, world_group, &relation);
  c->is_world = relation == MPI_IDENT;
  c->destinations = -1;
  c->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED);
  return c;
}

/* Another thread may have made it meanwhile. */
static rw_communicator *find_or_make(MPI_Comm comm) {
  void *known = NULL;
  int is_there = 0;
  pthread_mutex_lock(&lock);
  if (PMPI_Comm_get_attr(comm, key, &known, &is_there) != MPI_SUCCESS || !is_there) {
    known = make(comm);
    if (known != NULL) PMPI_Comm_set_attr(comm, key, known);
  }
  pthread_mutex_unlock(&lock);
  return known;
}

rw_communicator *rw_communicator_of(rw_thread *thread, MPI_Comm comm) {
  uint64_t now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
  if (thread->last != NULL && thread->last_handle == comm && thread->last_generation == now) return thread->last;
  rw_communicator *c = find_or_make(comm);
  thread->last = c;
  thread->last_handle = comm;
  thread->last_generation = now;
  return c;
}

int rw_world_rank(rw_thread *thread, const rw_communicator *c, int rank) {
  if (c->is_world) return rank;
  uint64_t slot = ((uint64_t)c->serial * 31 + (uint64_t)rank) % RW_TRANSLATED;
  if (thread->translated[slot].serial != c->serial || thread->translated[slot].rank != rank) {
    int world = -1;
    if (PMPI_Group_translate_ranks(c->group, 1, &rank, world_group, &world) != MPI_SUCCESS || world == MPI_UNDEFINED) world = -1;
    thread->translated[slot].serial = c->serial;
    thread->translated[slot].rank = rank;
    thread->translated[slot].world = world;
  }
  return thread->translated[slot].world;
}

/* Returns the destinations as ranks of the communicator, and their number; NULL without memory or topology. */
static int *destinations_of(MPI_Comm comm, int *count) {
  int status = MPI_UNDEFINED, rank = 0, sources = 0, weighted = 0, dimensions = 0;
  int *list = NULL;
  *count = 0;
  PMPI_Topo_test(comm, &status);
  PMPI_Comm_rank(comm, &rank);
  if (status == MPI_DIST_GRAPH) {
    PMPI_Dist_graph_neighbors_count(comm, &sources, count, &weighted);
    int *all = malloc((size_t)(2 * (sources + *count) + 1) * sizeof *all);
    list = malloc((size_t)(*count + 1) * sizeof *list);
    if (all != NULL && list != NULL)
      PMPI_Dist_graph_neighbors(comm, sources, all, all + sources, *count, list, all + 2 * sources);
    else free(list), list = NULL;
    free(all);
  } else if (status == MPI_GRAPH) {
    PMPI_Graph_neighbors_count(comm, rank, count);
    list = malloc((size_t)(*count + 1) * sizeof *list);
    if (list != NULL) PMPI_Graph_neighbors(comm, rank, *count, list);
  } else if (status == MPI_CART) {
    PMPI_Cartdim_get(comm, &dimensions);
    *count = 2 * dimensions;
    list = malloc((size_t)(*count + 1) * sizeof *list);
    for (int d = 0; list != NULL && d < dimensions; d++) PMPI_Cart_shift(comm, d, 1, &list[2 * d], &list[2 * d + 1]);
  }
  return list;
}

int rw_read_neighbors(rw_communicator *c, MPI_Comm comm) {
  pthread_mutex_lock(&lock);
  if (c->destinations < 0) {
    int count = 0;
    int *list = destinations_of(comm, &count);
    for (int i = 0; list != NULL && i < count; i++) {
      int world = -1;
      if (list[i] < 0 || PMPI_Group_translate_ranks(c->group, 1, &list[i], world_group, &world) != MPI_SUCCESS ||
          world == MPI_UNDEFINED)
        world = -1;
      list[i] = world;
    }
    c->neighbors = list;
    if (list != NULL) c->destinations = count;
  }
  int is_read = c->destinations >= 0;
  pthread_mutex_unlock(&lock);
  return is_read;
}
