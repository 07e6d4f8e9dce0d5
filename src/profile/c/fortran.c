/*
 * The entry points of Fortran, made of the table of functions. Those of Open MPI call PMPI_ functions, so that no
 * profiler of C sees them: each function has a name for `mpif.h` and `use mpi`, and two that `use mpi_f08` calls. Those
 * of MPICH call functions of C, except those without a buffer behind `use mpi_f08`. All arguments are addresses; the
 * code may be missing.
 */
#include "profile.h"

#include <dlfcn.h>
#include <string.h>

#include "args.h"

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

static void fail(MPI_Fint *code) {
  if (code != NULL) *code = MPI_ERR_INTERN;
}

#define MADE MPI_Request_f2c(*(const MPI_Fint *)f_request)
#define REQUEST(list, i) MPI_Request_f2c(((const MPI_Fint *)f_##list)[i])
#define TYPES(list) ((rw_types){.fortran = f_##list})
#define DECLARED(name) void *f_##name
#define NAMED(name) f_##name
#define LOCAL(name) RW_L_##name

/* Where Fortran has other integers than C, calls are only timed. */
enum { HAS_INTS = sizeof(MPI_Fint) == sizeof(int) };

/* The call of a function by any of its names; `next` is MPI's function of the same name. */
#define BODY(name, note, args)                                                         \
  static void call_##name(void (*next)(RW_LIST(DECLARED, args), MPI_Fint *), RW_LIST(DECLARED, args), MPI_Fint *code) { \
    if (next == NULL) return fail(code);                                               \
    rw_thread *thread = rw_is_on ? rw_begin() : NULL;                                  \
    uint64_t began = thread == NULL ? 0 : rw_ticks();                                  \
    next(RW_LIST(NAMED, args), code);                                                  \
    if (thread == NULL) return;                                                        \
    rw_call call = rw_end(thread, RW_##name, began);                                   \
    (void)call;                                                                        \
    if (HAS_INTS && (code == NULL || *code == MPI_SUCCESS)) {                          \
      RW_ALL(LOCAL, args)                                                              \
      note;                                                                            \
    }                                                                                  \
    thread->is_inside = 0;                                                             \
  }

#define ENTRY(symbol, name, args)                                                      \
  RW_EXPORT void symbol(RW_LIST(DECLARED, args), MPI_Fint *code);                      \
  void symbol(RW_LIST(DECLARED, args), MPI_Fint *code) {                               \
    static void (*next)(RW_LIST(DECLARED, args), MPI_Fint *);                          \
    if (next == NULL) find(&next, #symbol);                                            \
    call_##name(next, RW_LIST(NAMED, args), code);                                     \
  }

#ifdef OPEN_MPI
#define ENTRIES(name, lower, note, args)          \
  BODY(name, note, args)                          \
  ENTRY(mpi_##lower##_, name, args)               \
  ENTRY(pmpi_##lower##_, name, args)              \
  ENTRY(ompi_##lower##_f, name, args)
#else
#define ENTRIES(name, lower, note, args)          \
  BODY(name, note, args)                          \
  ENTRY(mpi_##lower##_f08_, name, args)
#endif

/* A macro declares all arguments of a function, and what is noted uses some. */
#pragma GCC diagnostic ignored "-Wunused-variable"
RW_IN_BOTH_LANGUAGES(ENTRIES)

#define HOOKED(symbol, before, after, parameters, arguments)   \
  RW_EXPORT void symbol parameters;                            \
  void symbol parameters {                                     \
    static void(*next) parameters;                             \
    if (next == NULL) find(&next, #symbol);                    \
    if (next == NULL) return fail(code);         \
    before;                                                    \
    next arguments;                                            \
    after;                                                     \
  }

#define BEGUN if (code == NULL || *code == MPI_SUCCESS) rw_initialized()
#define HOOKS(init, init_thread, finalize)                                                                                 \
  HOOKED(init, RW_NOTHING, BEGUN, (MPI_Fint * code), (code))                                                               \
  HOOKED(init_thread, RW_NOTHING, BEGUN, (MPI_Fint * required, MPI_Fint *provided, MPI_Fint *code), (required, provided, code)) \
  HOOKED(finalize, rw_finalizing(), RW_NOTHING, (MPI_Fint * code), (code))

#ifdef OPEN_MPI
HOOKS(mpi_init_, mpi_init_thread_, mpi_finalize_)
HOOKS(ompi_init_f, ompi_init_thread_f, ompi_finalize_f)
#else
HOOKS(mpi_init_f08_, mpi_init_thread_f08_, mpi_finalize_f08_)
#endif
