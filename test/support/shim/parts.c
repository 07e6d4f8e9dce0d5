/*
 * Runs parts of the preloaded library, with which it is linked, without MPI. The first argument says which.
 *
 *   route TEXT RANKS CORES   through which ranks a route leads: a line per source and destination. Ends with 3 for a text that
 *                            is no route, and with 4 and the whole text for one without all radices
 *   map                      reads vertices, nodes, the node of every slot, dimensions of a grid or 0, extents, edges, source
 *                            and destination of each; prints the pairs before and after, then the slot of every vertex
 *   mapping FILE             reads a mapping, and says why if it is refused
 *   decide FILE              a setting of the tuning file for each line: collective, nodes, processes per node, bytes
 *   draw FILE MODE NODES PROCESSES_PER_NODE SETTING...
 *                            what online tuning chooses among settings of bcast for each line: seed, communicator, number
 *                            of the call, bytes
 *
 * Of a file that is refused it prints why, and ends with 1.
 */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

static int route(const char *text, int all, int cores) {
  int node[MOST], local[MOST], start[MOST + 1] = {0}, members[MOST];
  rw_layout layout = {(all + cores - 1) / cores, cores < all ? cores : all, node, local, start, members};
  rw_route route;
  for (int r = 0; r < all; r++) {
    node[r] = r / cores;
    local[r] = r % cores;
    start[node[r] + 1] = r + 1;
    members[r] = r;
  }
  if (!rw_route_parse(text, all, &layout, &route)) return 3;
  if (!rw_route_is_whole(&route)) {
    char name[RW_NAME];
    rw_route_name(&route, name, sizeof name);
    printf("%s\n", name);
    return 4;
  }
  for (int source = 0; source < all; source++)
    for (int destination = 0; destination < all; destination++, printf("\n"))
      for (int h = 0; h < rw_route_hops(&route); h++) printf("%d ", rw_route_hop(&route, h, source, destination));
  return 0;
}

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

static int map(void) {
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

static rw_tune_call call_of(int collective, int nodes, int per_node, double bytes) {
  int processes = nodes * per_node;
  return (rw_tune_call){.nodes = nodes,
                        .per_node = per_node,
                        .processes = processes,
                        .bytes = bytes,
                        .is_even = processes % 2 == 0 ? RW_WORD_YES : RW_WORD_NO,
                        .is_power = (processes & (processes - 1)) == 0 ? RW_WORD_YES : RW_WORD_NO,
                        .is_shared = nodes == 1 ? RW_WORD_YES : RW_WORD_NO,
                        .collective = collective};
}

static int decide(const rw_tuning *tuning) {
  int collective, nodes, per_node;
  double bytes;
  while (scanf("%d %d %d %lf", &collective, &nodes, &per_node, &bytes) == 4) {
    rw_tune_call call = call_of(collective, nodes, per_node, bytes);
    printf("%d\n", rw_tune_decide(tuning, &call) - tuning->trees[collective].first_setting);
  }
  return 0;
}

static int draw(const rw_grid *grid, int words, char **word) {
  rw_online_choice choice;
  unsigned seed, communicator, call;
  double bytes;
  int count = words - 3;
  int32_t *settings = malloc(((size_t)count + 1) * sizeof *settings);
  for (int i = 0; i < count; i++) settings[i] = atoi(word[3 + i]);
  if (!rw_online_choice_make(&choice, grid, atoi(word[0]), atoi(word[1]), atoi(word[2]), settings, count)) return 1;
  while (scanf("%u %u %u %lf", &seed, &communicator, &call, &bytes) == 4)
    printf("%d\n", rw_online_choose(&choice, bytes, rw_online_draw(seed, communicator, call, RW_TUNE_BCAST)));
  rw_online_choice_free(&choice);
  return 0;
}

static int mapping(const char *path) {
  char wrong[512] = "";
  rw_mapping *read = rw_mapping_read(path, wrong, sizeof wrong);
  if (read == NULL) printf("%s\n", wrong);
  free(read);
  return read == NULL;
}

static int with_tuning(int words, char **word) {
  char wrong[512] = "";
  rw_tune_model model;
  rw_tuning *tuning = rw_tune_read(word[2], &model, wrong, sizeof wrong);
  if (tuning == NULL) {
    printf("%s\n", wrong);
    return 1;
  }
  int code = strcmp(word[1], "draw") == 0 ? draw(model.grids[RW_TUNE_BCAST], words - 3, word + 3) : decide(tuning);
  rw_tune_model_free(&model);
  free(tuning);
  return code;
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "map") == 0) return map();
  if (argc == 5 && strcmp(argv[1], "route") == 0) return route(argv[2], atoi(argv[3]), atoi(argv[4]));
  if (argc == 3 && strcmp(argv[1], "mapping") == 0) return mapping(argv[2]);
  return argc > 2 ? with_tuning(argc, argv) : 2;
}
