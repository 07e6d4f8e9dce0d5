/*
 * Preloaded besides: counts the algorithms of Open MPI's component `tuned` that run, by their functions in Open
 * MPI's library. The first rank prints `seen NAME TIMES` for each at the end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Arguments are integers and pointers, at most ten. */
#define ARGUMENTS long a, long b, long c, long d, long e, long f, long g, long h, long i, long j
typedef long any(ARGUMENTS);

static int is_first(void) {
  const char *rank = getenv("OMPI_COMM_WORLD_RANK");
  return rank != NULL && strcmp(rank, "0") == 0;
}

#define SEEN(name)                                                             \
  static int times_##name;                                                     \
  any ompi_coll_base_##name;                                                   \
  long ompi_coll_base_##name(ARGUMENTS) {                                      \
    static any *next;                                                          \
    times_##name++;                                                            \
    if (next == NULL) {                                                        \
      void *found = dlsym(RTLD_NEXT, "ompi_coll_base_" #name);                 \
      memcpy(&next, &found, sizeof found);                                     \
    }                                                                          \
    return next(a, b, c, d, e, f, g, h, i, j);                                 \
  }                                                                            \
  __attribute__((destructor)) static void print_##name(void) {                 \
    if (times_##name > 0 && is_first()) printf("seen %s %d\n", #name, times_##name); \
  }

SEEN(allgather_intra_basic_linear)
SEEN(allgather_intra_bruck)
SEEN(allgather_intra_neighborexchange)
SEEN(allgather_intra_recursivedoubling)
SEEN(allgather_intra_ring)
SEEN(allreduce_intra_basic_linear)
SEEN(allreduce_intra_nonoverlapping)
SEEN(allreduce_intra_recursivedoubling)
SEEN(allreduce_intra_redscat_allgather)
SEEN(allreduce_intra_ring)
SEEN(allreduce_intra_ring_segmented)
SEEN(alltoall_intra_basic_linear)
SEEN(alltoall_intra_bruck)
SEEN(alltoall_intra_linear_sync)
SEEN(alltoall_intra_pairwise)
SEEN(barrier_intra_basic_linear)
SEEN(barrier_intra_bruck)
SEEN(barrier_intra_doublering)
SEEN(barrier_intra_recursivedoubling)
SEEN(barrier_intra_tree)
SEEN(bcast_intra_basic_linear)
SEEN(bcast_intra_binomial)
SEEN(bcast_intra_bintree)
SEEN(bcast_intra_chain)
SEEN(bcast_intra_knomial)
SEEN(bcast_intra_pipeline)
SEEN(bcast_intra_scatter_allgather)
SEEN(bcast_intra_split_bintree)
SEEN(gather_intra_basic_linear)
SEEN(gather_intra_binomial)
SEEN(gather_intra_linear_sync)
SEEN(reduce_intra_binary)
SEEN(reduce_intra_binomial)
SEEN(reduce_intra_chain)
SEEN(reduce_intra_in_order_binary)
SEEN(reduce_intra_pipeline)
SEEN(reduce_intra_redscat_gather)
SEEN(reduce_scatter_block_intra_butterfly)
SEEN(reduce_scatter_intra_butterfly)
SEEN(reduce_scatter_intra_ring)
SEEN(scatter_intra_basic_linear)
SEEN(scatter_intra_binomial)
SEEN(scatter_intra_linear_nb)
