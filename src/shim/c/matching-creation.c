/* Creations of communicators that no plan is for: those of the same members are numbered in this order. */
#include "shim.h"

#define CREATE(name, parameters, arguments)                  \
  RW_EXPORT int MPI_##name parameters {                      \
    int code = rw_next.name arguments;                       \
    rw_matching_created(code, comm);                         \
    return code;                                             \
  }

CREATE(Comm_split, (MPI_Comm old, int color, int place, MPI_Comm *comm), (old, color, place, comm))
CREATE(Comm_split_type, (MPI_Comm old, int type, int place, MPI_Info info, MPI_Comm *comm), (old, type, place, info, comm))
CREATE(Comm_create, (MPI_Comm old, MPI_Group group, MPI_Comm *comm), (old, group, comm))
CREATE(Comm_create_group, (MPI_Comm old, MPI_Group group, int tag, MPI_Comm *comm), (old, group, tag, comm))
CREATE(Cart_sub, (MPI_Comm old, const int remain[], MPI_Comm *comm), (old, remain, comm))
CREATE(Graph_create, (MPI_Comm old, int count, const int index[], const int edges[], int reorder, MPI_Comm *comm),
       (old, count, index, edges, reorder, comm))
CREATE(Intercomm_merge, (MPI_Comm old, int high, MPI_Comm *comm), (old, high, comm))
