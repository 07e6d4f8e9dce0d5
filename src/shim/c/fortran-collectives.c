/*
 * Entry points of Fortran of the collectives that this library may perform. Where it performs them, its function of C
 * does; else they are MPI's.
 */
#include "fortran.h"

#include <stdlib.h>

static int has_neighbors(const MPI_Fint *comm) {
  return RW_FORTRAN_HAS_INTS && (rw_repairs() || rw_state_is_there(RW_COMM));
}

/* The conditions under which a function of C performs calls. */
#define NEIGHBORS has_neighbors(comm)
#define TUNED RW_FORTRAN_HAS_INTS && (rw_tune_is_on() || rw_reproduces())
#define SPARSE RW_FORTRAN_HAS_INTS && rw_sparse_is_on()
#define REPRODUCED RW_FORTRAN_HAS_INTS && rw_reproduces()

#define INTS(list) (const int *)list

/* Shapes of functions: the parameters before the root and the communicator, as arguments, and as those of C. */
#define BLOCK_PARAMETERS void *to, MPI_Fint *count, MPI_Fint *type
#define BLOCK_ARGUMENTS to, count, type
#define BLOCK_VALUES RW_TO, *count, RW_TYPE(type)

#define EQUAL_PARAMETERS void *from, MPI_Fint *sent, MPI_Fint *send_type, void *to, MPI_Fint *received, MPI_Fint *type
#define EQUAL_ARGUMENTS from, sent, send_type, to, received, type
#define EQUAL_VALUES RW_FROM, *sent, RW_TYPE(send_type), RW_TO, *received, RW_TYPE(type)

#define GATHERV_PARAMETERS                                                                                         \
  void *from, MPI_Fint *sent, MPI_Fint *send_type, void *to, MPI_Fint *received, MPI_Fint *places, MPI_Fint *type
#define GATHERV_ARGUMENTS from, sent, send_type, to, received, places, type
#define GATHERV_VALUES RW_FROM, *sent, RW_TYPE(send_type), RW_TO, INTS(received), INTS(places), RW_TYPE(type)

#define ALLTOALLV_PARAMETERS                                                                                       \
  void *from, MPI_Fint *sent, MPI_Fint *send_places, MPI_Fint *send_type, void *to, MPI_Fint *received,            \
      MPI_Fint *places, MPI_Fint *type
#define ALLTOALLV_ARGUMENTS from, sent, send_places, send_type, to, received, places, type
#define ALLTOALLV_VALUES                                                                                           \
  RW_FROM, INTS(sent), INTS(send_places), RW_TYPE(send_type), RW_TO, INTS(received), INTS(places), RW_TYPE(type)

#define ALLTOALLW_PARAMETERS ALLTOALLV_PARAMETERS
#define ALLTOALLW_ARGUMENTS ALLTOALLV_ARGUMENTS
#define ALLTOALLW_VALUES RW_FROM, INTS(sent), INTS(send_places), send_type, RW_TO, INTS(received), INTS(places), type

#define REDUCED_PARAMETERS void *from, void *to, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op
#define REDUCED_ARGUMENTS from, to, count, type, op
#define REDUCED_VALUES RW_FROM, RW_TO, *count, RW_TYPE(type), MPI_Op_f2c(*op)

#define SCATTERED_PARAMETERS REDUCED_PARAMETERS
#define SCATTERED_ARGUMENTS REDUCED_ARGUMENTS
#define SCATTERED_VALUES RW_FROM, RW_TO, INTS(count), RW_TYPE(type), MPI_Op_f2c(*op)

#define SERVED(entries, name, parameters, arguments, condition, own) \
  entries(name, parameters, {                                        \
    if (condition) *code = own;                                      \
    else library arguments;                                          \
  })

/* A function that hands out a request: `own` makes it. */
#define REQUESTED(entries, name, parameters, arguments, condition, own) \
  entries(name, parameters, {                                           \
    if (condition) {                                                    \
      MPI_Request made = MPI_REQUEST_NULL;                              \
      *code = own;                                                      \
      if (*code == MPI_SUCCESS) *request = MPI_Request_c2f(made);       \
    } else library arguments;                                           \
  })

