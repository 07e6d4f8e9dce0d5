/*
 * Entry points of Fortran. Open MPI's own call PMPI_ functions, so nothing above sees them; f08 modules call those
 * named ompi_. The library creates communicators, because it treats Fortran's constants; it also performs calls on
 * communicators without plans.
 */
#include "shim.h"

#include <dlfcn.h>
#include <string.h>

/* An address that stands for a constant: a common block of Open MPI, a variable of MPICH. */
typedef struct {
  void *common, **variable;
} constant;

static int is_constant(const constant *c, const void *given) {
  return (c->common != NULL && given == c->common) || (c->variable != NULL && given == *c->variable);
}

static void *buffer_of(void *given) {
  static constant bottom, in_place;
  static int is_looked_up;
  if (!is_looked_up) {
    bottom = (constant){dlsym(RTLD_DEFAULT, "mpi_fortran_bottom_"), dlsym(RTLD_DEFAULT, "MPIR_F_MPI_BOTTOM")};
    in_place = (constant){dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_"), dlsym(RTLD_DEFAULT, "MPIR_F_MPI_IN_PLACE")};
    is_looked_up = 1;
  }
  return is_constant(&bottom, given) ? MPI_BOTTOM : is_constant(&in_place, given) ? MPI_IN_PLACE : given;
}

void *rw_fortran_buffer(void *given) { return buffer_of(given); }

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
  return *reorder != 0 && sizeof(MPI_Fint) == sizeof(int) && rw_reorder_serves(MPI_Comm_f2c(*old));
}

static int is_planned(const MPI_Fint *comm) {
  return sizeof(MPI_Fint) == sizeof(int) && rw_state_of(MPI_Comm_f2c(*comm)) != NULL;
}

/* Returns whether the library's C function makes the call. */
static int is_served(const MPI_Fint *comm) { return is_planned(comm) || (sizeof(MPI_Fint) == sizeof(int) && rw_repairs()); }

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
  if (own != MPI_SUCCESS) *code = rw_raise(MPI_Comm_f2c(*comm), own);
}

/* Finds the library's function of a name. */
static void find(void *function, const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  memcpy(function, &found, sizeof found);
}

void rw_fortran_find(void *function, const char *name) { find(function, name); }

