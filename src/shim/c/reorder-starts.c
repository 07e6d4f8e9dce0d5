/* The mappings to begin with. Each fills every node to its capacity. */
#include "shim.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

int rw_start_blocks(const rw_places *places, int *node_of) {
  int v = 0;
  for (int node = 0; node < places->nodes; node++)
    for (int i = 0; i < places->capacity[node]; i++) node_of[v++] = node;
  return 1;
}

/* Returns the number of vertices in a step along a dimension. */
static int step_of(const rw_places *places, int dimension) {
  int step = 1;
  for (int d = dimension + 1; d < places->dimensions; d++) step *= places->extents[d];
  return step;
}

static int coordinate(const rw_places *places, int vertex, int dimension, int step) {
  return vertex / step % places->extents[dimension];
}

/* The sides of equal boxes, and the fraction of vertices at their surface. */
typedef struct {
  int sides[RW_MAX_STEPS], best[RW_MAX_STEPS];
  double least;
} boxes;

/* Tries all sides whose product is `left`, from a dimension on. */
static void try_sides(const rw_places *places, boxes *b, int dimension, int left, double surface) {
  if (surface >= b->least) return;
  if (dimension == places->dimensions) {
    if (left != 1) return;
    b->least = surface;
    memcpy(b->best, b->sides, sizeof b->best);
    return;
  }
  int extent = places->extents[dimension];
  for (int side = 1; side <= extent && side <= left; side++) {
    if (extent % side != 0 || left % side != 0) continue;
    b->sides[dimension] = side;
    try_sides(places, b, dimension + 1, left / side, surface + (side < extent ? 1.0 / side : 0));
  }
}

/* Chooses the boxes of least surface, because a grid sends along its dimensions. */
int rw_start_boxes(const rw_places *places, int *node_of) {
  boxes b = {.least = RW_MAX_STEPS + 1};
  int capacity = places->capacity[0], vertices = places->relations->vertices;
  if (places->dimensions < 2 || places->dimensions > RW_MAX_STEPS) return 0;
  for (int node = 1; node < places->nodes; node++)
    if (places->capacity[node] != capacity) return 0;
  try_sides(places, &b, 0, capacity, 0);
  if (b.least > RW_MAX_STEPS) return 0;
  memset(node_of, 0, sizeof *node_of * (size_t)vertices);
  for (int d = 0; d < places->dimensions; d++)
    for (int v = 0, step = step_of(places, d); v < vertices; v++)
      node_of[v] = node_of[v] * (places->extents[d] / b.best[d]) + coordinate(places, v, d, step) / b.best[d];
  return 1;
}

/* Halves of a grid that are being assigned to nodes. */
typedef struct {
  const rw_places *places;
  int *node_of, *before; /* vertices of the nodes before */
  int64_t *part;         /* vertices, those of a node together; while sorted, each has its key above */
} halves;

static int longest_side(const halves *h, int first, int end) {
  int longest = -1, side = 0;
  for (int d = 0; d < h->places->dimensions; d++) {
    int low = INT_MAX, high = INT_MIN, step = step_of(h->places, d);
    for (int i = first; i < end; i++) {
      int at = coordinate(h->places, (int)h->part[i], d, step);
      if (at < low) low = at;
      if (at > high) high = at;
    }
    if (end > first && high - low > longest) {
      longest = high - low;
      side = d;
    }
  }
  return side;
}

static int compare_keys(const void *left, const void *right) {
  int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return a < b ? -1 : a > b;
}

static void halve(const halves *h, int first_node, int end_node) {
  int first = h->before[first_node], end = h->before[end_node];
  if (end_node - first_node == 1) {
    for (int i = first; i < end; i++) h->node_of[h->part[i]] = first_node;
    return;
  }
  int side = longest_side(h, first, end), step = step_of(h->places, side), middle = first_node + (end_node - first_node) / 2;
  for (int i = first; i < end; i++)
    h->part[i] |= (int64_t)coordinate(h->places, (int)h->part[i], side, step) << 32;
  qsort(h->part + first, (size_t)(end - first), sizeof *h->part, compare_keys);
  for (int i = first; i < end; i++) h->part[i] &= INT32_MAX;
  halve(h, first_node, middle);
  halve(h, middle, end_node);
}

