/*
 * Entry points of Fortran. Open MPI's own call PMPI_ functions, so nothing above sees them; f08 modules call
 * those named ompi_. Creation is the library's, with its treatment of Fortran's constants; calls on
 * communicators without plans are, too.
 */
#include "shim.h"

#include <dlfcn.h>
#include <string.h>

/* Addresses that stand for MPI_BOTTOM: a common block of Open MPI, a variable of MPICH. */
static void *buffer_of(void *given) {
  static void *common, **variable;
  static int is_looked_up;
  if (!is_looked_up) {
    common = dlsym(RTLD_DEFAULT, "mpi_fortran_bottom_");
    variable = dlsym(RTLD_DEFAULT, "MPIR_F_MPI_BOTTOM");
    is_looked_up = 1;
  }
  return given == common || (variable != NULL && given == *variable) ? MPI_BOTTOM : given;
}

static int is_planned(const MPI_Fint *comm) {
  return sizeof(MPI_Fint) == sizeof(int) && rw_state_of(MPI_Comm_f2c(*comm)) != NULL;
}

static void attach(const MPI_Fint *comm, int is_off, MPI_Fint *code) {
  if (*code != MPI_SUCCESS) return;
  int own = rw_state_attach(MPI_Comm_f2c(*comm), is_off);
  if (own != MPI_SUCCESS) *code = rw_raise(MPI_Comm_f2c(*comm), own);
}

/* The library's function of a name. */
static void find(void *function, const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  memcpy(function, &found, sizeof found);
}

