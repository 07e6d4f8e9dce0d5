/*
 * Entry points of Fortran that begin MPI, create communicators and start requests. MPI's own create communicators,
 * because they convert Fortran's constants.
 */
#include "fortran.h"

#include <dlfcn.h>
#include <string.h>

/* An address that stands for a constant: a common block of Open MPI, a variable of MPICH. */
typedef struct {
  void *common, **variable;
} constant;

static int is_constant(const constant *c, const void *given) {
  return (c->common != NULL && given == c->common) || (c->variable != NULL && given == *c->variable);
}

void *rw_fortran_buffer(void *given) {
  static constant bottom, in_place;
  static int is_looked_up;
  if (!is_looked_up) {
    bottom = (constant){dlsym(RTLD_DEFAULT, "mpi_fortran_bottom_"), dlsym(RTLD_DEFAULT, "MPIR_F_MPI_BOTTOM")};
    in_place = (constant){dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_"), dlsym(RTLD_DEFAULT, "MPIR_F_MPI_IN_PLACE")};
    is_looked_up = 1;
  }
  return is_constant(&bottom, given) ? MPI_BOTTOM : is_constant(&in_place, given) ? MPI_IN_PLACE : given;
}

static const int *weights_of(MPI_Fint *given) {
  static constant unweighted, empty;
  static int is_looked_up;
  if (!is_looked_up) {
    unweighted = (constant){dlsym(RTLD_DEFAULT, "mpi_fortran_unweighted_"), dlsym(RTLD_DEFAULT, "MPIR_F_MPI_UNWEIGHTED")};
    empty = (constant){dlsym(RTLD_DEFAULT, "mpi_fortran_weights_empty_"), dlsym(RTLD_DEFAULT, "MPIR_F_MPI_WEIGHTS_EMPTY")};
    is_looked_up = 1;
  }
  return is_constant(&unweighted, given) ? MPI_UNWEIGHTED : is_constant(&empty, given) ? MPI_WEIGHTS_EMPTY : (const int *)given;
}

/* Returns whether the library's C function makes the topology: it places the ranks. Logical values are 0 if false. */
static int places_ranks(const MPI_Fint *old, const MPI_Fint *reorder) {
  return *reorder != 0 && RW_FORTRAN_HAS_INTS && rw_reorder_serves(MPI_Comm_f2c(*old));
}

static void attach(const MPI_Fint *old, const MPI_Fint *comm, int is_off, MPI_Fint *code) {
  if (*code != MPI_SUCCESS) return;
  MPI_Comm made = MPI_Comm_f2c(*comm);
  rw_matching_created(*code, &made);
#ifdef OPEN_MPI
  /* MPICH's constructor calls the C function, which has done so. */
  *code = rw_tune_created(MPI_Comm_f2c(*old), *code, made);
  if (*code != MPI_SUCCESS) return;
#endif
  int own = rw_state_attach(MPI_Comm_f2c(*old), made, is_off);
  if (own != MPI_SUCCESS) *code = rw_raise_alone(MPI_Comm_f2c(*comm), own);
}

/* Open MPI's persistent requests, made in C or here, are started and freed through this library. */
#ifdef OPEN_MPI

#define ON_REQUEST(name, function)                              \
  RW_ENTRIES(name, (MPI_Fint * request, MPI_Fint *code), {      \
    MPI_Request own = MPI_Request_f2c(*request);                \
    *code = function(&own);                                     \
    if (*code == MPI_SUCCESS) *request = MPI_Request_c2f(own);  \
  })

ON_REQUEST(start, MPI_Start)
ON_REQUEST(request_free, MPI_Request_free)

RW_ENTRIES(startall, (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *code), {
  *code = MPI_SUCCESS;
  for (MPI_Fint i = 0; *code == MPI_SUCCESS && i < *count; i++) {
    MPI_Request own = MPI_Request_f2c(requests[i]);
    *code = MPI_Start(&own);
    if (*code == MPI_SUCCESS) requests[i] = MPI_Request_c2f(own);
  }
})

#endif

#define CREATE(name, parameters, arguments, is_off, placed)    \
  RW_LOGICAL_ENTRIES(name, parameters, {                       \
    if (places_ranks(old, reorder)) {                          \
      MPI_Comm made = MPI_COMM_NULL;                           \
      *code = placed;                                          \
      if (*code == MPI_SUCCESS) *comm = MPI_Comm_c2f(made);    \
      return;                                                  \
    }                                                          \
    library arguments;                                         \
    attach(old, comm, is_off, code);                           \
  })

CREATE(dist_graph_create_adjacent,
       (MPI_Fint * old, MPI_Fint *in, MPI_Fint *sources, MPI_Fint *in_weights, MPI_Fint *out, MPI_Fint *destinations,
        MPI_Fint *out_weights, MPI_Fint *info, MPI_Fint *reorder, MPI_Fint *comm, MPI_Fint *code),
       (old, in, sources, in_weights, out, destinations, out_weights, info, reorder, comm, code),
       rw_info_is_off(MPI_Info_f2c(*info)),
       MPI_Dist_graph_create_adjacent(MPI_Comm_f2c(*old), *in, (const int *)sources, weights_of(in_weights), *out,
                                      (const int *)destinations, weights_of(out_weights), MPI_Info_f2c(*info), 1, &made))

CREATE(dist_graph_create,
       (MPI_Fint * old, MPI_Fint *count, MPI_Fint *sources, MPI_Fint *degrees, MPI_Fint *destinations, MPI_Fint *weights,
        MPI_Fint *info, MPI_Fint *reorder, MPI_Fint *comm, MPI_Fint *code),
       (old, count, sources, degrees, destinations, weights, info, reorder, comm, code),
       rw_info_is_off(MPI_Info_f2c(*info)),
       MPI_Dist_graph_create(MPI_Comm_f2c(*old), *count, (const int *)sources, (const int *)degrees,
                             (const int *)destinations, weights_of(weights), MPI_Info_f2c(*info), 1, &made))

CREATE(cart_create,
       (MPI_Fint * old, MPI_Fint *dimensions, MPI_Fint *extents, MPI_Fint *periods, MPI_Fint *reorder, MPI_Fint *comm,
        MPI_Fint *code),
       (old, dimensions, extents, periods, reorder, comm, code), 0,
       MPI_Cart_create(MPI_Comm_f2c(*old), *dimensions, (const int *)extents, (const int *)periods, 1, &made))

/* MPI's own entry point may call PMPI_Init, which bypasses the C function. */
#define INIT(name, parameters, arguments)         \
  RW_ENTRIES(name, parameters, {                  \
    rw_tune_library_before();                     \
    library arguments;                            \
    (void)rw_begun(*code);                        \
  })

INIT(init, (MPI_Fint *code), (code))
INIT(init_thread, (MPI_Fint * required, MPI_Fint *provided, MPI_Fint *code), (required, provided, code))

RW_ENTRIES(comm_set_info, (MPI_Fint * comm, MPI_Fint *info, MPI_Fint *code), {
  library(comm, info, code);
  if (*code != MPI_SUCCESS || !RW_FORTRAN_HAS_INTS || !rw_state_is_there(RW_COMM)) return;
  *code = rw_info_change(RW_COMM, MPI_Info_f2c(*info));
  if (*code != MPI_SUCCESS) rw_raise(RW_COMM, *code);
})
