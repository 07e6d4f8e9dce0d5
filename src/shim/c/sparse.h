/* All-to-alls whose counts are mostly zero. Part of shim.h. */
#ifndef RANKWEAVE_SPARSE_H
#define RANKWEAVE_SPARSE_H

/* The blocks that a rank sends or receives: of one type, or `types` has one for each. */
typedef struct {
  char *start;
  const int *counts, *places;
  MPI_Datatype type;
  const MPI_Datatype *types;
  MPI_Aint extent;
  MPI_Count size;
} rw_blocks;

static inline void *rw_block_place(const rw_blocks *blocks, int peer) {
  return blocks->start + blocks->places[peer] * (blocks->types == NULL ? blocks->extent : 1);
}

static inline MPI_Datatype rw_block_type(const rw_blocks *blocks, int peer) {
  return blocks->types == NULL ? blocks->type : blocks->types[peer];
}

/* Returns the bytes of a block: alike on its two ranks, because MPI demands that they name equal data. */
static inline int64_t rw_block_bytes(const rw_blocks *blocks, int peer) {
  MPI_Count size = blocks->size;
  if (blocks->counts[peer] == 0) return 0;
  if (blocks->types != NULL) PMPI_Type_size_x(blocks->types[peer], &size);
  return (int64_t)size * blocks->counts[peer];
}

/* sparse-nodes.c implements the declarations below. */

/* Combines the messages of the ranks of a node to other nodes, one call at a time. */
typedef struct rw_combiner rw_combiner;

/* Makes it on all ranks of a communicator of messages or on none: NULL also if nodes have one rank. Collective. */
rw_combiner *rw_combiner_make(MPI_Comm comm);
void rw_combiner_free(rw_combiner *combiner);
/* Returns whether a block to or from a rank is combined: alike on both. */
int rw_combines(const rw_combiner *combiner, int peer, int64_t bytes);
/* Exchanges the blocks that are combined. Returns a code of MPI. */
int rw_combiner_run(rw_combiner *combiner, const rw_blocks *from, const rw_blocks *to);

/* sparse.c implements the declarations below. */

/* Returns whether calls are counted and may be served; alike on all processes of the world. */
int rw_sparse_is_on(void);
/* Adds what was counted to the report, before MPI ends; later calls are MPI's. */
void rw_sparse_stop(void);

#endif
