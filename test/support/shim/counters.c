/* Counters past 2^32 calls: who waits for whom. No MPI is started; a poll of it stands for the wait. */
#define _GNU_SOURCE
#include "shared.c"

enum { WAITS = 77 };

int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *is_there, MPI_Status *status) {
  (void)source;
  (void)tag;
  (void)comm;
  (void)status;
  *is_there = 0;
  return WAITS;
}

/* Is not called. */
int rw_agree_on_memory(MPI_Comm comm, int has_memory) {
  (void)comm;
  return has_memory ? MPI_SUCCESS : WAITS;
}

static int failures;

static void check(const char *what, int code, int expected) {
  if (code == expected) return;
  failures++;
  printf("%s: expected %d, got %d\n", what, expected, code);
}

int main(void) {
  const uint64_t many = (uint64_t)1 << 32;
  uint64_t own = many, other = many - 1;
  const uint64_t *others[] = {&other};
  char *value;
  rw_shared shared = {0};
  shared.calls = many;
  shared.own_counter = &own;
  shared.counter = shared.reader = others;
  shared.slots = shared.readers = 1;
  check("a reader is two calls behind", rw_shared_begin(&shared, &value), WAITS);
  other = many;
  check("a reader is one call behind", rw_shared_begin(&shared, &value), MPI_SUCCESS);
  check("a source has not written", rw_shared_exchange(&shared), WAITS);
  other = own;
  shared.calls = many;
  check("a source has written", rw_shared_exchange(&shared), MPI_SUCCESS);
  if (failures == 0) printf("right\n");
  return 0;
}
