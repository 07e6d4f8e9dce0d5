/*
 * An interpreter, which is not linked with MPI, and its extension, which is. Argument: the extension, which
 * is this file compiled with EXTENSION.
 */
#include <stdio.h>

#ifdef EXTENSION
#include <mpi.h>

int run(void) {
  int ranks;
  MPI_Init(NULL, NULL);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  printf("right: %d ranks\n", ranks);
  return MPI_Finalize();
}
#else
#include <dlfcn.h>
#include <string.h>

int main(int argc, char **argv) {
  int (*run)(void);
  void *extension = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  void *found = extension == NULL ? NULL : dlsym(extension, "run");
  if (found == NULL) return 1;
  memcpy(&run, &found, sizeof run);
  puts("started");
  return run();
}
#endif
