/* This file intercepts the creation of communicators: with topologies, and those that no plan is for. */
#include "shim.h"

/* Attaches a state. A communicator that exists is handed over even if the shim fails on it: its calls fall through. */
static int attached(MPI_Comm old, int code, MPI_Comm comm, int is_off) {
  if (code != MPI_SUCCESS) return code;
  rw_matching_created(code, &comm);
  code = rw_tune_created(old, code, comm);
  if (code != MPI_SUCCESS) return code;
  int own = rw_state_attach(old, comm, is_off);
  return own == MPI_SUCCESS ? code : rw_raise_alone(comm, own);
}

/* Finishes a creation after the constructor; `before` is the code of reordering ranks. */
static int created(rw_creation *creation, MPI_Comm old, int before, int code, const MPI_Comm *comm, int is_off) {
  rw_reorder_end(creation);
  if (before != MPI_SUCCESS) return rw_raise(old, before);
  return attached(old, code, code == MPI_SUCCESS ? *comm : MPI_COMM_NULL, is_off);
}

RW_EXPORT int MPI_Dist_graph_create_adjacent(MPI_Comm old, int indegree, const int sources[], const int source_weights[],
                                             int outdegree, const int destinations[], const int destination_weights[],
                                             MPI_Info info, int reorder, MPI_Comm *comm) {
  rw_creation c = {old, reorder, {indegree, indegree, outdegree, outdegree},
                   {sources, source_weights, destinations, destination_weights}, {NULL}, MPI_COMM_NULL};
  int is_off = rw_info_is_off(info), code = MPI_SUCCESS;
  int before = reorder && !is_off && rw_reorder_serves(old) ? rw_reorder_neighbors(&c) : MPI_SUCCESS;
  if (before == MPI_SUCCESS)
    code = rw_next.Dist_graph_create_adjacent(c.comm, c.length[0], c.array[0], c.array[1], c.length[2], c.array[2], c.array[3],
                                              info, c.reorder, comm);
  return created(&c, old, before, code, comm, is_off);
}

RW_EXPORT int MPI_Dist_graph_create(MPI_Comm old, int count, const int sources[], const int degrees[],
                                    const int destinations[], const int weights[], MPI_Info info, int reorder,
                                    MPI_Comm *comm) {
  rw_creation c = {old, reorder, {count, count, 0, 0}, {sources, degrees, destinations, weights}, {NULL}, MPI_COMM_NULL};
  int is_off = rw_info_is_off(info), code = MPI_SUCCESS;
  int before = reorder && !is_off && rw_reorder_serves(old) ? rw_reorder_lists(&c) : MPI_SUCCESS;
  if (before == MPI_SUCCESS)
    code = rw_next.Dist_graph_create(c.comm, c.length[0], c.array[0], c.array[1], c.array[2], c.array[3], info, c.reorder, comm);
  return created(&c, old, before, code, comm, is_off);
}

RW_EXPORT int MPI_Cart_create(MPI_Comm old, int dimensions, const int extents[], const int periods[], int reorder,
                              MPI_Comm *comm) {
  rw_creation c = {old, reorder, {0}, {NULL}, {NULL}, MPI_COMM_NULL};
  int code = MPI_SUCCESS;
  int before = reorder && rw_reorder_serves(old) ? rw_reorder_grid(&c, dimensions, extents, periods) : MPI_SUCCESS;
  if (before == MPI_SUCCESS) code = rw_next.Cart_create(c.comm, dimensions, extents, periods, c.reorder, comm);
  return created(&c, old, before, code, comm, 0);
}

/*
 * A copy has the same lists, but separate plans and calls. The copy of a communicator left alone is left alone,
 * too.
 */
RW_EXPORT int MPI_Comm_dup(MPI_Comm old, MPI_Comm *comm) {
  int code = rw_next.Comm_dup(old, comm);
  rw_matching_created(code, comm);
  rw_state *state = code == MPI_SUCCESS ? rw_state_of(old) : NULL;
  if (state != NULL) return attached(old, code, *comm, state->left == RW_INFO_OFF);
  return rw_tune_created(old, code, code == MPI_SUCCESS ? *comm : MPI_COMM_NULL);
}

RW_EXPORT int MPI_Comm_dup_with_info(MPI_Comm old, MPI_Info info, MPI_Comm *comm) {
  int code = rw_next.Comm_dup_with_info(old, info, comm);
  rw_matching_created(code, comm);
  if (code == MPI_SUCCESS && rw_state_is_there(old)) return attached(old, code, *comm, rw_info_is_off(info));
  return rw_tune_created(old, code, code == MPI_SUCCESS ? *comm : MPI_COMM_NULL);
}

/* Communicators that no plan is for: those of the same members are numbered in the order of these calls. */
#define CREATE(name, parameters, arguments, made)            \
  RW_EXPORT int MPI_##name parameters {                      \
    int code = rw_next.name arguments;                       \
    rw_matching_created(code, comm);                         \
    return made;                                             \
  }
/* All members of the old communicator make the new one, or only some processes do. */
#define CREATE_BY_ALL(name, parameters, arguments) \
  CREATE(name, parameters, arguments, rw_tune_created(old, code, code == MPI_SUCCESS ? *comm : MPI_COMM_NULL))
#define CREATE_BY_OTHERS(name, parameters, arguments) CREATE(name, parameters, arguments, code)

CREATE_BY_ALL(Comm_split, (MPI_Comm old, int color, int place, MPI_Comm *comm), (old, color, place, comm))
CREATE_BY_ALL(Comm_split_type, (MPI_Comm old, int type, int place, MPI_Info info, MPI_Comm *comm), (old, type, place, info, comm))
CREATE_BY_ALL(Comm_create, (MPI_Comm old, MPI_Group group, MPI_Comm *comm), (old, group, comm))
CREATE_BY_OTHERS(Comm_create_group, (MPI_Comm old, MPI_Group group, int tag, MPI_Comm *comm), (old, group, tag, comm))
CREATE_BY_ALL(Cart_sub, (MPI_Comm old, const int remain[], MPI_Comm *comm), (old, remain, comm))
CREATE_BY_ALL(Graph_create, (MPI_Comm old, int count, const int index[], const int edges[], int reorder, MPI_Comm *comm),
       (old, count, index, edges, reorder, comm))
CREATE_BY_OTHERS(Intercomm_merge, (MPI_Comm old, int high, MPI_Comm *comm), (old, high, comm))