#define CALL(name, parameters, arguments, planned)              \
  RW_EXPORT void name parameters;                               \
  void name parameters {                                        \
    static void(*library) parameters;                           \
    if (is_served(comm)) {                                      \
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

/* Converts a request to Fortran's number. */
static int handed_out(int code, MPI_Request made, MPI_Fint *request) {
  if (code == MPI_SUCCESS) *request = MPI_Request_c2f(made);
  return code;
}

#define START(name, parameters, arguments, planned)             \
  RW_EXPORT void name parameters;                               \
  void name parameters {                                        \
    static void(*library) parameters;                           \
    if (is_served(comm)) {                                      \
      MPI_Request made = MPI_REQUEST_NULL;                      \
      int own = planned;                                        \
      *code = handed_out(own, made, request);                   \
      return;                                                   \
    }                                                           \
    if (library == NULL) find(&library, #name);                 \
    if (library != NULL) library arguments;                     \
    else *code = MPI_ERR_INTERN;                                \
  }

#define START_EQUAL(name, function)                                                                                   \
  START(name,                                                                                                         \
        (void *from, MPI_Fint *sent, MPI_Fint *send_type, void *to, MPI_Fint *received, MPI_Fint *receive_type,       \
         MPI_Fint *comm, MPI_Fint *request, MPI_Fint *code),                                                          \
        (from, sent, send_type, to, received, receive_type, comm, request, code),                                     \
        function(buffer_of(from), *sent, TYPE(send_type), buffer_of(to), *received, TYPE(receive_type),               \
                 MPI_Comm_f2c(*comm), &made))

#define START_ALLGATHERV(name)                                                                                        \
  START(name,                                                                                                         \
        (void *from, MPI_Fint *sent, MPI_Fint *send_type, void *to, MPI_Fint *received, MPI_Fint *places,             \
         MPI_Fint *receive_type, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *code),                                  \
        (from, sent, send_type, to, received, places, receive_type, comm, request, code),                             \
        MPI_Ineighbor_allgatherv(buffer_of(from), *sent, TYPE(send_type), buffer_of(to), (const int *)received,       \
                                 (const int *)places, TYPE(receive_type), MPI_Comm_f2c(*comm), &made))

#define START_ALLTOALLV(name)                                                                                         \
  START(name,                                                                                                         \
        (void *from, MPI_Fint *sent, MPI_Fint *send_places, MPI_Fint *send_type, void *to, MPI_Fint *received,        \
         MPI_Fint *places, MPI_Fint *receive_type, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *code),                \
        (from, sent, send_places, send_type, to, received, places, receive_type, comm, request, code),                \
        MPI_Ineighbor_alltoallv(buffer_of(from), (const int *)sent, (const int *)send_places, TYPE(send_type),        \
                                buffer_of(to), (const int *)received, (const int *)places, TYPE(receive_type),        \
                                MPI_Comm_f2c(*comm), &made))

START_EQUAL(mpi_ineighbor_allgather_, MPI_Ineighbor_allgather)
START_EQUAL(ompi_ineighbor_allgather_f, MPI_Ineighbor_allgather)
START_EQUAL(mpi_ineighbor_alltoall_, MPI_Ineighbor_alltoall)
START_EQUAL(ompi_ineighbor_alltoall_f, MPI_Ineighbor_alltoall)
START_ALLGATHERV(mpi_ineighbor_allgatherv_)
START_ALLGATHERV(ompi_ineighbor_allgatherv_f)
START_ALLTOALLV(mpi_ineighbor_alltoallv_)
START_ALLTOALLV(ompi_ineighbor_alltoallv_f)

/* Open MPI's persistent requests, made in C or here, are started and freed through this library. */
#ifdef OPEN_MPI

#define ON_REQUEST(name, function)                              \
  RW_EXPORT void name(MPI_Fint *request, MPI_Fint *code);       \
  void name(MPI_Fint *request, MPI_Fint *code) {                \
    MPI_Request own = MPI_Request_f2c(*request);                \
    *code = function(&own);                                     \
    if (*code == MPI_SUCCESS) *request = MPI_Request_c2f(own);  \
  }

#define STARTALL(name)                                                                    \
  RW_EXPORT void name(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *code);               \
  void name(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *code) {                        \
    *code = MPI_SUCCESS;                                                                  \
    for (MPI_Fint i = 0; *code == MPI_SUCCESS && i < *count; i++) {                       \
      MPI_Request own = MPI_Request_f2c(requests[i]);                                     \
      *code = MPI_Start(&own);                                                            \
      if (*code == MPI_SUCCESS) requests[i] = MPI_Request_c2f(own);                       \
    }                                                                                     \
  }

#define INIT_EQUAL(name, function)                                                                                    \
  RW_EXPORT int function(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *);\
  START(name,                                                                                                         \
        (void *from, MPI_Fint *sent, MPI_Fint *send_type, void *to, MPI_Fint *received, MPI_Fint *receive_type,       \
         MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *code),                                          \
        (from, sent, send_type, to, received, receive_type, comm, info, request, code),                               \
        function(buffer_of(from), *sent, TYPE(send_type), buffer_of(to), *received, TYPE(receive_type),               \
                 MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &made))

#define INIT_ALLGATHERV(name)                                                                                         \
  START(name,                                                                                                         \
        (void *from, MPI_Fint *sent, MPI_Fint *send_type, void *to, MPI_Fint *received, MPI_Fint *places,             \
         MPI_Fint *receive_type, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request, MPI_Fint *code),                  \
        (from, sent, send_type, to, received, places, receive_type, comm, info, request, code),                       \
        MPIX_Neighbor_allgatherv_init(buffer_of(from), *sent, TYPE(send_type), buffer_of(to), (const int *)received,  \
                                      (const int *)places, TYPE(receive_type), MPI_Comm_f2c(*comm),                   \
                                      MPI_Info_f2c(*info), &made))

#define INIT_ALLTOALLV(name)                                                                                          \
  START(name,                                                                                                         \
        (void *from, MPI_Fint *sent, MPI_Fint *send_places, MPI_Fint *send_type, void *to, MPI_Fint *received,        \
         MPI_Fint *places, MPI_Fint *receive_type, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request,                 \
         MPI_Fint *code),                                                                                             \
        (from, sent, send_places, send_type, to, received, places, receive_type, comm, info, request, code),          \
        MPIX_Neighbor_alltoallv_init(buffer_of(from), (const int *)sent, (const int *)send_places, TYPE(send_type),   \
                                     buffer_of(to), (const int *)received, (const int *)places, TYPE(receive_type),   \
                                     MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &made))

int MPIX_Neighbor_allgatherv_init(const void *, int, MPI_Datatype, void *, const int[], const int[], MPI_Datatype,
                                  MPI_Comm, MPI_Info, MPI_Request *);
int MPIX_Neighbor_alltoallv_init(const void *, const int[], const int[], MPI_Datatype, void *, const int[], const int[],
                                 MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *);

INIT_EQUAL(mpix_neighbor_allgather_init_, MPIX_Neighbor_allgather_init)
INIT_EQUAL(ompix_neighbor_allgather_init_f, MPIX_Neighbor_allgather_init)
INIT_EQUAL(mpix_neighbor_alltoall_init_, MPIX_Neighbor_alltoall_init)
INIT_EQUAL(ompix_neighbor_alltoall_init_f, MPIX_Neighbor_alltoall_init)
INIT_ALLGATHERV(mpix_neighbor_allgatherv_init_)
INIT_ALLGATHERV(ompix_neighbor_allgatherv_init_f)
INIT_ALLTOALLV(mpix_neighbor_alltoallv_init_)
INIT_ALLTOALLV(ompix_neighbor_alltoallv_init_f)

ON_REQUEST(mpi_start_, MPI_Start)
ON_REQUEST(ompi_start_f, MPI_Start)
ON_REQUEST(mpi_request_free_, MPI_Request_free)
ON_REQUEST(ompi_request_free_f, MPI_Request_free)
STARTALL(mpi_startall_)
STARTALL(ompi_startall_f)

#endif

#define CREATE(name, parameters, arguments, is_off, placed)     \
  RW_EXPORT void name parameters;                               \
  void name parameters {                                        \
    static void(*library) parameters;                           \
    if (places_ranks(old, reorder)) {                           \
      MPI_Comm made = MPI_COMM_NULL;                            \
      *code = placed;                                           \
      if (*code == MPI_SUCCESS) *comm = MPI_Comm_c2f(made);     \
      return;                                                   \
    }                                                           \
    if (library == NULL) find(&library, #name);                 \
    if (library == NULL) {                                      \
      *code = MPI_ERR_INTERN;                                   \
      return;                                                   \
    }                                                           \
    library arguments;                                          \
    attach(old, comm, is_off, code);                            \
  }

#define ADJACENT(name)                                                                                                \
  CREATE(name,                                                                                                        \
         (MPI_Fint *old, MPI_Fint *in, MPI_Fint *sources, MPI_Fint *in_weights, MPI_Fint *out, MPI_Fint *destinations,\
          MPI_Fint *out_weights, MPI_Fint *info, MPI_Fint *reorder, MPI_Fint *comm, MPI_Fint *code),                  \
         (old, in, sources, in_weights, out, destinations, out_weights, info, reorder, comm, code),                   \
         rw_info_is_off(MPI_Info_f2c(*info)),                                                                         \
         MPI_Dist_graph_create_adjacent(MPI_Comm_f2c(*old), *in, (const int *)sources, weights_of(in_weights), *out,  \
                                        (const int *)destinations, weights_of(out_weights), MPI_Info_f2c(*info), 1,   \
                                        &made))

#define GRAPH(name)                                                                                                   \
  CREATE(name,                                                                                                        \
         (MPI_Fint *old, MPI_Fint *count, MPI_Fint *sources, MPI_Fint *degrees, MPI_Fint *destinations,               \
          MPI_Fint *weights, MPI_Fint *info, MPI_Fint *reorder, MPI_Fint *comm, MPI_Fint *code),                      \
         (old, count, sources, degrees, destinations, weights, info, reorder, comm, code),                            \
         rw_info_is_off(MPI_Info_f2c(*info)),                                                                         \
         MPI_Dist_graph_create(MPI_Comm_f2c(*old), *count, (const int *)sources, (const int *)degrees,                \
                               (const int *)destinations, weights_of(weights), MPI_Info_f2c(*info), 1, &made))

#define CART(name)                                                                                                    \
  CREATE(name,                                                                                                        \
         (MPI_Fint *old, MPI_Fint *dimensions, MPI_Fint *extents, MPI_Fint *periods, MPI_Fint *reorder,               \
          MPI_Fint *comm, MPI_Fint *code),                                                                            \
         (old, dimensions, extents, periods, reorder, comm, code), 0,                                                 \
         MPI_Cart_create(MPI_Comm_f2c(*old), *dimensions, (const int *)extents, (const int *)periods, 1, &made))

ADJACENT(mpi_dist_graph_create_adjacent_)
ADJACENT(ompi_dist_graph_create_adjacent_f)
ADJACENT(pmpi_dist_graph_create_adjacent_)
GRAPH(mpi_dist_graph_create_)
GRAPH(ompi_dist_graph_create_f)
GRAPH(pmpi_dist_graph_create_)
CART(mpi_cart_create_)
CART(ompi_cart_create_f)
CART(pmpi_cart_create_)

/* MPI's own entry point may call PMPI_Init, which bypasses the C function. */
#define INIT(name, parameters, arguments)                       \
  RW_EXPORT void name parameters;                               \
  void name parameters {                                        \
    static void(*library) parameters;                           \
    if (library == NULL) find(&library, #name);                 \
    if (library == NULL) {                                      \
      *code = MPI_ERR_INTERN;                                   \
      return;                                                   \
    }                                                           \
    rw_tune_library_before();                                   \
    library arguments;                                          \
    if (*code == MPI_SUCCESS) rw_arena_make();                  \
  }

INIT(mpi_init_, (MPI_Fint *code), (code))
INIT(ompi_init_f, (MPI_Fint *code), (code))
INIT(mpi_init_thread_, (MPI_Fint *required, MPI_Fint *provided, MPI_Fint *code), (required, provided, code))
INIT(ompi_init_thread_f, (MPI_Fint *required, MPI_Fint *provided, MPI_Fint *code), (required, provided, code))

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
