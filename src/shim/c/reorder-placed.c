/*
 * Vertices on nodes, and pairs of a vertex and another node. src/topology/mapping/placed-graph.ts does the same for
 * more objectives.
 */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

static int *zeros(int64_t count) { return calloc((size_t)count + 1, sizeof(int)); }

/* Turns numbers of neighbors into the starts of their lists. */
static void accumulate(int *start, int vertices) {
  for (int v = 0; v < vertices; v++) start[v + 1] += start[v];
}

/* Lists, for each v, the vertices whose rows have v, in ascending order. `at` has a place for each vertex. */
static void transpose(const rw_rows *rows, int vertices, rw_rows *to, int *at) {
  memset(to->start, 0, sizeof(int) * ((size_t)vertices + 1));
  for (int e = 0; e < rows->start[vertices]; e++) to->start[rows->list[e] + 1]++;
  accumulate(to->start, vertices);
  memcpy(at, to->start, sizeof(int) * (size_t)vertices);
  for (int v = 0; v < vertices; v++)
    for (int e = rows->start[v]; e < rows->start[v + 1]; e++) to->list[at[rows->list[e]]++] = v;
}

/* Lists the sources of every vertex, with repetitions, in the order of the pairs. */
static void fill_sources(rw_rows *in, int vertices, int64_t edges, const int *pairs, int *at) {
  for (int64_t e = 0; e < edges; e++) in->start[pairs[2 * e + 1] + 1] += pairs[2 * e] != pairs[2 * e + 1];
  accumulate(in->start, vertices);
  memcpy(at, in->start, sizeof(int) * (size_t)vertices);
  for (int64_t e = 0; e < edges; e++)
    if (pairs[2 * e] != pairs[2 * e + 1]) in->list[at[pairs[2 * e + 1]]++] = pairs[2 * e];
}

/* Removes repetitions in ascending rows. */
static void make_distinct(rw_rows *rows, int vertices) {
  int used = 0, from = 0;
  for (int v = 0; v < vertices; v++) {
    int first = used, end = rows->start[v + 1];
    for (int e = from; e < end; e++)
      if (used == first || rows->list[used - 1] != rows->list[e]) rows->list[used++] = rows->list[e];
    from = end;
    rows->start[v + 1] = used;
  }
}

int rw_relations_make(rw_relations *relations, int vertices, int64_t edges, const int *pairs) {
  *relations = (rw_relations){vertices, {zeros(vertices), zeros(edges)}, {zeros(vertices), zeros(edges)}};
  int *at = zeros(vertices);
  rw_rows *out = &relations->out, *in = &relations->in;
  int has_memory = at != NULL && out->start != NULL && out->list != NULL && in->start != NULL && in->list != NULL;
  if (has_memory) {
    fill_sources(in, vertices, edges, pairs, at);
    transpose(in, vertices, out, at);
    make_distinct(out, vertices);
    transpose(out, vertices, in, at);
  } else rw_relations_free(relations);
  free(at);
  return has_memory;
}

void rw_relations_free(rw_relations *relations) {
  free(relations->out.start);
  free(relations->out.list);
  free(relations->in.start);
  free(relations->in.list);
  memset(relations, 0, sizeof *relations);
}

int64_t rw_pairs_of(const rw_relations *relations, int nodes, const int *node_of) {
  int *seen_by = zeros(nodes); /* the last vertex with a destination there, plus 1 */
  int64_t pairs = 0;
  if (seen_by == NULL) return -1;
  for (int v = 0; v < relations->vertices; v++) {
    seen_by[node_of[v]] = v + 1;
    for (int e = relations->out.start[v]; e < relations->out.start[v + 1]; e++) {
      int *seen = &seen_by[node_of[relations->out.list[e]]];
      pairs += *seen != v + 1;
      *seen = v + 1;
    }
  }
  free(seen_by);
  return pairs;
}

/* Returns the place of a node's count in a vertex's list; -1: the vertex has no destination there. */
static int find(rw_placed *placed, int vertex, int node) {
  int first = placed->relations->out.start[vertex], held = placed->held[vertex];
  for (int i = first; i < first + held; i++)
    if (placed->node[i] == node) {
      placed->work += i - first + 1;
      return i;
    }
  placed->work += held + 1;
  return -1;
}

static void add(rw_placed *placed, int vertex, int node) {
  int at = find(placed, vertex, node);
  if (at < 0) {
    at = placed->relations->out.start[vertex] + placed->held[vertex]++;
    placed->node[at] = node;
    placed->count[at] = 0;
  }
  placed->count[at]++;
}

/* Removes a destination; the last node takes the place of one without destinations. */
static void take(rw_placed *placed, int vertex, int node) {
  int at = find(placed, vertex, node);
  if (--placed->count[at] > 0) return;
  int last = placed->relations->out.start[vertex] + --placed->held[vertex];
  placed->node[at] = placed->node[last];
  placed->count[at] = placed->count[last];
}

int rw_placed_make(rw_placed *placed, const rw_relations *relations, int *node_of) {
  int edges = relations->out.start[relations->vertices];
  *placed = (rw_placed){relations, node_of, 0, 0, zeros(relations->vertices), zeros(edges), zeros(edges)};
  if (placed->held == NULL || placed->node == NULL || placed->count == NULL) {
    rw_placed_free(placed);
    return 0;
  }
  for (int v = 0; v < relations->vertices; v++) {
    for (int e = relations->out.start[v]; e < relations->out.start[v + 1]; e++) add(placed, v, node_of[relations->out.list[e]]);
    placed->pairs += placed->held[v] - (find(placed, v, node_of[v]) >= 0);
  }
  placed->work = 0;
  return 1;
}

void rw_placed_free(rw_placed *placed) {
  free(placed->held);
  free(placed->node);
  free(placed->count);
  memset(placed, 0, sizeof *placed);
}

int rw_placed_gain(rw_placed *placed, int vertex, int to) {
  int from = placed->node_of[vertex];
  const rw_rows *in = &placed->relations->in;
  if (to == from) return 0;
  int gain = (find(placed, vertex, to) >= 0) - (find(placed, vertex, from) >= 0);
  for (int e = in->start[vertex]; e < in->start[vertex + 1]; e++) {
    int source = in->list[e], own = placed->node_of[source];
    if (own != from) {
      int at = find(placed, source, from);
      gain += at >= 0 && placed->count[at] == 1;
    }
    if (own != to) gain -= find(placed, source, to) < 0;
  }
  return gain;
}

void rw_placed_move(rw_placed *placed, int vertex, int to) {
  int from = placed->node_of[vertex];
  const rw_rows *in = &placed->relations->in;
  if (to == from) return;
  placed->pairs -= rw_placed_gain(placed, vertex, to);
  placed->node_of[vertex] = to;
  for (int e = in->start[vertex]; e < in->start[vertex + 1]; e++) {
    take(placed, in->list[e], from);
    add(placed, in->list[e], to);
  }
}
