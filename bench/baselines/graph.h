// A process topology from a file: the number of ranks, then per rank its in-degree, out-degree, sources,
// destinations.
#ifndef RANKWEAVE_GRAPH_H
#define RANKWEAVE_GRAPH_H

#include "bench.h"

struct vertex {
  int in, out;
  int *sources, *destinations;
};

struct graph {
  int ranks;
  struct vertex *vertices;
};

static int next_number(FILE *file) {
  int number;
  if (fscanf(file, "%d", &number) != 1) MPI_Abort(MPI_COMM_WORLD, 5);
  return number;
}

static int *next_numbers(FILE *file, int count) {
  int *numbers = bytes_of((size_t)count * sizeof *numbers);
  for (int i = 0; i < count; i++) numbers[i] = next_number(file);
  return numbers;
}

static struct graph read_graph(const char *path) {
  FILE *file = fopen(path, "r");
  if (file == NULL) MPI_Abort(MPI_COMM_WORLD, 5);
  struct graph graph = {next_number(file), NULL};
  graph.vertices = bytes_of((size_t)graph.ranks * sizeof *graph.vertices);
  for (int r = 0; r < graph.ranks; r++) {
    struct vertex *v = &graph.vertices[r];
    v->in = next_number(file);
    v->out = next_number(file);
    v->sources = next_numbers(file, v->in);
    v->destinations = next_numbers(file, v->out);
  }
  fclose(file);
  return graph;
}

#endif