int rw_start_halves(const rw_places *places, int *node_of) {
  int vertices = places->relations->vertices;
  if (places->dimensions < 2) return 0;
  halves h = {places, node_of, malloc(sizeof(int) * ((size_t)places->nodes + 1)), malloc(sizeof(int64_t) * (size_t)vertices)};
  int has_memory = h.before != NULL && h.part != NULL;
  if (has_memory) {
    h.before[0] = 0;
    for (int node = 0; node < places->nodes; node++) h.before[node + 1] = h.before[node] + places->capacity[node];
    for (int v = 0; v < vertices; v++) h.part[v] = v;
    halve(&h, 0, places->nodes);
  }
  free(h.before);
  free(h.part);
  return has_memory ? 1 : -1;
}

/*
 * A vertex that borders on a region: its neighbors in the region when this was noted, and its turn among the
 * vertices of the region.
 */
typedef struct {
  int neighbors, turn, vertex;
} border;

/* A region that grows: its border is a heap, with the vertex of most neighbors first. */
typedef struct {
  border *heap;
  size_t count, room;
  int *neighbors, *turn; /* entries of vertices, for the present region */
  int *region, turns;    /* region for which the above hold */
} growth;

static int comes_before(const border *a, const border *b) {
  return a->neighbors != b->neighbors ? a->neighbors > b->neighbors : a->turn < b->turn;
}

static int push(growth *g, border added) {
  if (g->count == g->room) {
    size_t room = g->room == 0 ? 1024 : 2 * g->room;
    border *heap = realloc(g->heap, room * sizeof *heap);
    if (heap == NULL) return 0;
    g->heap = heap;
    g->room = room;
  }
  size_t at = g->count++;
  for (; at > 0 && comes_before(&added, &g->heap[(at - 1) / 2]); at = (at - 1) / 2) g->heap[at] = g->heap[(at - 1) / 2];
  g->heap[at] = added;
  return 1;
}

static border pop(growth *g) {
  border first = g->heap[0], last = g->heap[--g->count];
  size_t at = 0;
  for (size_t next = 1; next < g->count; next = 2 * at + 1) {
    if (next + 1 < g->count && comes_before(&g->heap[next + 1], &g->heap[next])) next++;
    if (!comes_before(&g->heap[next], &last)) break;
    g->heap[at] = g->heap[next];
    at = next;
  }
  g->heap[at] = last;
  return first;
}

/* Returns the vertex without a node that has most neighbors in the region; -1: none borders on it. */
static int next_of(growth *g, const int *node_of) {
  while (g->count > 0) {
    border b = pop(g);
    if (node_of[b.vertex] < 0 && g->neighbors[b.vertex] == b.neighbors) return b.vertex;
  }
  return -1;
}

static int note_neighbors(growth *g, const rw_rows *rows, int vertex, int region, const int *node_of) {
  for (int e = rows->start[vertex]; e < rows->start[vertex + 1]; e++) {
    int v = rows->list[e];
    if (node_of[v] >= 0) continue;
    if (g->region[v] != region) {
      g->region[v] = region;
      g->neighbors[v] = 0;
      g->turn[v] = g->turns++;
    }
    g->neighbors[v]++;
    if (!push(g, (border){g->neighbors[v], g->turn[v], v})) return 0;
  }
  return 1;
}

static int grow(growth *g, const rw_places *places, int *node_of) {
  const rw_relations *relations = places->relations;
  int first_free = 0;
  for (int node = 0; node < places->nodes; node++) {
    /* The next region begins at the border of this one. */
    int seed = next_of(g, node_of);
    g->count = 0;
    g->turns = 0;
    for (int i = 0; i < places->capacity[node]; i++) {
      int v = i == 0 ? seed : next_of(g, node_of);
      while (v < 0 && node_of[first_free] >= 0) first_free++;
      if (v < 0) v = first_free;
      node_of[v] = node;
      if (!note_neighbors(g, &relations->out, v, node + 1, node_of) || !note_neighbors(g, &relations->in, v, node + 1, node_of))
        return 0;
    }
  }
  return 1;
}

int rw_start_regions(const rw_places *places, int *node_of) {
  size_t vertices = (size_t)places->relations->vertices;
  growth g = {.neighbors = malloc(sizeof(int) * vertices), .turn = malloc(sizeof(int) * vertices), .region = calloc(vertices, sizeof(int))};
  int is_made = g.neighbors != NULL && g.turn != NULL && g.region != NULL;
  if (is_made) {
    memset(node_of, -1, sizeof *node_of * vertices);
    is_made = grow(&g, places, node_of);
  }
  free(g.heap);
  free(g.neighbors);
  free(g.turn);
  free(g.region);
  return is_made ? 1 : -1;
}
