/* Other tools that intercept MPI's functions. Part of shim.h. */
#ifndef RANKWEAVE_TOOLS_H
#define RANKWEAVE_TOOLS_H

/* The functions for which a tuning file may decide. */
#define RW_TUNED(X)            \
  X(Barrier)                   \
  X(Bcast)                     \
  X(Scatter)                   \
  X(Gather)                    \
  X(Allgather)                 \
  X(Reduce)                    \
  X(Allreduce)                 \
  X(Reduce_scatter_block)      \
  X(Reduce_scatter)            \
  X(Alltoall)                  \
  X(Scan)                      \
  X(Exscan)

/* The functions by which messages are matched. */
#define RW_MATCHED(X)          \
  X(Send)                      \
  X(Bsend)                     \
  X(Ssend)                     \
  X(Rsend)                     \
  X(Isend)                     \
  X(Ibsend)                    \
  X(Issend)                    \
  X(Irsend)                    \
  X(Send_init)                 \
  X(Bsend_init)                \
  X(Ssend_init)                \
  X(Rsend_init)                \
  X(Recv_init)                 \
  X(Recv)                      \
  X(Irecv)                     \
  X(Sendrecv)                  \
  X(Sendrecv_replace)          \
  X(Probe)                     \
  X(Iprobe)                    \
  X(Mprobe)                    \
  X(Improbe)                   \
  X(Wait)                      \
  X(Waitall)                   \
  X(Waitany)                   \
  X(Waitsome)                  \
  X(Test)                      \
  X(Testall)                   \
  X(Testany)                   \
  X(Testsome)                  \
  X(Cancel)                    \
  X(Comm_split)                \
  X(Comm_split_type)           \
  X(Comm_create)               \
  X(Comm_create_group)         \
  X(Cart_sub)                  \
  X(Graph_create)              \
  X(Intercomm_merge)

/* Every other function that the library intercepts and may hand on. */
#define RW_PASSED_ON(X)        \
  X(Init)                      \
  X(Init_thread)               \
  X(Dist_graph_create)         \
  X(Dist_graph_create_adjacent)\
  X(Cart_create)               \
  X(Comm_dup)                  \
  X(Comm_dup_with_info)        \
  X(Comm_set_info)             \
  X(Neighbor_allgather)        \
  X(Neighbor_allgatherv)       \
  X(Neighbor_alltoall)         \
  X(Neighbor_alltoallv)        \
  X(Neighbor_alltoallw)        \
  X(Ineighbor_allgather)       \
  X(Ineighbor_allgatherv)      \
  X(Ineighbor_alltoall)        \
  X(Ineighbor_alltoallv)       \
  X(Ineighbor_alltoallw)       \
  X(Alltoallv)                 \
  X(Alltoallw)                 \
  X(Ialltoallv)                \
  X(Ireduce)                   \
  X(Iallreduce)                \
  X(Ireduce_scatter)           \
  X(Ireduce_scatter_block)     \
  X(Iscan)                     \
  X(Iexscan)                   \
  X(Start)                     \
  X(Startall)                  \
  X(Request_free)              \
  RW_PASSED_ON_4(X)

#if MPI_VERSION >= 4
#define RW_PASSED_ON_4(X)      \
  X(Neighbor_allgather_init)   \
  X(Neighbor_allgatherv_init)  \
  X(Neighbor_alltoall_init)    \
  X(Neighbor_alltoallv_init)   \
  X(Neighbor_alltoallw_init)
#else
#define RW_PASSED_ON_4(X)
#endif

/*
 * `rw_next.Neighbor_allgather` is the function of the next tool that is preloaded behind this library, or MPI's.
 * The library's own messages are sent by `PMPI_` functions: no tool counts them.
 */
#define RW_NEXT(name) __typeof__(&MPI_##name) name;
typedef struct {
  RW_PASSED_ON(RW_NEXT)
  RW_TUNED(RW_NEXT)
  RW_MATCHED(RW_NEXT)
} rw_next_functions;
extern rw_next_functions rw_next;
/* Finds the function of a name behind this library. `function` is the address of a pointer, which stays if there is none. */
void rw_find_next(void *function, const char *name);

/* Returns whether calls of a function reach this library first; else another tool has them, which may hand them on. */
int rw_is_first(const char *function);
/* Prints which functions another tool has first. */
void rw_report_tools(void);

#endif
