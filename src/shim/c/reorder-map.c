/*
 * Maps the vertices of a graph onto ranks: the best of several starts, refined by exchanges of vertices between
 * nodes (simulated annealing, Kirkpatrick 1983), as src/topology/mapping/problem.ts.
 */
#include "shim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* REFINED: starts that are refined. CANDIDATES: vertices on the other node, of which the best is tried. */
enum { REFINED = 2, CANDIDATES = 4 };
/* The steps of all refinements together, and the most for every vertex and edge. */
static const int64_t MOST_WORK = 1 << 27, WORK_EACH = 10000;
/*
 * A swap that raises the cost by TEMPERATURE is accepted once in e times at the start. At the end this holds for
 * that raise divided by COOLING.
 */
static const double TEMPERATURE = 0.6, COOLING = 20;

/* The vertices of every node, from which any can be drawn. */
typedef struct {
  int *start, *member, *at;
} members;

/* The swaps since the least cost. */
typedef struct {
  int *both;
  size_t count, room;
} swaps;

/* Draws by Mulberry32 (Ettinger 2017). */
static uint32_t draw(uint32_t *seed) {
  uint32_t x = *seed += 0x6d2b79f5u;
  x = (x ^ x >> 15) * (x | 1);
  x ^= x + (x ^ x >> 7) * (x | 61);
  return x ^ x >> 14;
}

static int below(uint32_t *seed, int count) { return (int)((uint64_t)draw(seed) * (uint64_t)count >> 32); }

static int make_members(members *m, int vertices, int nodes, const int *node_of) {
  *m = (members){calloc((size_t)nodes + 1, sizeof(int)), malloc(sizeof(int) * (size_t)vertices), malloc(sizeof(int) * (size_t)vertices)};
  if (m->start == NULL || m->member == NULL || m->at == NULL) return 0;
  for (int v = 0; v < vertices; v++) m->at[v] = m->start[node_of[v] + 1]++;
  for (int node = 0; node < nodes; node++) m->start[node + 1] += m->start[node];
  for (int v = 0; v < vertices; v++) {
    m->at[v] += m->start[node_of[v]];
    m->member[m->at[v]] = v;
  }
  return 1;
}

static void free_members(members *m) {
  free(m->start);
  free(m->member);
  free(m->at);
}

static void exchange_members(members *m, int v, int w) {
  int at = m->at[v];
  m->at[v] = m->at[w];
  m->at[w] = at;
  m->member[m->at[v]] = v;
  m->member[at] = w;
}

static int note_swap(swaps *s, int v, int w) {
  if (s->count == s->room) {
    size_t room = s->room == 0 ? 1024 : 2 * s->room;
    int *both = realloc(s->both, 2 * room * sizeof *both);
    if (both == NULL) return 0;
    s->both = both;
    s->room = room;
  }
  s->both[2 * s->count] = v;
  s->both[2 * s->count++ + 1] = w;
  return 1;
}

static void take_back(rw_placed *placed, const swaps *s) {
  for (size_t i = s->count; i-- > 0;) {
    int v = s->both[2 * i], w = s->both[2 * i + 1], node = placed->node_of[v];
    rw_placed_move(placed, v, placed->node_of[w]);
    rw_placed_move(placed, w, node);
  }
}

/* Returns the node of a random neighbor; -1: the vertex has none. */
static int node_of_neighbor(const rw_placed *placed, int v, uint32_t *seed) {
  const rw_rows *out = &placed->relations->out, *in = &placed->relations->in;
  int sent = out->start[v + 1] - out->start[v], received = in->start[v + 1] - in->start[v];
  if (sent + received == 0) return -1;
  int at = below(seed, sent + received);
  return placed->node_of[at < sent ? out->list[out->start[v] + at] : in->list[in->start[v] + at - sent]];
}

static int best_candidate(rw_placed *placed, const members *m, int node, int to, uint32_t *seed) {
  int best = -1, best_gain = 0, count = m->start[node + 1] - m->start[node];
  for (int i = 0; i < CANDIDATES; i++) {
    int w = m->member[m->start[node] + below(seed, count)], gain = rw_placed_gain(placed, w, to);
    if (best >= 0 && gain <= best_gain) continue;
    best = w;
    best_gain = gain;
  }
  return best;
}

/* Tries to move a vertex to the node of a neighbor; returns the vertex that came back for it, or -1. */
static int try_swap(rw_placed *placed, members *m, int v, double temperature, uint32_t *seed) {
  int own = placed->node_of[v], target = node_of_neighbor(placed, v, seed);
  placed->work++;
  if (target < 0 || target == own) return -1;
  int first = rw_placed_gain(placed, v, target), w = best_candidate(placed, m, target, own, seed);
  if (first + rw_placed_gain(placed, w, own) < -16 * temperature) return -1;
  rw_placed_move(placed, v, target);
  int gain = first + rw_placed_gain(placed, w, own);
  if (gain < 0 && exp(gain / temperature) * 4294967296.0 <= draw(seed)) {
    rw_placed_move(placed, v, own);
    return -1;
  }
  rw_placed_move(placed, w, own);
  exchange_members(m, v, w);
  return w;
}

/* Refines a mapping, and ends at the fewest pairs that it met. Without memory for more swaps it ends early. */
static int64_t refine(rw_placed *placed, members *m, int64_t work) {
  swaps since = {0};
  uint32_t seed = 1;
  double temperature = TEMPERATURE;
  int64_t least = placed->pairs;
  for (uint32_t trial = 0; placed->work < work; trial++) {
    if (trial % 256 == 0) temperature = TEMPERATURE * pow(COOLING, -(double)placed->work / (double)work);
    int v = below(&seed, placed->relations->vertices), w = try_swap(placed, m, v, temperature, &seed);
    if (w < 0) continue;
    int is_noted = 1;
    if (placed->pairs < least) {
      least = placed->pairs;
      since.count = 0;
    } else is_noted = note_swap(&since, v, w);
    if (is_noted) continue;
    swaps last = {(int[]){v, w}, 1, 1};
    take_back(placed, &last);
    break;
  }
  take_back(placed, &since);
  free(since.both);
  return least;
}

