/*
 * Handles and constants of MPI differ between Open MPI and MPICH, so a program of the other one is ended
 * before any of its handles arrives here.
 */
#include "shim.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* An exit code: EX_CONFIG of sysexits.h. Bytes of a version: MPICH's may have 8,192. */
enum { WRONG_MPI = 78, LONGEST_VERSION = 1 << 14 };

typedef int get_version(char *, int *);

/*
 * The version of the MPI with which the object at `caller` is linked. An interpreter loads MPI with an
 * extension, and then the MPI of this library comes first for every other object.
 */
static int version_of(void *caller, char *version) {
  Dl_info info;
  int length = 0;
  void *object = dladdr(caller, &info) != 0 && info.dli_fname != NULL ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  void *found = dlsym(object != NULL ? object : RTLD_DEFAULT, "PMPI_Get_library_version");
  get_version *get;
  memcpy(&get, &found, sizeof get);
  int is_found = found != NULL && get(version, &length) == MPI_SUCCESS;
  if (object != NULL) dlclose(object);
  return is_found;
}

/* The first words of a version, on one line. */
static void shorten(char *version) {
  version[strcspn(version, "\n,")] = '\0';
  for (char *at = version; *at != '\0'; at++)
    if (*at == '\t') *at = ' ';
}

void rw_require_own_mpi(void *caller) {
  static int is_checked;
  static char version[LONGEST_VERSION];
  Dl_info self;
  if (__atomic_exchange_n(&is_checked, 1, __ATOMIC_RELAXED) || !IS_KNOWN || !version_of(caller, version)) return;
  if ((strstr(version, "Open MPI") != NULL) == IS_OPEN_MPI) return;
  shorten(version);
  const char *library = dladdr(&is_checked, &self) != 0 && self.dli_fname != NULL ? self.dli_fname : "this library";
  fprintf(stderr,
          "rankweave shim: %s is compiled for " COMPILED_FOR ", and this program uses %s: compile it with the mpicc of the "
          "program: rankweave shim --mpicc MPICC\n",
          library, version);
  exit(WRONG_MPI);
}
