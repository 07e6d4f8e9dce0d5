/*
 * Runs programs of this folder in one job. Arguments: names with their arguments, `--` between them. The first process
 * prints for each whether all was right on all processes.
 */
#include "cases.h"

typedef struct {
  const char *name;
  program *run;
} entry;

static const entry entries[] = {
    {"again", again}, {"called", called}, {"differing", differing}, {"ends", ends},
    {"forms", forms}, {"matching", matching}, {"neighbors", neighbors}, {"off", off},
    {"online", online}, {"permitted", permitted}, {"reorder", reorder}, {"repair", repair},
    {"reproduce", reproduce}, {"rules", rules}, {"sparse", sparse}, {"stress", stress},
    {"tuned", tuned},
};

int rank, ranks;

static int run(int words, char **word) {
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
    if (strcmp(entries[i].name, word[0]) == 0) return entries[i].run(words, word);
  MPI_Abort(MPI_COMM_WORLD, 2);
  return 1;
}

/* Programs of several threads have an argument that says so. */
static int are_threaded(int words, char **word) {
  for (int i = 0; i < words; i++)
    if (strcmp(word[i], "threads") == 0) return 1;
  return 0;
}

int main(int argc, char **argv) {
  int provided, failed = 0;
  MPI_Init_thread(&argc, &argv, are_threaded(argc, argv) ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int first = 1, end; first < argc; first = end + 1) {
    int wrong, all = 0;
    for (end = first; end < argc && strcmp(argv[end], "--") != 0;) end++;
    wrong = run(end - first, argv + first);
    PMPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
      for (int i = first; i < end; i++) printf("%s%s", i > first ? " " : "", argv[i]);
      if (all == 0) printf(": right\n");
      else printf(": %d wrong\n", all);
      fflush(stdout);
    }
    failed |= all;
  }
  MPI_Finalize();
  return failed != 0;
}
