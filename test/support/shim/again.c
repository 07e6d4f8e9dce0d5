/*
 * Makes communicators of the same two graphs again and again, with blocks that grow and shrink, and compares each element.
 * Arguments: rounds, calls on each communicator, and how many are alive at a time, besides one that is from the first round to
 * the last.
 */
#include "cases.h"

enum { DEGREE = 2, LONGEST = 600 };

static int wrong;

/* To the next ranks, or to every second one. */
static MPI_Comm create(int step, int sources[DEGREE]) {
  int destinations[DEGREE];
  MPI_Comm comm;
  for (int i = 0; i < DEGREE; i++) {
    sources[i] = (rank + DEGREE * ranks - step * (i + 1)) % ranks;
    destinations[i] = (rank + step * (i + 1)) % ranks;
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, DEGREE, sources, MPI_UNWEIGHTED, DEGREE, destinations, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &comm);
  return comm;
}

static int element(int source, int i, int call) { return (source * 131 + i) * 977 + call; }

static int length_of(int call) { return call / 60 % 3 == 2 ? LONGEST : 1 + call % 5; }

static void run_calls(MPI_Comm comm, const int *sources, int first, int calls) {
  static int own[LONGEST], theirs[DEGREE * LONGEST];
  for (int call = first; call < first + calls; call++) {
    int count = length_of(call);
    for (int i = 0; i < count; i++) own[i] = element(rank, i, call);
    memset(theirs, -1, sizeof theirs);
    MPI_Neighbor_allgather(own, count, MPI_INT, theirs, count, MPI_INT, comm);
    for (int s = 0; s < DEGREE; s++)
      for (int i = 0; i < count; i++) wrong += theirs[s * count + i] != element(sources[s], i, call);
  }
}

int again(int words, char **word) {
  int kept_sources[DEGREE], sources[DEGREE];
  if (words < 3) return 1;
  int rounds = atoi(word[1]), calls = atoi(word[2]), most = words > 3 ? atoi(word[3]) : 1;
  MPI_Comm kept = create(1, kept_sources), *alive = malloc(sizeof *alive * (size_t)most);
  wrong = 0;
  for (int i = 0; i < most; i++) alive[i] = MPI_COMM_NULL;
  for (int round = 0; round < rounds; round++) {
    MPI_Comm *comm = &alive[round % most];
    if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
    *comm = create(1 + round % 2, sources);
    run_calls(*comm, sources, round * calls, calls);
    run_calls(kept, kept_sources, round * calls, calls / 4);
  }
  for (int i = 0; i < most; i++)
    if (alive[i] != MPI_COMM_NULL) MPI_Comm_free(&alive[i]);
  MPI_Comm_free(&kept);
  free(alive);
  return wrong;
}
