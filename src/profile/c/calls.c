/* The entry points of C, made of the table of functions. */
#include "profile.h"

#include <dlfcn.h>
#include <string.h>

#include "args.h"

#define PMPI_OF(name, ...) PMPI_##name,
rw_next_functions rw_next = {RW_FUNCTIONS(PMPI_OF)};

static void find(void *function, const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found != NULL) memcpy(function, &found, sizeof found);
}

#define FIND(name, ...) find(&rw_next.name, "MPI_" #name);
__attribute__((constructor)) static void find_all(void) { RW_FUNCTIONS(FIND) }

#define MADE (*request)
#define REQUEST(list, i) (list[i])
#define TYPES(list) ((rw_types){.c = list})
#define DECLARED(name) RW_C_##name
#define NAMED(name) name

#define ENTRY(name, lower, note, args)                                                 \
  RW_EXPORT int MPI_##name(RW_LIST(DECLARED, args)) {                                  \
    rw_thread *thread = rw_is_on ? rw_begin() : NULL;                                  \
    if (thread == NULL) return rw_next.name(RW_LIST(NAMED, args));                     \
    uint64_t began = rw_ticks();                                                       \
    int code = rw_next.name(RW_LIST(NAMED, args));                                     \
    rw_call call = rw_end(thread, RW_##name, began);                                   \
    (void)call;                                                                        \
    if (code == MPI_SUCCESS) {                                                         \
      note;                                                                            \
    }                                                                                  \
    thread->is_inside = 0;                                                             \
    return code;                                                                       \
  }

RW_FUNCTIONS(ENTRY)
