/*
 * The entry points of Fortran, made of the table of functions. Those of Open MPI call PMPI_ functions, so that no
 * profiler of C sees them; those of MPICH call functions of C. Each function has three names: that of `mpif.h` and
 * `use mpi`, and two that `use mpi_f08` calls. All arguments are addresses.
 */
#include "profile.h"

#include <dlfcn.h>
#include <string.h>

#include "args.h"

#ifdef OPEN_MPI

const void *rw_fortran_buffer(const void *given) {
  static const void *in_place;
  static int is_looked_up;
  if (!is_looked_up) {
    in_place = dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_");
    is_looked_up = 1;
  }
  return in_place != NULL && given == in_place ? MPI_IN_PLACE : given;
}

static void find(void *function, const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  memcpy(function, &found, sizeof found);
}

#define MADE MPI_Request_f2c(*(const MPI_Fint *)f_request)
#define REQUEST(list, i) MPI_Request_f2c(((const MPI_Fint *)f_##list)[i])
#define TYPES(list) ((rw_types){.fortran = f_##list})
#define DECLARED(name) void *f_##name
#define NAMED(name) f_##name
#define LOCAL(name) RW_L_##name

#define FORTRAN(symbol, name, note, args)                                              \
  RW_EXPORT void symbol(RW_LIST(DECLARED, args), MPI_Fint *code);                      \
  void symbol(RW_LIST(DECLARED, args), MPI_Fint *code) {                               \
    static void (*next)(RW_LIST(DECLARED, args), MPI_Fint *);                          \
    if (next == NULL) find(&next, #symbol);                                            \
    if (next == NULL) {                                                                \
      *code = MPI_ERR_INTERN;                                                          \
      return;                                                                          \
    }                                                                                  \
    rw_thread *thread = rw_is_on ? rw_begin() : NULL;                                  \
    uint64_t began = thread == NULL ? 0 : rw_ticks();                                  \
    next(RW_LIST(NAMED, args), code);                                                  \
    if (thread == NULL) return;                                                        \
    rw_call call = rw_end(thread, RW_##name, began);                                   \
    (void)call;                                                                        \
    if (*code == MPI_SUCCESS) {                                                        \
      RW_ALL(LOCAL, args)                                                              \
      note;                                                                            \
    }                                                                                  \
    thread->is_inside = 0;                                                             \
  }

#define ENTRIES(name, lower, note, args)          \
  FORTRAN(mpi_##lower##_, name, note, args)       \
  FORTRAN(pmpi_##lower##_, name, note, args)      \
  FORTRAN(ompi_##lower##_f, name, note, args)

#pragma GCC diagnostic ignored "-Wunused-variable"
RW_IN_BOTH_LANGUAGES(ENTRIES)

#define HOOKED(symbol, before, after, parameters, arguments)   \
  RW_EXPORT void symbol parameters;                            \
  void symbol parameters {                                     \
    static void(*next) parameters;                             \
    if (next == NULL) find(&next, #symbol);                    \
    if (next == NULL) {                                        \
      *code = MPI_ERR_INTERN;                                  \
      return;                                                  \
    }                                                          \
    before;                                                    \
    next arguments;                                            \
    after;                                                     \
  }

#define BEGUN if (*code == MPI_SUCCESS) rw_initialized()
HOOKED(mpi_init_, RW_NOTHING, BEGUN, (MPI_Fint *code), (code))
HOOKED(ompi_init_f, RW_NOTHING, BEGUN, (MPI_Fint *code), (code))
HOOKED(mpi_init_thread_, RW_NOTHING, BEGUN, (MPI_Fint * required, MPI_Fint *provided, MPI_Fint *code), (required, provided, code))
HOOKED(ompi_init_thread_f, RW_NOTHING, BEGUN, (MPI_Fint * required, MPI_Fint *provided, MPI_Fint *code), (required, provided, code))
HOOKED(mpi_finalize_, rw_finalizing(), RW_NOTHING, (MPI_Fint *code), (code))
HOOKED(ompi_finalize_f, rw_finalizing(), RW_NOTHING, (MPI_Fint *code), (code))

#endif
