/*
 * Ends a program of another MPI before any of its handles arrives here. Handles and constants of MPI differ between
 * Open MPI and MPICH, so they could not even be passed on.
 */
#include "own-mpi.h"

#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef RW_TOOL
#define RW_TOOL "rankweave shim"
#endif

#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number

/* Several libraries have the handles of MPICH: Intel MPI, MVAPICH, Cray MPICH. Those of Open MPI have its name. */
#if defined OPEN_MPI
enum { IS_KNOWN = 1, IS_OPEN_MPI = 1 };
#define COMPILED_FOR "Open MPI " TEXT(OMPI_MAJOR_VERSION) "." TEXT(OMPI_MINOR_VERSION) "." TEXT(OMPI_RELEASE_VERSION)
#elif defined MPICH_VERSION
enum { IS_KNOWN = 1, IS_OPEN_MPI = 0 };
#define COMPILED_FOR "MPICH " MPICH_VERSION
#else
enum { IS_KNOWN = 0, IS_OPEN_MPI = 0 };
#define COMPILED_FOR "another MPI"
#endif

/*
 * WRONG_MPI is an exit code: EX_CONFIG of sysexits.h. LONGEST_VERSION is the bytes of a version: MPICH's may have
 * 8,192.
 */
enum { WRONG_MPI = 78, LONGEST_VERSION = 1 << 14 };

const char *const rw_compiled_for = COMPILED_FOR;

typedef int get_version(char *, int *);

/* Returns whether the object, with the libraries that it is linked with, has another MPI, and writes its version. */
static int has_another(void *object, char *version) {
  int length = 0;
  void *found = dlsym(object, "PMPI_Get_library_version");
  if (found == NULL || (dlsym(object, "ompi_mpi_comm_world") != NULL) == IS_OPEN_MPI) return 0;
  get_version *get;
  memcpy(&get, &found, sizeof get);
  return get(version, &length) == MPI_SUCCESS;
}

/* Shortens a version to its first words, on one line. */
static void shorten(char *version) {
  version[strcspn(version, "\n,")] = '\0';
  for (char *at = version; *at != '\0'; at++)
    if (*at == '\t') *at = ' ';
}

static void refuse(char *version) {
  Dl_info self;
  const char *library = dladdr(version, &self) != 0 && self.dli_fname != NULL ? self.dli_fname : "this library";
  shorten(version);
  fflush(NULL);
  fprintf(stderr,
          RW_TOOL ": %s is compiled for " COMPILED_FOR ", and this program uses %s: compile it with the mpicc of the "
          "program, which rankweave shim takes as --mpicc\n",
          library, version);
  _exit(WRONG_MPI);
}

/*
 * Checks each object separately, because for all together the MPI of this library may hide the program's. The first
 * object is the program; the libraries with which it is linked follow.
 */
void rw_require_own_mpi(void) {
  static char version[LONGEST_VERSION];
  struct link_map *loaded = NULL;
  void *program = dlopen(NULL, RTLD_LAZY);
  if (program == NULL) return;
  if (IS_KNOWN && dlinfo(program, RTLD_DI_LINKMAP, &loaded) != 0) loaded = NULL;
  for (; loaded != NULL; loaded = loaded->l_next) {
    void *object = loaded->l_name[0] == '\0' ? NULL : dlopen(loaded->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (object == NULL) continue;
    if (has_another(object, version)) refuse(version);
    dlclose(object);
  }
  dlclose(program);
}

/* A program that is linked with MPI has it from the start. */
__attribute__((constructor)) static void at_load(void) { rw_require_own_mpi(); }
