/*
 * Other tools with MPI's profiling interface. They intercept `MPI_` functions, and call `PMPI_` ones. One that is
 * preloaded behind this library sees what this library leaves to MPI. One before it sees every call, and this
 * library none of them.
 */
#include "shim.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define PMPI_OF(name) PMPI_##name,
rw_next_functions rw_next = {RW_PASSED_ON(PMPI_OF) RW_TUNED(PMPI_OF) RW_MATCHED(PMPI_OF)};

void rw_find_next(void *function, const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found != NULL) memcpy(function, &found, sizeof found);
}

#define FIND(name) rw_find_next(&rw_next.name, "MPI_" #name);
__attribute__((constructor)) static void find_all(void) { RW_PASSED_ON(FIND) RW_TUNED(FIND) RW_MATCHED(FIND) }

/* Returns the file of the object that has a function first; NULL if it is this library. */
static const char *other_with(const char *function) {
  Dl_info own, other;
  void *found = dlsym(RTLD_DEFAULT, function);
  if (found == NULL || dladdr(found, &other) == 0 || dladdr(&rw_next, &own) == 0) return NULL;
  return other.dli_fbase == own.dli_fbase ? NULL : other.dli_fname;
}

int rw_is_first(const char *function) { return other_with(function) == NULL; }

#define QUOTED(name) "MPI_" #name,
static const char *const functions[] = {RW_PASSED_ON(QUOTED)}, *const tuned[] = {RW_TUNED(QUOTED)}, *const matched[] = {RW_MATCHED(QUOTED)};

/* Each function gets a line: they are few. */
static void report_those_of(const char *const *names, size_t count) {
  for (size_t f = 0; f < count; f++) {
    const char *other = other_with(names[f]);
    if (other != NULL)
      fprintf(stderr,
              "rankweave shim: calls of %s reach %s first and not this library: preload this library before it\n",
              names[f], other);
  }
}

void rw_report_tools(void) {
  report_those_of(functions, sizeof functions / sizeof *functions);
  if (rw_tune_is_used()) report_those_of(tuned, sizeof tuned / sizeof *tuned);
  if (rw_matching_path() != NULL) report_those_of(matched, sizeof matched / sizeof *matched);
}
