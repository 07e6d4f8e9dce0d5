/*
 * This file intercepts creations of communicators that no plan is for: those of the same members are numbered in
 * this order.
 */
#include "shim.h"

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
