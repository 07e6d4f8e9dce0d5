/* This file moves bytes from and to the buffers of a user, of any datatype. */
#include "shim.h"

#include <string.h>

int rw_buffer_set(rw_buffer *buffer, const void *start, int count, const int *counts, const int *displacements,
                  MPI_Datatype type) {
  int integers, addresses, types, combiner;
  MPI_Aint low;
  buffer->start = (char *)(uintptr_t)start;
  buffer->count = count;
  buffer->counts = counts;
  buffer->displacements = displacements;
  buffer->type = type;
  buffer->is_reversed = 0;
  MPI_Count size = 0;
  int code = PMPI_Type_size_x(type, &size);
  buffer->size = (int64_t)size;
  if (code == MPI_SUCCESS) code = PMPI_Type_get_extent(type, &low, &buffer->extent);
  if (code == MPI_SUCCESS) code = PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  buffer->is_on_device = rw_is_on_device(start);
  /* A derived type may list its bytes in another order than they have in memory. */
  buffer->is_contiguous =
      code == MPI_SUCCESS && !buffer->is_on_device && combiner == MPI_COMBINER_NAMED && low == 0 && buffer->extent == buffer->size;
  return code;
}

char *rw_buffer_at(const rw_buffer *buffer, int block) {
  MPI_Aint elements = buffer->displacements != NULL ? buffer->displacements[block] : (MPI_Aint)block * buffer->count;
  return buffer->start + elements * buffer->extent;
}

int rw_buffer_count(const rw_buffer *buffer, int block) {
  return buffer->counts != NULL ? buffer->counts[block] : buffer->count;
}

int64_t rw_buffer_bytes(const rw_buffer *buffer, int block) { return (int64_t)rw_buffer_count(buffer, block) * buffer->size; }

int rw_type_keep(MPI_Datatype type, MPI_Datatype *kept) {
  int code = PMPI_Type_contiguous(1, type, kept);
  return code == MPI_SUCCESS ? PMPI_Type_commit(kept) : code;
}

/*
 * Turns elements of a type with absolute addresses, from MPI_BOTTOM on, into one element at an address: MPICH
 * neither packs nor unpacks at a null address.
 */
static int place(char **at, int *count, MPI_Datatype *type) {
  MPI_Aint low, extent, back;
  int code = PMPI_Type_get_true_extent(*type, &low, &extent);
  *at += low;
  back = -low;
  if (code == MPI_SUCCESS) code = PMPI_Type_create_hindexed(1, count, &back, *type, type);
  *count = 1;
  return code == MPI_SUCCESS ? PMPI_Type_commit(type) : code;
}

static int pack(const rw_buffer *buffer, char *at, int count, char *data, int bytes, MPI_Comm comm) {
  MPI_Datatype type = buffer->type;
  int position = 0, code = at == NULL ? place(&at, &count, &type) : MPI_SUCCESS;
  if (code == MPI_SUCCESS) code = PMPI_Pack(at, count, type, data, bytes, &position, comm);
  if (type != buffer->type) PMPI_Type_free(&type);
  return code;
}

static int unpack(const rw_buffer *buffer, char *at, int count, const char *data, int bytes, MPI_Comm comm) {
  MPI_Datatype type = buffer->type;
  int position = 0, code = at == NULL ? place(&at, &count, &type) : MPI_SUCCESS;
  if (code == MPI_SUCCESS) code = PMPI_Unpack(data, bytes, &position, at, count, type, comm);
  if (type != buffer->type) PMPI_Type_free(&type);
  return code;
}

int rw_buffer_read(const rw_buffer *buffer, int block, char *data, MPI_Comm comm) {
  char *at = rw_buffer_at(buffer, block);
  int bytes = (int)rw_buffer_bytes(buffer, block);
  if (!buffer->is_contiguous) return pack(buffer, at, rw_buffer_count(buffer, block), data, bytes, comm);
  memcpy(data, at, (size_t)bytes);
  return MPI_SUCCESS;
}

int rw_buffer_write(const rw_buffer *buffer, int block, const char *data, int length, MPI_Comm comm) {
  char *at = rw_buffer_at(buffer, block);
  int64_t room = rw_buffer_bytes(buffer, block);
  if (length > room) return MPI_ERR_TRUNCATE;
  if (length == 0) return MPI_SUCCESS;
  if (!buffer->is_contiguous) return unpack(buffer, at, (int)(length / buffer->size), data, length, comm);
  memcpy(at, data, (size_t)length);
  return MPI_SUCCESS;
}
