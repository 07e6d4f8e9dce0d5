/*
 * `rankweave=off` in the info of a communicator leaves it to MPI. MPI demands equal info on all ranks of a
 * collective call, so creating a communicator needs no agreement. MPI_Comm_set_info synchronizes anyway; there
 * ranks agree.
 */
#include "shim.h"

#include <string.h>

enum { VALUE = 8 };
/* The wishes in order of precedence among ranks. */
enum { OFF, UNCHANGED, ON };

static int wish_of(MPI_Info info) {
  char value[VALUE + 1];
  int is_there = 0;
  if (info == MPI_INFO_NULL || PMPI_Info_get(info, "rankweave", VALUE, value, &is_there) != MPI_SUCCESS || !is_there)
    return UNCHANGED;
  return strcmp(value, "off") == 0 ? OFF : strcmp(value, "on") == 0 ? ON : UNCHANGED;
}

int rw_info_is_off(MPI_Info info) { return wish_of(info) == OFF; }

/* Turns the library off if one rank wants that, on if all do. Collective. */
int rw_info_change(MPI_Comm comm, MPI_Info info) {
  rw_state *state = rw_state_of(comm);
  int wish = wish_of(info);
  if (state == NULL) return MPI_SUCCESS;
  int code = PMPI_Allreduce(MPI_IN_PLACE, &wish, 1, MPI_INT, MPI_MIN, comm);
  if (code != MPI_SUCCESS) return code;
  if (wish == OFF && state->left == RW_BY_PLAN) state->left = RW_INFO_OFF;
  if (wish == ON && state->left == RW_INFO_OFF) state->left = RW_BY_PLAN;
  return MPI_SUCCESS;
}

RW_EXPORT int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info) {
  int code = rw_next.Comm_set_info(comm, info);
  if (code != MPI_SUCCESS) return code;
  int own = rw_info_change(comm, info);
  return own == MPI_SUCCESS ? code : rw_raise(comm, own);
}
