/* The creation of topology communicators. */
#include "shim.h"

/* A communicator that exists is handed over even if the shim fails on it: its calls fall through. */
static int attached(MPI_Comm old, int code, MPI_Comm comm, int is_off) {
  if (code != MPI_SUCCESS) return code;
  int own = rw_state_attach(old, comm, is_off);
  return own == MPI_SUCCESS ? code : rw_raise(comm, own);
}

RW_EXPORT int MPI_Dist_graph_create_adjacent(MPI_Comm old, int indegree, const int sources[], const int source_weights[],
                                             int outdegree, const int destinations[], const int destination_weights[],
                                             MPI_Info info, int reorder, MPI_Comm *comm) {
  int code = rw_next.Dist_graph_create_adjacent(old, indegree, sources, source_weights, outdegree, destinations,
                                             destination_weights, info, reorder, comm);
  return attached(old, code, code == MPI_SUCCESS ? *comm : MPI_COMM_NULL, rw_info_is_off(info));
}

RW_EXPORT int MPI_Dist_graph_create(MPI_Comm old, int count, const int sources[], const int degrees[],
                                    const int destinations[], const int weights[], MPI_Info info, int reorder,
                                    MPI_Comm *comm) {
  int code = rw_next.Dist_graph_create(old, count, sources, degrees, destinations, weights, info, reorder, comm);
  return attached(old, code, code == MPI_SUCCESS ? *comm : MPI_COMM_NULL, rw_info_is_off(info));
}

RW_EXPORT int MPI_Cart_create(MPI_Comm old, int dimensions, const int extents[], const int periods[], int reorder,
                              MPI_Comm *comm) {
  int code = rw_next.Cart_create(old, dimensions, extents, periods, reorder, comm);
  return attached(old, code, code == MPI_SUCCESS ? *comm : MPI_COMM_NULL, 0);
}

/* A copy has the same lists; its plans are its own, as its calls are. That of a communicator left alone is, too. */
RW_EXPORT int MPI_Comm_dup(MPI_Comm old, MPI_Comm *comm) {
  int code = rw_next.Comm_dup(old, comm);
  rw_state *state = code == MPI_SUCCESS ? rw_state_of(old) : NULL;
  return state != NULL ? attached(old, code, *comm, state->left == RW_INFO_OFF) : code;
}

RW_EXPORT int MPI_Comm_dup_with_info(MPI_Comm old, MPI_Info info, MPI_Comm *comm) {
  int code = rw_next.Comm_dup_with_info(old, info, comm);
  return code == MPI_SUCCESS && rw_state_of(old) != NULL ? attached(old, code, *comm, rw_info_is_off(info)) : code;
}
