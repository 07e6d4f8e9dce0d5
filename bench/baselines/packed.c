// A neighbor allgather of many ranks on two processes, packed by hand: each process packs the blocks that the
// other needs into one message, and copies received blocks and its own into every slot of its ranks: SECONDS
// KEY:ITERATIONS:BATCHES:GRAPH FILE ...
#include "graph.h"

struct exchange {
  // Blocks of this process's ranks, then those received from the other process.
  int *blocks;
  int here, first;
  // Blocks of this process that the other process needs.
  int *needed, needed_count;
  int *packed, coming;
  // Slots of this process's ranks, one after the other, and the block of each.
  int *slots, *block_of_slot, slot_count;
};

static void run(void *with) {
  struct exchange *x = with;
  for (int i = 0; i < x->needed_count; i++) x->packed[i] = x->blocks[x->needed[i]];
  MPI_Sendrecv(x->packed, x->needed_count, MPI_INT, 1 - rank, 0, x->blocks + x->here, x->coming, MPI_INT, 1 - rank, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int s = 0; s < x->slot_count; s++) x->slots[s] = x->blocks[x->block_of_slot[s]];
}

static int side(const struct graph *graph, int r) { return r < (graph->ranks + 1) / 2 ? 0 : 1; }

// Ranks of process `from` that some rank of the other process has as a source, ascending.
static int *crossing(const struct graph *graph, int from, int *count) {
  char *crosses = bytes_of((size_t)graph->ranks);
  for (int r = 0; r < graph->ranks; r++)
    for (int s = 0; side(graph, r) != from && s < graph->vertices[r].in; s++)
      if (side(graph, graph->vertices[r].sources[s]) == from) crosses[graph->vertices[r].sources[s]] = 1;
  int *ranks = bytes_of((size_t)graph->ranks * sizeof *ranks);
  *count = 0;
  for (int r = 0; r < graph->ranks; r++)
    if (crosses[r]) ranks[(*count)++] = r;
  free(crosses);
  return ranks;
}

static struct exchange prepare(const struct graph *graph) {
  struct exchange x = {0};
  const int half = (graph->ranks + 1) / 2;
  x.first = rank == 0 ? 0 : half;
  x.here = rank == 0 ? half : graph->ranks - half;
  x.needed = crossing(graph, rank, &x.needed_count);
  for (int i = 0; i < x.needed_count; i++) x.needed[i] -= x.first;
  const int *coming = crossing(graph, 1 - rank, &x.coming);
  int *block_of_rank = bytes_of((size_t)graph->ranks * sizeof *block_of_rank);
  for (int r = 0; r < x.here; r++) block_of_rank[x.first + r] = r;
  for (int i = 0; i < x.coming; i++) block_of_rank[coming[i]] = x.here + i;
  x.blocks = bytes_of((size_t)(x.here + x.coming) * sizeof(int));
  x.packed = bytes_of((size_t)x.needed_count * sizeof(int));
  for (int r = x.first; r < x.first + x.here; r++) x.slot_count += graph->vertices[r].in;
  x.slots = bytes_of((size_t)x.slot_count * sizeof(int));
  x.block_of_slot = bytes_of((size_t)x.slot_count * sizeof(int));
  for (int r = x.first, at = 0; r < x.first + x.here; r++)
    for (int s = 0; s < graph->vertices[r].in; s++) x.block_of_slot[at++] = block_of_rank[graph->vertices[r].sources[s]];
  return x;
}

int main(int argc, char **argv) {
  bench_begin(&argc, &argv);
  expect(size == 2, "two processes");
  for (int a = 2; a < argc; a++) {
    char key[64], path[1024];
    int iterations, batches;
    if (sscanf(argv[a], "%63[^:]:%d:%d:%1023s", key, &iterations, &batches, path) != 4) MPI_Abort(MPI_COMM_WORLD, 2);
    const struct graph graph = read_graph(path);
    struct exchange x = prepare(&graph);
    for (int i = 0; i < 3; i++) {
      for (int r = 0; r < x.here; r++) x.blocks[r] = (x.first + r) * 1000 + i;
      run(&x);
      for (int r = x.first, at = 0; r < x.first + x.here; r++)
        for (int s = 0; s < graph.vertices[r].in; s++)
          expect(x.slots[at++] == graph.vertices[r].sources[s] * 1000 + i, "packed exchange");
    }
    print_figure(key, timed(run, &x, iterations, batches));
  }
  bench_end();
  return 0;
}