#define CALL(name, shape, condition, function)                                              \
  SERVED(RW_ENTRIES, name, (shape##_PARAMETERS, MPI_Fint *comm, MPI_Fint *code),            \
         (shape##_ARGUMENTS, comm, code), condition, function(shape##_VALUES, RW_COMM))
#define ROOTED(name, shape, condition, function)                                                       \
  SERVED(RW_ENTRIES, name, (shape##_PARAMETERS, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *code),       \
         (shape##_ARGUMENTS, root, comm, code), condition, function(shape##_VALUES, *root, RW_COMM))
#define START(name, shape, condition, function)                                                        \
  REQUESTED(RW_ENTRIES, name, (shape##_PARAMETERS, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *code), \
            (shape##_ARGUMENTS, comm, request, code), condition, function(shape##_VALUES, RW_COMM, &made))

CALL(neighbor_allgather, EQUAL, NEIGHBORS, MPI_Neighbor_allgather)
CALL(neighbor_allgatherv, GATHERV, NEIGHBORS, MPI_Neighbor_allgatherv)
CALL(neighbor_alltoall, EQUAL, NEIGHBORS, MPI_Neighbor_alltoall)
CALL(neighbor_alltoallv, ALLTOALLV, NEIGHBORS, MPI_Neighbor_alltoallv)
START(ineighbor_allgather, EQUAL, NEIGHBORS, MPI_Ineighbor_allgather)
START(ineighbor_allgatherv, GATHERV, NEIGHBORS, MPI_Ineighbor_allgatherv)
START(ineighbor_alltoall, EQUAL, NEIGHBORS, MPI_Ineighbor_alltoall)
START(ineighbor_alltoallv, ALLTOALLV, NEIGHBORS, MPI_Ineighbor_alltoallv)

SERVED(RW_ENTRIES, barrier, (MPI_Fint * comm, MPI_Fint *code), (comm, code), TUNED, MPI_Barrier(RW_COMM))
ROOTED(bcast, BLOCK, TUNED, MPI_Bcast)
ROOTED(scatter, EQUAL, TUNED, MPI_Scatter)
ROOTED(gather, EQUAL, TUNED, MPI_Gather)
CALL(allgather, EQUAL, TUNED, MPI_Allgather)
CALL(alltoall, EQUAL, TUNED, MPI_Alltoall)
ROOTED(reduce, REDUCED, TUNED, MPI_Reduce)
CALL(allreduce, REDUCED, TUNED, MPI_Allreduce)
CALL(reduce_scatter_block, REDUCED, TUNED, MPI_Reduce_scatter_block)
CALL(reduce_scatter, SCATTERED, TUNED, MPI_Reduce_scatter)
CALL(scan, REDUCED, TUNED, MPI_Scan)
CALL(exscan, REDUCED, TUNED, MPI_Exscan)

/* Converts datatypes; those of the sender are not read in place. */
static int exchange(void *from, const int *sent, const int *send_places, const MPI_Fint *send_types, void *to,
                    const int *received, const int *places, const MPI_Fint *types, MPI_Comm comm) {
  int ranks = 0, is_inter = 0;
  int code = PMPI_Comm_test_inter(comm, &is_inter);
  if (code == MPI_SUCCESS) code = is_inter ? PMPI_Comm_remote_size(comm, &ranks) : PMPI_Comm_size(comm, &ranks);
  if (code != MPI_SUCCESS) return code;
  MPI_Datatype *converted = malloc(2 * (size_t)ranks * sizeof *converted);
  if (converted == NULL) return rw_raise_alone(comm, MPI_ERR_NO_MEM);
  for (int r = 0; r < ranks; r++) {
    converted[r] = from == MPI_IN_PLACE ? MPI_DATATYPE_NULL : MPI_Type_f2c(send_types[r]);
    converted[ranks + r] = MPI_Type_f2c(types[r]);
  }
  code = MPI_Alltoallw(from, sent, send_places, converted, to, received, places, converted + ranks, comm);
  free(converted);
  return code;
}

CALL(alltoallv, ALLTOALLV, SPARSE, MPI_Alltoallv)
CALL(alltoallw, ALLTOALLW, SPARSE, exchange)
START(ialltoallv, ALLTOALLV, SPARSE, MPI_Ialltoallv)

#ifdef OPEN_MPI

REQUESTED(RW_ENTRIES, ireduce,
          (REDUCED_PARAMETERS, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *code),
          (REDUCED_ARGUMENTS, root, comm, request, code), REPRODUCED, MPI_Ireduce(REDUCED_VALUES, *root, RW_COMM, &made))
START(iallreduce, REDUCED, REPRODUCED, MPI_Iallreduce)
START(ireduce_scatter_block, REDUCED, REPRODUCED, MPI_Ireduce_scatter_block)
START(ireduce_scatter, SCATTERED, REPRODUCED, MPI_Ireduce_scatter)
START(iscan, REDUCED, REPRODUCED, MPI_Iscan)
START(iexscan, REDUCED, REPRODUCED, MPI_Iexscan)

/* Persistent requests are an extension of Open MPI 4. */
#define EXTENSION(shape, condition, name, function, types)                                                          \
  RW_EXPORT int function types;                                                                                     \
  REQUESTED(RW_EXTENSION_ENTRIES, name,                                                                             \
            (shape##_PARAMETERS, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *code),                \
            (shape##_ARGUMENTS, comm, info, request, code), condition,                                              \
            function(shape##_VALUES, RW_COMM, MPI_Info_f2c(*info), &made))
#define EQUAL_TYPES (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *)
#define GATHERV_TYPES                                                                                               \
  (const void *, int, MPI_Datatype, void *, const int[], const int[], MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *)
#define ALLTOALLV_TYPES                                                                                             \
  (const void *, const int[], const int[], MPI_Datatype, void *, const int[], const int[], MPI_Datatype, MPI_Comm,  \
   MPI_Info, MPI_Request *)
#define REDUCED_TYPES (const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request *)
#define SCATTERED_TYPES (const void *, void *, const int[], MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request *)

EXTENSION(EQUAL, NEIGHBORS, neighbor_allgather_init, MPIX_Neighbor_allgather_init, EQUAL_TYPES)
EXTENSION(GATHERV, NEIGHBORS, neighbor_allgatherv_init, MPIX_Neighbor_allgatherv_init, GATHERV_TYPES)
EXTENSION(EQUAL, NEIGHBORS, neighbor_alltoall_init, MPIX_Neighbor_alltoall_init, EQUAL_TYPES)
EXTENSION(ALLTOALLV, NEIGHBORS, neighbor_alltoallv_init, MPIX_Neighbor_alltoallv_init, ALLTOALLV_TYPES)
EXTENSION(REDUCED, REPRODUCED, allreduce_init, MPIX_Allreduce_init, REDUCED_TYPES)
EXTENSION(REDUCED, REPRODUCED, reduce_scatter_block_init, MPIX_Reduce_scatter_block_init, REDUCED_TYPES)
EXTENSION(SCATTERED, REPRODUCED, reduce_scatter_init, MPIX_Reduce_scatter_init, SCATTERED_TYPES)
EXTENSION(REDUCED, REPRODUCED, scan_init, MPIX_Scan_init, REDUCED_TYPES)
EXTENSION(REDUCED, REPRODUCED, exscan_init, MPIX_Exscan_init, REDUCED_TYPES)

RW_EXPORT int MPIX_Reduce_init(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm, MPI_Info, MPI_Request *);
REQUESTED(RW_EXTENSION_ENTRIES, reduce_init,
          (REDUCED_PARAMETERS, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *code),
          (REDUCED_ARGUMENTS, root, comm, info, request, code), REPRODUCED,
          MPIX_Reduce_init(REDUCED_VALUES, *root, RW_COMM, MPI_Info_f2c(*info), &made))

#endif
