/*
 * Collectives whose results are known, on communicators of several kinds. Arguments: what to do, and numbers.
 *
 *   all ROUNDS            every collective, with lengths and datatypes that decisions may treat differently
 *   kept COMMUNICATORS    so many copies of MPI_COMM_WORLD, used and freed at the end
 *   freed COMMUNICATORS   the same, one after the other
 *   threads CALLS         two threads, one on MPI_COMM_WORLD
 *   errors                wrong roots, handled by what the user sets when a shadow exists
 *   many NAME COUNT CALLS one collective so often, and how its reduction is cut on the first rank
 */
#define _POSIX_C_SOURCE 200809L
#include "collectives.h"

#include <pthread.h>

static int combined, longest_combined;

static void count_sum(void *in, void *inout, int *length, MPI_Datatype *type) {
  (void)type;
  combined++;
  if (*length > longest_combined) longest_combined = *length;
  for (int i = 0; i < *length; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void everything(MPI_Comm comm) {
  static const int counts[] = {1, 2, 300, LONGEST / 8};
  side s = side_of(comm);
  MPI_Op op;
  MPI_Op_create(count_sum, 1, &op);
  for (int c = 0; c < 4; c++) {
    int count = counts[c], root = (c + s.ranks - 1) % s.ranks;
    MPI_Barrier(comm);
    bcast(&s, count, root);
    allgather(&s, count, 0);
    allgather(&s, count, 1);
    alltoall(&s, count, 0);
    alltoall(&s, count, 1);
    allreduce(&s, count, 0, MPI_SUM);
    allreduce(&s, count, 1, MPI_SUM);
    allreduce(&s, count, 0, op);
    ordered(&s, count);
    for (int is_in_place = 0; is_in_place < 2; is_in_place++) {
      gather(&s, count, root, is_in_place);
      scatter(&s, count, root, is_in_place);
      reduce(&s, count, root, is_in_place);
      reduce_scatter(&s, count, is_in_place);
    }
  }
  MPI_Op_free(&op);
  release(&s);
}

static void all(int rounds) {
  MPI_Comm half, copy, reversed, inter;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 == 0 ? 1 : 0, 9, &inter);
  for (int round = 0; round < rounds; round++) {
    everything(MPI_COMM_WORLD);
    everything(half);
    everything(reversed);
    everything(copy);
    everything(MPI_COMM_SELF);
    int given = 7 + rank % 2, taken = 0;
    MPI_Allreduce(&given, &taken, 1, MPI_INT, MPI_MAX, inter);
    expect(taken == 7 + (rank + 1) % 2, "a communicator of two groups");
    MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&reversed);
}

static void use(MPI_Comm comm, int calls) {
  side s = side_of(comm);
  for (int call = 0; call < calls; call++) {
    bcast(&s, 300, call % s.ranks);
    allreduce(&s, 300, 0, MPI_SUM);
    allgather(&s, 300, 0);
  }
  release(&s);
}

static void copies(int count, int are_kept) {
  MPI_Comm *made = malloc(sizeof *made * (size_t)count);
  for (int i = 0; i < count; i++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &made[i]);
    use(made[i], 12);
    if (!are_kept) MPI_Comm_free(&made[i]);
  }
  for (int i = 0; are_kept && i < count; i++) {
    use(made[i], 3);
    MPI_Comm_free(&made[i]);
  }
  free(made);
}

typedef struct {
  MPI_Comm comm;
  int calls;
} work;

static void *in_thread(void *given) {
  const work *w = given;
  for (int i = 0; i < w->calls; i++) {
    MPI_Comm copy;
    use(w->comm, 1);
    if (w->comm == MPI_COMM_WORLD) continue;
    MPI_Comm_dup(w->comm, &copy);
    use(copy, 2);
    MPI_Comm_free(&copy);
  }
  return NULL;
}

static void threads(int calls) {
  MPI_Comm other;
  pthread_t thread;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  work own = {MPI_COMM_WORLD, calls}, given = {other, calls};
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  expect(level == MPI_THREAD_MULTIPLE, "the level of thread support");
  pthread_create(&thread, NULL, in_thread, &given);
  in_thread(&own);
  pthread_join(thread, NULL);
  MPI_Comm_free(&other);
}

static int handled;
static MPI_Comm handled_on;

static void handle(MPI_Comm *comm, int *code, ...) {
  (void)code;
  handled++;
  handled_on = *comm;
}

static void errors(void) {
  MPI_Comm comm;
  MPI_Errhandler own;
  int data = 1, class = MPI_SUCCESS;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  use(comm, 20);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int code = MPI_Bcast(&data, 300, MPI_INT, 1000, comm);
  MPI_Error_class(code, &class);
  expect(class == MPI_ERR_ROOT, "the code of a wrong root");
  expect(getenv("OMPI_MCA_coll_tuned_use_dynamic_rules") == NULL, "the environment after MPI_Init");
  MPI_Comm_create_errhandler(handle, &own);
  MPI_Comm_set_errhandler(comm, own);
  code = MPI_Bcast(&data, 300, MPI_INT, 1000, comm);
  expect(code != MPI_SUCCESS && handled == 1 && handled_on == comm, "the handler of a wrong root");
  MPI_Errhandler_free(&own);
  use(comm, 2);
  MPI_Comm_free(&comm);
}

static void many(const char *name, int count, int calls) {
  side s = side_of(MPI_COMM_WORLD);
  MPI_Op op;
  MPI_Op_create(count_sum, 1, &op);
  for (int call = 0; call < calls; call++) {
    combined = longest_combined = 0;
    if (strcmp(name, "bcast") == 0) bcast(&s, count, 0);
    else if (strcmp(name, "allgather") == 0) allgather(&s, count, 0);
    else if (strcmp(name, "alltoall") == 0) alltoall(&s, count, 0);
    else if (strcmp(name, "gather") == 0) gather(&s, count, 0, 0);
    else if (strcmp(name, "scatter") == 0) scatter(&s, count, 0, 0);
    else if (strcmp(name, "barrier") == 0) MPI_Barrier(MPI_COMM_WORLD);
    else allreduce(&s, count, 0, op);
  }
  if (s.rank == 0) printf("combined %d times, at most %d elements\n", combined, longest_combined);
  MPI_Op_free(&op);
  release(&s);
}

int tuned(int words, char **word) {
  const char *what = words > 1 ? word[1] : "none";
  int number = words > 2 ? atoi(word[2]) : 1;
  wrong = 0;
  if (strcmp(what, "all") == 0) all(number);
  else if (strcmp(what, "kept") == 0 || strcmp(what, "freed") == 0) copies(number, what[0] == 'k');
  else if (strcmp(what, "threads") == 0) threads(number);
  else if (strcmp(what, "errors") == 0) errors();
  else if (strcmp(what, "many") == 0) many(word[2], atoi(word[3]), atoi(word[4]));
  return wrong;
}
