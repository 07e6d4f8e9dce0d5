/* This file intercepts the begin of MPI. */
#include "shim.h"

#include "own-mpi.h"

int rw_begun(int code) {
  rw_tune_library_after();
  if (code == MPI_SUCCESS) rw_arena_make();
  return code;
}

/* An interpreter loads MPI with an extension, which calls one of these. */
RW_EXPORT int MPI_Init(int *argc, char ***argv) {
  rw_require_own_mpi();
  rw_tune_library_before();
  return rw_begun(rw_next.Init(argc, argv));
}

RW_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  rw_require_own_mpi();
  rw_tune_library_before();
  return rw_begun(rw_next.Init_thread(argc, argv, required, provided));
}
