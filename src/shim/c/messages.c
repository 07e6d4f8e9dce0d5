/*
 * Messages of a call that may fail. A rank that gave up after an error would leave requests on buffers that the
 * program frees, and its peers would wait, or take messages of this call for those of the next one. So a rank posts and
 * completes every message of a call, and then reports the first error.
 */
#include "shim.h"

#include <limits.h>
#include <stdlib.h>

int rw_messages_comm(MPI_Comm comm, MPI_Comm *made) {
  MPI_Group group;
  *made = MPI_COMM_NULL;
  int code = PMPI_Comm_group(comm, &group);
  if (code != MPI_SUCCESS) return code;
  code = PMPI_Comm_create(comm, group, made);
  PMPI_Group_free(&group);
  if (code != MPI_SUCCESS) *made = MPI_COMM_NULL;
  return code == MPI_SUCCESS ? PMPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN) : code;
}

/*
 * Memory for a refused block is never freed, since the caller does not know of it. A receive of no bytes would not do:
 * ob1 of Open MPI 4.1 writes the whole message.
 */
int rw_post_receive(void *to, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
  int code = PMPI_Irecv(to, count, type, source, tag, comm, request);
  MPI_Count size;
  if (code == MPI_SUCCESS) return code;
  int64_t bytes = PMPI_Type_size_x(type, &size) == MPI_SUCCESS ? (int64_t)size * count : INT64_MAX;
  void *memory = bytes <= INT_MAX ? malloc((size_t)bytes + 1) : NULL;
  if (memory == NULL || PMPI_Irecv(memory, (int)bytes, MPI_BYTE, source, tag, comm, request) != MPI_SUCCESS)
    *request = MPI_REQUEST_NULL;
  return code;
}

int rw_post_send(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request) {
  int code = PMPI_Isend(from, count, type, to, tag, comm, request);
  if (code != MPI_SUCCESS && PMPI_Isend(NULL, 0, MPI_BYTE, to, tag, comm, request) != MPI_SUCCESS)
    *request = MPI_REQUEST_NULL;
  return code;
}

int rw_complete(int count, MPI_Request requests[], MPI_Status statuses[]) {
  int code = PMPI_Waitall(count, requests, statuses), first = code == MPI_ERR_IN_STATUS ? MPI_SUCCESS : code;
  for (int i = 0; code != MPI_SUCCESS && i < count; i++) {
    int own = code == MPI_ERR_IN_STATUS ? statuses[i].MPI_ERROR : MPI_ERR_PENDING;
    if (own == MPI_ERR_PENDING) own = PMPI_Wait(&requests[i], &statuses[i]);
    first = rw_first_error(first, own);
  }
  return first;
}
