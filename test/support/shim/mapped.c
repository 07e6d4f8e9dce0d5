/*
 * Maps a graph as the preloaded library does. Reads numbers: vertices, nodes, the node of every slot, dimensions of a grid or 0,
 * extents, edges, source and destination of each. Prints the pairs before and after, then the slot of every vertex. Linked with the
 * library.
 */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>

static int number(void) {
  int value;
  if (scanf("%d", &value) != 1) exit(2);
  return value;
}

static int *numbers(size_t count) {
  int *list = malloc(sizeof *list * (count + 1));
  for (size_t i = 0; i < count; i++) list[i] = number();
  return list;
}

int main(void) {
  int64_t before, after;
  int vertices = number(), nodes = number(), *node_of_slot = numbers((size_t)vertices), dimensions = number();
  int *extents = numbers((size_t)dimensions), edges = number(), *pairs = numbers(2 * (size_t)edges);
  int *slot_of = malloc(sizeof *slot_of * (size_t)vertices);
  rw_to_map given = {vertices, nodes, node_of_slot, edges, pairs, dimensions, extents};
  if (!rw_map(&given, slot_of, &before, &after)) return 1;
  printf("%lld %lld\n", (long long)before, (long long)after);
  for (int v = 0; v < vertices; v++) printf("%d\n", slot_of[v]);
  free(node_of_slot);
  free(extents);
  free(pairs);
  free(slot_of);
  return 0;
}
