/*
 * Prints through which ranks a route of the preloaded library leads: a line per source and destination.
 * Arguments: the route, the number of ranks, and the ranks of a node. Ends with 3 for a text that is no route, and
 * with 4 and the whole text for one without all radices. Calls no MPI.
 */
#include "routes.c"

#include <stdio.h>

enum { MOST = 64 };

int rw_agree_on_memory(MPI_Comm comm, int has_memory) {
  (void)comm;
  return has_memory ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  int ranks = atoi(argv[2]), largest = atoi(argv[3]);
  int node[MOST], local[MOST], start[MOST + 1] = {0}, members[MOST];
  if (ranks < 1 || ranks > MOST || largest < 1) return 2;
  rw_layout layout = {(ranks + largest - 1) / largest, largest < ranks ? largest : ranks, node, local, start, members};
  for (int r = 0; r < ranks; r++) {
    node[r] = r / largest;
    local[r] = r % largest;
    start[node[r] + 1] = r + 1;
    members[r] = r;
  }
  rw_route route;
  if (!rw_route_parse(argv[1], ranks, &layout, &route)) return 3;
  if (!rw_route_is_whole(&route)) {
    char name[RW_NAME];
    rw_route_name(&route, name, sizeof name);
    printf("%s\n", name);
    return 4;
  }
  for (int source = 0; source < ranks; source++) {
    for (int destination = 0; destination < ranks; destination++) {
      for (int h = 0; h < rw_route_hops(&route); h++) printf("%d ", rw_route_hop(&route, h, source, destination));
      printf("\n");
    }
  }
  return 0;
}
