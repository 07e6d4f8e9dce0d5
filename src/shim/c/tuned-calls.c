/*
 * Collectives that a tuning file may decide for. Bytes are what MPI demands to be equal on all ranks: datatypes
 * and counts may differ. Of a gather the root says what it receives, since it may send in place, and of a scatter
 * what it sends.
 */
#include "shim.h"

static int64_t bytes_of(int count, MPI_Datatype type) {
  MPI_Count size;
  if (count < 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0)
    return RW_BYTES_WRONG;
  return (int64_t)size * count;
}

static int is_root(int root, MPI_Comm comm) {
  int rank = MPI_PROC_NULL;
  if (comm != MPI_COMM_NULL) PMPI_Comm_rank(comm, &rank);
  return rank == root;
}

/* The library's own call, or that of the setting. */
#define TUNED(comm, function, bytes, op, own, in_setting)           \
  rw_turn turn;                                                     \
  if (!rw_tune_is_on()) return own;                                 \
  int begun = rw_tune_begin(&turn, comm, function, bytes, op);      \
  if (begun < 0) return rw_raise(comm, MPI_ERR_NO_MEM);             \
  return begun == 0 ? own : rw_tune_end(&turn, in_setting)

RW_EXPORT int MPI_Barrier(MPI_Comm comm) {
  TUNED(comm, RW_TUNE_BARRIER, 0, MPI_OP_NULL, rw_next.Barrier(comm), PMPI_Barrier(turn.comm));
}

RW_EXPORT int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  TUNED(comm, RW_TUNE_BCAST, bytes_of(count, type), MPI_OP_NULL, rw_next.Bcast(data, count, type, root, comm),
        PMPI_Bcast(data, count, type, root, turn.comm));
}

RW_EXPORT int MPI_Scatter(const void *from, int sent, MPI_Datatype send_type, void *to, int received,
                          MPI_Datatype receive_type, int root, MPI_Comm comm) {
  TUNED(comm, RW_TUNE_SCATTER, is_root(root, comm) ? bytes_of(sent, send_type) : bytes_of(received, receive_type),
        MPI_OP_NULL, rw_next.Scatter(from, sent, send_type, to, received, receive_type, root, comm),
        PMPI_Scatter(from, sent, send_type, to, received, receive_type, root, turn.comm));
}

RW_EXPORT int MPI_Gather(const void *from, int sent, MPI_Datatype send_type, void *to, int received,
                         MPI_Datatype receive_type, int root, MPI_Comm comm) {
  TUNED(comm, RW_TUNE_GATHER, is_root(root, comm) ? bytes_of(received, receive_type) : bytes_of(sent, send_type),
        MPI_OP_NULL, rw_next.Gather(from, sent, send_type, to, received, receive_type, root, comm),
        PMPI_Gather(from, sent, send_type, to, received, receive_type, root, turn.comm));
}

RW_EXPORT int MPI_Allgather(const void *from, int sent, MPI_Datatype send_type, void *to, int received,
                            MPI_Datatype receive_type, MPI_Comm comm) {
  TUNED(comm, RW_TUNE_ALLGATHER, from == MPI_IN_PLACE ? RW_BYTES_IN_PLACE : bytes_of(received, receive_type), MPI_OP_NULL,
        rw_next.Allgather(from, sent, send_type, to, received, receive_type, comm),
        PMPI_Allgather(from, sent, send_type, to, received, receive_type, turn.comm));
}

RW_EXPORT int MPI_Alltoall(const void *from, int sent, MPI_Datatype send_type, void *to, int received,
                           MPI_Datatype receive_type, MPI_Comm comm) {
  TUNED(comm, RW_TUNE_ALLTOALL, from == MPI_IN_PLACE ? RW_BYTES_IN_PLACE : bytes_of(received, receive_type), MPI_OP_NULL,
        rw_next.Alltoall(from, sent, send_type, to, received, receive_type, comm),
        PMPI_Alltoall(from, sent, send_type, to, received, receive_type, turn.comm));
}

/* In place is the root's affair: the other ranks do not know. */
RW_EXPORT int MPI_Reduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  TUNED(comm, RW_TUNE_REDUCE, op == MPI_OP_NULL ? RW_BYTES_WRONG : bytes_of(count, type), op,
        rw_next.Reduce(from, to, count, type, op, root, comm), PMPI_Reduce(from, to, count, type, op, root, turn.comm));
}

static int64_t reduced_bytes(const void *from, int count, MPI_Datatype type, MPI_Op op) {
  if (op == MPI_OP_NULL) return RW_BYTES_WRONG;
  return from == MPI_IN_PLACE ? RW_BYTES_IN_PLACE : bytes_of(count, type);
}

RW_EXPORT int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  TUNED(comm, RW_TUNE_ALLREDUCE, reduced_bytes(from, count, type, op), op, rw_next.Allreduce(from, to, count, type, op, comm),
        PMPI_Allreduce(from, to, count, type, op, turn.comm));
}

RW_EXPORT int MPI_Reduce_scatter_block(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  TUNED(comm, RW_TUNE_REDUCE_SCATTER_BLOCK, reduced_bytes(from, count, type, op), op,
        rw_next.Reduce_scatter_block(from, to, count, type, op, comm),
        PMPI_Reduce_scatter_block(from, to, count, type, op, turn.comm));
}

static int64_t scattered_bytes(const void *from, const int *counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int ranks = 0;
  if (comm == MPI_COMM_NULL || counts == NULL || PMPI_Comm_size(comm, &ranks) != MPI_SUCCESS) return RW_BYTES_WRONG;
  for (int r = 1; r < ranks; r++)
    if (counts[r] != counts[0]) return RW_BYTES_UNEQUAL;
  return reduced_bytes(from, counts[0], type, op);
}

RW_EXPORT int MPI_Reduce_scatter(const void *from, void *to, const int counts[], MPI_Datatype type, MPI_Op op,
                                 MPI_Comm comm) {
  TUNED(comm, RW_TUNE_REDUCE_SCATTER, scattered_bytes(from, counts, type, op, comm), op,
        rw_next.Reduce_scatter(from, to, counts, type, op, comm),
        PMPI_Reduce_scatter(from, to, counts, type, op, turn.comm));
}
