/* The bench `mutants` writes this at the top of changed C sources. One translation unit may hold it several times. */
#ifndef RW_MUTANT_H
#define RW_MUTANT_H
#include <stdio.h>
#include <stdlib.h>

/* Whether the run is to behave as this mutant does. Where hits are counted, each translation unit notes it once. */
static inline int rw_mutant(int id) {
  static int chosen = -1;
  static const char *hits;
  static char is_noted[1 << 16];
  if (chosen < 0) {
    const char *given = getenv("RANKWEAVE_MUTANT");
    hits = getenv("RANKWEAVE_MUTANT_HITS");
    chosen = given == NULL ? 0 : atoi(given);
  }
  if (hits != NULL && !is_noted[id]) {
    FILE *file = fopen(hits, "a");
    is_noted[id] = 1;
    if (file != NULL) {
      fprintf(file, "%d\n", id);
      fclose(file);
    }
  }
  return id == chosen;
}
#endif

