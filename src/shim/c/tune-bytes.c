/*
 * Broadcasts and gathers as bytes. Open MPI cuts data by the datatype of each rank, so ranks that describe equal
 * data differently would cut it at different places; bytes are cut alike. Data with gaps, or in another order than
 * their datatype, are copied.
 */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

/* The bytes of a broadcast that are sent at once: the bound of a copy of gapped data, plus one element. */
enum { PIECE = 1 << 24 };

/*
 * Returns whether packed elements are the bytes in memory. A datatype that is composed otherwise may have any
 * order.
 */
static int is_dense(MPI_Datatype type) {
  int integers, addresses, types, combiner, values[1];
  MPI_Count size, lower, extent;
  MPI_Aint none[1];
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS) return 0;
  if (combiner == MPI_COMBINER_NAMED)
    return PMPI_Type_size_x(type, &size) == MPI_SUCCESS && PMPI_Type_get_extent_x(type, &lower, &extent) == MPI_SUCCESS &&
           lower == 0 && size == extent;
  if (combiner != MPI_COMBINER_DUP && combiner != MPI_COMBINER_CONTIGUOUS) return 0;
  if (PMPI_Type_get_contents(type, integers, addresses, types, values, none, &inner) != MPI_SUCCESS) return 0;
  int is_inner_dense = is_dense(inner);
  if (PMPI_Type_get_envelope(inner, &integers, &addresses, &types, &combiner) == MPI_SUCCESS && combiner != MPI_COMBINER_NAMED)
    PMPI_Type_free(&inner);
  return is_inner_dense;
}

/* Returns the address of an element in an array. */
static char *element(const void *data, int64_t index, MPI_Datatype type) {
  MPI_Count lower, extent = 0;
  PMPI_Type_get_extent_x(type, &lower, &extent);
  return (char *)data + index * (int64_t)extent;
}

static int bcast_bytes(char *data, int64_t bytes, int root, MPI_Comm comm) {
  int code = MPI_SUCCESS;
  for (int64_t at = 0; at < bytes && code == MPI_SUCCESS; at += PIECE)
    code = PMPI_Bcast(data + at, (int)(bytes - at < PIECE ? bytes - at : PIECE), MPI_BYTE, root, comm);
  return code;
}

/* Whole elements are packed and unpacked; the rest of one waits at the front of the copy for the next piece. */
static int bcast_copy(void *data, int count, MPI_Datatype type, int64_t bytes, int root, MPI_Comm comm) {
  int64_t size = bytes / count, room = bytes < PIECE + size ? bytes : PIECE + size, held = 0, next = 0, length;
  int rank, code = PMPI_Comm_rank(comm, &rank), position;
  char *copy = malloc((size_t)room);
  if (copy == NULL) return MPI_ERR_NO_MEM;
  for (int64_t at = 0; at < bytes && code == MPI_SUCCESS; at += length) {
    length = bytes - at < PIECE ? bytes - at : PIECE;
    int64_t elements = rank == root ? (length - held + size - 1) / size : (held + length) / size;
    if (rank == root) {
      position = (int)held;
      if (held < length) code = PMPI_Pack(element(data, next, type), (int)elements, type, copy, (int)room, &position, comm);
      else elements = 0;
      held += elements * size;
      if (code == MPI_SUCCESS) code = PMPI_Bcast(copy, (int)length, MPI_BYTE, root, comm);
      held -= length;
      memmove(copy, copy + length, (size_t)held);
    } else {
      code = PMPI_Bcast(copy + held, (int)length, MPI_BYTE, root, comm);
      position = 0;
      held += length;
      if (code == MPI_SUCCESS)
        code = PMPI_Unpack(copy, (int)held, &position, element(data, next, type), (int)elements, type, comm);
      held -= elements * size;
      memmove(copy, copy + elements * size, (size_t)held);
    }
    next += elements;
  }
  free(copy);
  return code;
}

int rw_tune_bcast(const rw_turn *turn, void *data, int count, MPI_Datatype type, int root) {
  MPI_Count size;
  if (!rw_tune_library_cuts(turn->setting)) return PMPI_Bcast(data, count, type, root, turn->comm);
  int code = PMPI_Type_size_x(type, &size);
  if (code != MPI_SUCCESS) return code;
  int64_t bytes = (int64_t)size * count;
  return is_dense(type) ? bcast_bytes(data, bytes, root, turn->comm) : bcast_copy(data, count, type, bytes, root, turn->comm);
}

/* Copies the elements as bytes. NULL, with the code: there is no memory, or MPI refuses. */
static void *packed(const void *data, int count, MPI_Datatype type, int64_t bytes, MPI_Comm comm, int *code) {
  int position = 0;
  void *copy = malloc((size_t)bytes);
  *code = copy == NULL ? MPI_ERR_NO_MEM : PMPI_Pack(data, count, type, copy, (int)bytes, &position, comm);
  if (*code == MPI_SUCCESS) return copy;
  free(copy);
  return NULL;
}

/* Receives blocks with gaps at the root as a copy. */
static int gather_copies(const void *from, void *to, int count, MPI_Datatype type, int64_t bytes, int root, MPI_Comm comm) {
  int ranks, code = PMPI_Comm_size(comm, &ranks), position = 0;
  char *copies = code == MPI_SUCCESS ? malloc((size_t)(bytes * ranks)) : NULL;
  if (copies == NULL) return code == MPI_SUCCESS ? MPI_ERR_NO_MEM : code;
  code = PMPI_Gather(from, (int)bytes, MPI_BYTE, copies, (int)bytes, MPI_BYTE, root, comm);
  for (int r = 0; r < ranks && code == MPI_SUCCESS; r++, position = 0)
    if (r != root || from != MPI_IN_PLACE)
      code = PMPI_Unpack(copies + r * bytes, (int)bytes, &position, element(to, (int64_t)r * count, type), count, type, comm);
  free(copies);
  return code;
}

int rw_tune_gather(const rw_turn *turn, const void *from, int sent, MPI_Datatype send_type, void *to, int received,
                   MPI_Datatype receive_type, int root) {
  MPI_Comm comm = turn->comm;
  MPI_Count size;
  int rank, code = PMPI_Comm_rank(comm, &rank);
  void *copy = NULL;
  if (!rw_tune_library_cuts(turn->setting))
    return PMPI_Gather(from, sent, send_type, to, received, receive_type, root, comm);
  if (code == MPI_SUCCESS) code = PMPI_Type_size_x(rank == root ? receive_type : send_type, &size);
  if (code != MPI_SUCCESS) return code;
  int64_t bytes = (int64_t)size * (rank == root ? received : sent);
  if (from != MPI_IN_PLACE && !is_dense(send_type)) from = copy = packed(from, sent, send_type, bytes, comm, &code);
  if (code == MPI_SUCCESS)
    code = rank == root && !is_dense(receive_type) ? gather_copies(from, to, received, receive_type, bytes, root, comm)
                                                   : PMPI_Gather(from, (int)bytes, MPI_BYTE, to, (int)bytes, MPI_BYTE, root, comm);
  free(copy);
  return code;
}
