/*
 * Entry points of Fortran of the collectives that a tuning file may decide for. Without a file they are the
 * library's.
 */
#include "shim.h"

#define CALL(name, parameters, arguments, own)                     \
  RW_EXPORT void name parameters;                                  \
  void name parameters {                                           \
    static void(*library) parameters;                              \
    if ((rw_tune_is_on() || rw_reproduces()) && sizeof(MPI_Fint) == sizeof(int)) {      \
      *code = own;                                                 \
      return;                                                      \
    }                                                              \
    if (library == NULL) rw_fortran_find(&library, #name);         \
    if (library != NULL) library arguments;                        \
    else *code = MPI_ERR_INTERN;                                   \
  }

#define TYPE(type) MPI_Type_f2c(*type)
#define FROM rw_fortran_buffer(from)
#define TO rw_fortran_buffer(to)
#define OP MPI_Op_f2c(*op)
#define COMM MPI_Comm_f2c(*comm)

#define BARRIER(name) CALL(name, (MPI_Fint * comm, MPI_Fint *code), (comm, code), MPI_Barrier(COMM))

#define BCAST(name)                                                                                       \
  CALL(name, (void *to, MPI_Fint *count, MPI_Fint *type, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *code), \
       (to, count, type, root, comm, code), MPI_Bcast(TO, *count, TYPE(type), *root, COMM))

/* The functions with a root. */
#define ROOTED(name, function)                                                                              \
  CALL(name,                                                                                                \
       (void *from, MPI_Fint *sent, MPI_Fint *send_type, void *to, MPI_Fint *received, MPI_Fint *receive_type, \
        MPI_Fint *root, MPI_Fint *comm, MPI_Fint *code),                                                    \
       (from, sent, send_type, to, received, receive_type, root, comm, code),                               \
       function(FROM, *sent, TYPE(send_type), TO, *received, TYPE(receive_type), *root, COMM))

/* The functions that exchange data between all ranks. */
#define WHOLE(name, function)                                                                               \
  CALL(name,                                                                                                \
       (void *from, MPI_Fint *sent, MPI_Fint *send_type, void *to, MPI_Fint *received, MPI_Fint *receive_type, \
        MPI_Fint *comm, MPI_Fint *code),                                                                    \
       (from, sent, send_type, to, received, receive_type, comm, code),                                     \
       function(FROM, *sent, TYPE(send_type), TO, *received, TYPE(receive_type), COMM))

#define REDUCE(name)                                                                                          \
  CALL(name,                                                                                                  \
       (void *from, void *to, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op, MPI_Fint *root, MPI_Fint *comm,  \
        MPI_Fint *code),                                                                                      \
       (from, to, count, type, op, root, comm, code), MPI_Reduce(FROM, TO, *count, TYPE(type), OP, *root, COMM))

#define REDUCED(name, function, counts)                                                                          \
  CALL(name, (void *from, void *to, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *code), \
       (from, to, count, type, op, comm, code), function(FROM, TO, counts, TYPE(type), OP, COMM))

BARRIER(mpi_barrier_)
BARRIER(ompi_barrier_f)
BCAST(mpi_bcast_)
BCAST(ompi_bcast_f)
ROOTED(mpi_scatter_, MPI_Scatter)
ROOTED(ompi_scatter_f, MPI_Scatter)
ROOTED(mpi_gather_, MPI_Gather)
ROOTED(ompi_gather_f, MPI_Gather)
WHOLE(mpi_allgather_, MPI_Allgather)
WHOLE(ompi_allgather_f, MPI_Allgather)
WHOLE(mpi_alltoall_, MPI_Alltoall)
WHOLE(ompi_alltoall_f, MPI_Alltoall)
REDUCE(mpi_reduce_)
REDUCE(ompi_reduce_f)
REDUCED(mpi_allreduce_, MPI_Allreduce, *count)
REDUCED(ompi_allreduce_f, MPI_Allreduce, *count)
REDUCED(mpi_reduce_scatter_block_, MPI_Reduce_scatter_block, *count)
REDUCED(ompi_reduce_scatter_block_f, MPI_Reduce_scatter_block, *count)
REDUCED(mpi_reduce_scatter_, MPI_Reduce_scatter, (const int *)count)
REDUCED(ompi_reduce_scatter_f, MPI_Reduce_scatter, (const int *)count)
REDUCED(mpi_scan_, MPI_Scan, *count)
REDUCED(ompi_scan_f, MPI_Scan, *count)
REDUCED(mpi_exscan_, MPI_Exscan, *count)
REDUCED(ompi_exscan_f, MPI_Exscan, *count)
