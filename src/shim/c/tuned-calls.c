/*
 * Collectives that a tuning file may decide for. Bytes are what MPI demands to be equal on all ranks: datatypes and
 * counts may differ. In a gather the root passes what it receives, since it may send in place, and in a scatter
 * what it sends. Arguments are read only where MPI reads them: the others need not be valid.
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
  PMPI_Comm_rank(comm, &rank);
  return rank == root;
}

/* Makes the library's own call, or that of the setting. The bytes of calls that cannot have one are not computed. */
#define TUNED(comm, function, bytes, op, own, in_setting) REDUCED(comm, function, bytes, op, MPI_DATATYPE_NULL, own, in_setting)
#define REDUCED(comm, function, bytes, op, type, own, in_setting)                 \
  rw_turn turn;                                                                   \
  int begun = rw_tune_serves(comm, function);                                     \
  if (begun > 0) begun = rw_tune_begin(&turn, comm, function, bytes, op, type);   \
  if (begun < 0) return rw_raise_alone(comm, MPI_ERR_NO_MEM);                     \
  if (begun == RW_TURN_OWN) return rw_tune_end(&turn, own);                       \
  return begun == 0 ? own : rw_tune_end(&turn, in_setting)

RW_EXPORT int MPI_Barrier(MPI_Comm comm) {
  TUNED(comm, RW_TUNE_BARRIER, 0, MPI_OP_NULL, rw_next.Barrier(comm), PMPI_Barrier(turn.comm));
}

RW_EXPORT int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  TUNED(comm, RW_TUNE_BCAST, bytes_of(count, type), MPI_OP_NULL, rw_next.Bcast(data, count, type, root, comm),
        rw_tune_bcast(&turn, data, count, type, root));
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
        rw_tune_gather(&turn, from, sent, send_type, to, received, receive_type, root));
}

RW_EXPORT int MPI_Allgather(const void *from, int sent, MPI_Datatype send_type, void *to, int received,
                            MPI_Datatype receive_type, MPI_Comm comm) {
  TUNED(comm, RW_TUNE_ALLGATHER, bytes_of(received, receive_type), MPI_OP_NULL,
        rw_next.Allgather(from, sent, send_type, to, received, receive_type, comm),
        PMPI_Allgather(from, sent, send_type, to, received, receive_type, turn.comm));
}

RW_EXPORT int MPI_Alltoall(const void *from, int sent, MPI_Datatype send_type, void *to, int received,
                           MPI_Datatype receive_type, MPI_Comm comm) {
  TUNED(comm, RW_TUNE_ALLTOALL, from == MPI_IN_PLACE ? RW_BYTES_IN_PLACE : bytes_of(received, receive_type), MPI_OP_NULL,
        rw_next.Alltoall(from, sent, send_type, to, received, receive_type, comm),
        PMPI_Alltoall(from, sent, send_type, to, received, receive_type, turn.comm));
}

/* Makes a reproducible call, if it is one. */
#define REPRODUCED(...) RW_REDUCED(__VA_ARGS__, rw_reproduce(&reduction, &code))

static int64_t reduced_bytes(int count, MPI_Datatype type, MPI_Op op) {
  return op == MPI_OP_NULL ? RW_BYTES_WRONG : bytes_of(count, type);
}

RW_EXPORT int MPI_Reduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  REPRODUCED(RW_TUNE_REDUCE, count, NULL, root);
  REDUCED(comm, RW_TUNE_REDUCE, reduced_bytes(count, type, op), op, type,
        rw_next.Reduce(from, to, count, type, op, root, comm), PMPI_Reduce(from, to, count, type, op, root, turn.comm));
}

RW_EXPORT int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  REPRODUCED(RW_TUNE_ALLREDUCE, count, NULL, 0);
  REDUCED(comm, RW_TUNE_ALLREDUCE, reduced_bytes(count, type, op), op, type, rw_next.Allreduce(from, to, count, type, op, comm),
        PMPI_Allreduce(from, to, count, type, op, turn.comm));
}

RW_EXPORT int MPI_Reduce_scatter_block(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  REPRODUCED(RW_TUNE_REDUCE_SCATTER_BLOCK, count, NULL, 0);
  REDUCED(comm, RW_TUNE_REDUCE_SCATTER_BLOCK, reduced_bytes(count, type, op), op, type,
        rw_next.Reduce_scatter_block(from, to, count, type, op, comm),
        PMPI_Reduce_scatter_block(from, to, count, type, op, turn.comm));
}

static int64_t scattered_bytes(const int *counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int ranks = 0;
  if (counts == NULL || PMPI_Comm_size(comm, &ranks) != MPI_SUCCESS) return RW_BYTES_WRONG;
  for (int r = 1; r < ranks; r++)
    if (counts[r] != counts[0]) return RW_BYTES_UNEQUAL;
  return reduced_bytes(counts[0], type, op);
}

RW_EXPORT int MPI_Reduce_scatter(const void *from, void *to, const int counts[], MPI_Datatype type, MPI_Op op,
                                 MPI_Comm comm) {
  REPRODUCED(RW_TUNE_REDUCE_SCATTER, 0, counts, 0);
  REDUCED(comm, RW_TUNE_REDUCE_SCATTER, scattered_bytes(counts, type, op, comm), op, type,
        rw_next.Reduce_scatter(from, to, counts, type, op, comm),
        PMPI_Reduce_scatter(from, to, counts, type, op, turn.comm));
}

RW_EXPORT int MPI_Scan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  REPRODUCED(RW_TUNE_SCAN, count, NULL, 0);
  REDUCED(comm, RW_TUNE_SCAN, reduced_bytes(count, type, op), op, type, rw_next.Scan(from, to, count, type, op, comm),
          PMPI_Scan(from, to, count, type, op, turn.comm));
}

RW_EXPORT int MPI_Exscan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  REPRODUCED(RW_TUNE_EXSCAN, count, NULL, 0);
  REDUCED(comm, RW_TUNE_EXSCAN, reduced_bytes(count, type, op), op, type, rw_next.Exscan(from, to, count, type, op, comm),
          PMPI_Exscan(from, to, count, type, op, turn.comm));
}