/* Refines with fresh members and counts; negative: no memory, and `node_of` is unchanged. */
static int64_t refined(const rw_places *places, int *node_of, int64_t work) {
  rw_placed placed;
  members m;
  int64_t pairs = -1;
  if (!rw_placed_make(&placed, places->relations, node_of)) return -1;
  if (make_members(&m, places->relations->vertices, places->nodes, node_of)) pairs = refine(&placed, &m, work);
  free_members(&m);
  rw_placed_free(&placed);
  return pairs;
}

/* A mapping with its pairs; fewer are better. */
typedef struct {
  int *node_of;
  int64_t pairs;
} candidate;

static rw_start_rule *const starts[] = {rw_start_boxes, rw_start_halves, rw_start_blocks, rw_start_regions};
enum { STARTS = sizeof starts / sizeof *starts };

static int is_among(const candidate best[REFINED], const int *node_of, size_t bytes) {
  int is_there = 0;
  for (int i = 0; i < REFINED; i++) is_there = is_there || (best[i].pairs >= 0 && memcmp(best[i].node_of, node_of, bytes) == 0);
  return is_there;
}

/* Finds the best starts, among them the given mapping, in order; on ties the given one is first. 0: no memory. */
static int find_starts(const rw_places *places, candidate best[REFINED], int *given) {
  size_t bytes = sizeof(int) * (size_t)places->relations->vertices;
  for (int s = 0; s < STARTS; s++) {
    int is_made = starts[s](places, given);
    if (is_made < 0) return 0;
    if (!is_made || is_among(best, given, bytes)) continue;
    int64_t pairs = rw_pairs_of(places->relations, places->nodes, given);
    if (pairs < 0) return 0;
    int at = REFINED;
    while (at > 0 && (best[at - 1].pairs < 0 || pairs < best[at - 1].pairs)) at--;
    if (at == REFINED) continue;
    int *room = best[REFINED - 1].node_of;
    memmove(&best[at + 1], &best[at], sizeof *best * (size_t)(REFINED - 1 - at));
    memcpy(room, given, bytes);
    best[at] = (candidate){room, pairs};
  }
  return 1;
}

/* Assigns the vertices of a node to its slots in ascending order. `next` has a place for each node. */
static void find_slots(const rw_to_map *given, const int *node_of, int *next, int *slots, int *slot_of) {
  memset(next, 0, sizeof(int) * ((size_t)given->nodes + 1));
  for (int s = 0; s < given->vertices; s++) next[given->node_of_slot[s] + 1]++;
  for (int node = 0; node < given->nodes; node++) next[node + 1] += next[node];
  for (int s = 0; s < given->vertices; s++) slots[next[given->node_of_slot[s]]++] = s;
  for (int node = given->nodes; node > 0; node--) next[node] = next[node - 1];
  next[0] = 0;
  for (int v = 0; v < given->vertices; v++) slot_of[v] = slots[next[node_of[v]]++];
}

static int map_relations(const rw_to_map *given, const rw_places *places, candidate best[REFINED], int *spare, int *slot_of,
                         int64_t *before, int64_t *after) {
  size_t bytes = sizeof(int) * (size_t)given->vertices;
  memcpy(best[0].node_of, given->node_of_slot, bytes);
  best[0].pairs = *before = *after = rw_pairs_of(places->relations, places->nodes, given->node_of_slot);
  if (*before < 0) return 0;
  for (int v = 0; v < given->vertices; v++) slot_of[v] = v;
  if (*before == 0) return 1;
  if (!find_starts(places, best, spare)) return 0;
  int64_t work = WORK_EACH * (given->vertices + given->edges);
  if (work > MOST_WORK) work = MOST_WORK;
  for (int i = 0; i < REFINED; i++) {
    if (best[i].pairs < 0) continue;
    int64_t pairs = refined(places, best[i].node_of, work / REFINED);
    if (pairs >= 0) best[i].pairs = pairs;
    if (best[i].pairs >= *after) continue;
    *after = best[i].pairs;
    find_slots(given, best[i].node_of, spare, spare + given->nodes + 1, slot_of);
  }
  return 1;
}

int rw_map(const rw_to_map *given, int *slot_of, int64_t *before, int64_t *after) {
  size_t vertices = (size_t)given->vertices;
  rw_relations relations;
  int *capacity = calloc((size_t)given->nodes + 1, sizeof(int)), is_mapped = 0;
  int *spare = malloc(sizeof(int) * (vertices + (size_t)given->nodes + 1));
  candidate best[REFINED];
  int has_memory = capacity != NULL && spare != NULL;
  for (int i = 0; i < REFINED; i++) {
    best[i] = (candidate){malloc(sizeof(int) * vertices), -1};
    has_memory = has_memory && best[i].node_of != NULL;
  }
  if (has_memory && rw_relations_make(&relations, given->vertices, given->edges, given->pairs)) {
    for (int s = 0; s < given->vertices; s++) capacity[given->node_of_slot[s]]++;
    rw_places places = {&relations, given->nodes, capacity, given->dimensions, given->extents};
    is_mapped = map_relations(given, &places, best, spare, slot_of, before, after);
    rw_relations_free(&relations);
  }
  for (int i = 0; i < REFINED; i++) free(best[i].node_of);
  free(capacity);
  free(spare);
  return is_mapped;
}
