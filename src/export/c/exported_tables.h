/* The tables of a schedule for the exported program; Rankweave writes the definitions. */
#ifndef EXPORTED_TABLES_H
#define EXPORTED_TABLES_H

#include <stdint.h>

enum exported_collective {
  exported_neighbor_allgather,
  exported_barrier,
  exported_bcast,
  exported_scatter,
  exported_gather,
  exported_allgather,
  exported_reduce,
  exported_allreduce,
  exported_reduce_scatter,
  exported_scan,
  exported_exscan,
  exported_alltoall,
  exported_neighbor_alltoall,
  exported_neighbor_reduce
};

/*
 * The tables of one rank: the words of its program (rankweave_program.h), its own blocks, then the content of
 * every slot: a block, or `~i` for reduction i. Then come the cuts of units and the part of every value. In
 * neighborhoods follow the number of sources, the sources, the number of destinations and the destinations.
 */
struct exported_rank {
  const int32_t *words;
  int32_t program_words;
};

extern const struct exported_rank exported_ranks[];
extern const int exported_rank_count;
extern const enum exported_collective exported_collective;
extern const char exported_collective_name[], exported_strategy[];
extern const int exported_is_neighborhood, exported_is_reduction;
/* The root, for collectives that have one. */
extern const int exported_root;
/* The number of parts into which every unit of data is cut; 0 for empty blocks. */
extern const int32_t exported_cut;
/*
 * Reduction i combines the blocks of the runs from exported_run_start[i] up to the next, as in the schedule
 * format.
 */
extern const int32_t exported_run_start[], exported_run_first[], exported_run_count[], exported_run_stride[];

#endif