#define CALL(name, parameters, arguments, planned)              \
  RW_EXPORT void name parameters;                               \
  void name parameters {                                        \
    static void(*library) parameters;                           \
    if (is_planned(comm)) {                                     \
      *code = planned;                                          \
      return;                                                   \
    }                                                           \
    if (library == NULL) find(&library, #name);                 \
    if (library != NULL) library arguments;                     \
    else *code = MPI_ERR_INTERN;                                \
  }

#define TYPE(type) MPI_Type_f2c(*type)

#define ALLGATHER(name)                                                                                               \
  CALL(name,                                                                                                          \
       (void *from, MPI_Fint *sent, MPI_Fint *send_type, void *to, MPI_Fint *received, MPI_Fint *receive_type,        \
        MPI_Fint *comm, MPI_Fint *code),                                                                              \
       (from, sent, send_type, to, received, receive_type, comm, code),                                               \
       MPI_Neighbor_allgather(buffer_of(from), *sent, TYPE(send_type), buffer_of(to), *received, TYPE(receive_type),  \
                              MPI_Comm_f2c(*comm)))

#define ALLTOALL(name)                                                                                                \
  CALL(name,                                                                                                          \
       (void *from, MPI_Fint *sent, MPI_Fint *send_type, void *to, MPI_Fint *received, MPI_Fint *receive_type,        \
        MPI_Fint *comm, MPI_Fint *code),                                                                              \
       (from, sent, send_type, to, received, receive_type, comm, code),                                               \
       MPI_Neighbor_alltoall(buffer_of(from), *sent, TYPE(send_type), buffer_of(to), *received, TYPE(receive_type),   \
                             MPI_Comm_f2c(*comm)))

#define ALLGATHERV(name)                                                                                              \
  CALL(name,                                                                                                          \
       (void *from, MPI_Fint *sent, MPI_Fint *send_type, void *to, MPI_Fint *received, MPI_Fint *places,              \
        MPI_Fint *receive_type, MPI_Fint *comm, MPI_Fint *code),                                                      \
       (from, sent, send_type, to, received, places, receive_type, comm, code),                                       \
       MPI_Neighbor_allgatherv(buffer_of(from), *sent, TYPE(send_type), buffer_of(to), (const int *)received,         \
                               (const int *)places, TYPE(receive_type), MPI_Comm_f2c(*comm)))

#define ALLTOALLV(name)                                                                                               \
  CALL(name,                                                                                                          \
       (void *from, MPI_Fint *sent, MPI_Fint *send_places, MPI_Fint *send_type, void *to, MPI_Fint *received,         \
        MPI_Fint *places, MPI_Fint *receive_type, MPI_Fint *comm, MPI_Fint *code),                                    \
       (from, sent, send_places, send_type, to, received, places, receive_type, comm, code),                          \
       MPI_Neighbor_alltoallv(buffer_of(from), (const int *)sent, (const int *)send_places, TYPE(send_type),          \
                              buffer_of(to), (const int *)received, (const int *)places, TYPE(receive_type),          \
                              MPI_Comm_f2c(*comm)))

ALLGATHER(mpi_neighbor_allgather_)
ALLGATHER(ompi_neighbor_allgather_f)
ALLGATHERV(mpi_neighbor_allgatherv_)
ALLGATHERV(ompi_neighbor_allgatherv_f)
ALLTOALL(mpi_neighbor_alltoall_)
ALLTOALL(ompi_neighbor_alltoall_f)
ALLTOALLV(mpi_neighbor_alltoallv_)
ALLTOALLV(ompi_neighbor_alltoallv_f)

#define CREATE(name, parameters, arguments, is_off)             \
  RW_EXPORT void name parameters;                               \
  void name parameters {                                        \
    static void(*library) parameters;                           \
    if (library == NULL) find(&library, #name);                 \
    if (library == NULL) {                                      \
      *code = MPI_ERR_INTERN;                                   \
      return;                                                   \
    }                                                           \
    library arguments;                                          \
    attach(comm, is_off, code);                                 \
  }

#define ADJACENT(name)                                                                                                \
  CREATE(name,                                                                                                        \
         (MPI_Fint *old, MPI_Fint *in, MPI_Fint *sources, MPI_Fint *in_weights, MPI_Fint *out, MPI_Fint *destinations,\
          MPI_Fint *out_weights, MPI_Fint *info, MPI_Fint *reorder, MPI_Fint *comm, MPI_Fint *code),                  \
         (old, in, sources, in_weights, out, destinations, out_weights, info, reorder, comm, code),                  \
         rw_info_is_off(MPI_Info_f2c(*info)))

#define GRAPH(name)                                                                                                   \
  CREATE(name,                                                                                                        \
         (MPI_Fint *old, MPI_Fint *count, MPI_Fint *sources, MPI_Fint *degrees, MPI_Fint *destinations,               \
          MPI_Fint *weights, MPI_Fint *info, MPI_Fint *reorder, MPI_Fint *comm, MPI_Fint *code),                      \
         (old, count, sources, degrees, destinations, weights, info, reorder, comm, code),                  \
         rw_info_is_off(MPI_Info_f2c(*info)))

#define CART(name)                                                                                                    \
  CREATE(name,                                                                                                        \
         (MPI_Fint *old, MPI_Fint *dimensions, MPI_Fint *extents, MPI_Fint *periods, MPI_Fint *reorder,               \
          MPI_Fint *comm, MPI_Fint *code),                                                                            \
         (old, dimensions, extents, periods, reorder, comm, code), 0)

ADJACENT(mpi_dist_graph_create_adjacent_)
ADJACENT(ompi_dist_graph_create_adjacent_f)
ADJACENT(pmpi_dist_graph_create_adjacent_)
GRAPH(mpi_dist_graph_create_)
GRAPH(ompi_dist_graph_create_f)
GRAPH(pmpi_dist_graph_create_)
CART(mpi_cart_create_)
CART(ompi_cart_create_f)
CART(pmpi_cart_create_)

#define SET_INFO(name)                                                     \
  RW_EXPORT void name(MPI_Fint *comm, MPI_Fint *info, MPI_Fint *code);     \
  void name(MPI_Fint *comm, MPI_Fint *info, MPI_Fint *code) {              \
    static void (*library)(MPI_Fint *, MPI_Fint *, MPI_Fint *);            \
    if (library == NULL) find(&library, #name);                            \
    if (library == NULL) {                                                 \
      *code = MPI_ERR_INTERN;                                              \
      return;                                                              \
    }                                                                      \
    library(comm, info, code);                                             \
    if (*code != MPI_SUCCESS || !is_planned(comm)) return;                 \
    *code = rw_info_change(MPI_Comm_f2c(*comm), MPI_Info_f2c(*info));      \
    if (*code != MPI_SUCCESS) rw_raise(MPI_Comm_f2c(*comm), *code);        \
  }

SET_INFO(mpi_comm_set_info_)
SET_INFO(ompi_comm_set_info_f)
