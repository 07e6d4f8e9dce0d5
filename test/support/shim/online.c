/*
 * Collectives that online tuning chooses for, whose results are known. Arguments: what to do, and numbers.
 *
 *   world CALLS          allreduce, bcast, allgather and alltoall in turn on MPI_COMM_WORLD, of several lengths
 *   parts CALLS          so many on MPI_COMM_WORLD, then on its even and odd ranks, then on a copy of these
 *   random CALLS SEED    on random parts of the world, twelve times made and freed
 *   odd                  in place, without data, of one rank, of two groups, operations in order, copies that are freed
 *   threads CALLS        two threads, one on MPI_COMM_WORLD
 *   killed CALLS         the same as world, then the last rank kills itself
 *   vanished FOLDER      a few calls, then the first rank removes the folder
 *   limited CALLS        the same as world, then the first rank may write files of 1,000 bytes only
 */
#define _POSIX_C_SOURCE 200809L
#include "collectives.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static void call(MPI_Comm comm, int kind, int count, int root, int is_in_place) {
  side s = side_of(comm);
  if (kind == 0) allreduce(&s, count, is_in_place, MPI_SUM);
  else if (kind == 1) bcast(&s, count, root % s.ranks);
  else if (kind == 2) allgather(&s, count, is_in_place);
  else alltoall(&s, count, is_in_place);
  release(&s);
}

static void in_turn(MPI_Comm comm, int calls) {
  static const int counts[] = {1, 7, 300, 4096};
  for (int i = 0; i < calls; i++) call(comm, i % 4, counts[i / 4 % 4], i, 0);
}

static void parts(int calls) {
  MPI_Comm part, copy, none;
  in_turn(MPI_COMM_WORLD, calls);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
  in_turn(part, calls);
  MPI_Comm_dup(part, &copy);
  in_turn(copy, calls);
  /* Rank 0 has no part of it. */
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, -rank, &none);
  in_turn(MPI_COMM_WORLD, calls);
  if (none != MPI_COMM_NULL) {
    in_turn(none, calls);
    MPI_Comm_free(&none);
  }
  MPI_Comm_free(&copy);
  MPI_Comm_free(&part);
}

static unsigned state;

static int draw(int below) {
  state = state * 1103515245u + 12345u;
  return (int)(state >> 8 & 0xffff) % below;
}

static void random_parts(int calls, int seed) {
  static const int counts[] = {1, 2, 64, 500};
  state = (unsigned)seed | 1;
  /* So that the file has it first. */
  call(MPI_COMM_WORLD, 0, 1, 0, 0);
  for (int turn = 0; turn < 12; turn++) {
    MPI_Comm part;
    int color = 0;
    for (int r = 0; r < ranks; r++) {
      int drawn = draw(3);
      if (r == rank) color = drawn;
    }
    MPI_Comm_split(MPI_COMM_WORLD, color, 0, &part);
    for (int i = 0; i < (calls + 11) / 12; i++) {
      int kind = draw(4), count = counts[draw(4)], root = draw(64), is_world = draw(3) == 0, is_in_place = draw(4) == 0;
      call(is_world ? MPI_COMM_WORLD : part, kind, count, root, is_in_place);
    }
    MPI_Comm_free(&part);
  }
}

static void odd(void) {
  MPI_Comm half, inter, copy;
  side s = side_of(MPI_COMM_WORLD);
  int given, taken = -1;
  for (int kind = 0; kind < 4; kind++) {
    call(MPI_COMM_WORLD, kind, 100, 1, 1);
    call(MPI_COMM_WORLD, kind, 0, 0, 0);
    call(MPI_COMM_SELF, kind, 100, 0, 0);
  }
  for (int i = 0; i < 5; i++) ordered(&s, 1);
  release(&s);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 == 0 ? 1 : 0, 9, &inter);
  given = 7 + rank % 2;
  MPI_Allreduce(&given, &taken, 1, MPI_INT, MPI_MAX, inter);
  expect(taken == 7 + (rank + 1) % 2, "a communicator of two groups");
  for (int i = 0; i < 30; i++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    call(copy, i % 4, 10, 0, 0);
    MPI_Comm_free(&copy);
  }
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

typedef struct {
  MPI_Comm comm;
  int calls;
} work;

static void *in_thread(void *given) {
  const work *w = given;
  in_turn(w->comm, w->calls);
  return NULL;
}

static void threads(int calls) {
  MPI_Comm other;
  pthread_t thread;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  work own = {MPI_COMM_WORLD, calls}, given = {other, calls};
  pthread_create(&thread, NULL, in_thread, &given);
  in_thread(&own);
  pthread_join(thread, NULL);
  MPI_Comm_free(&other);
}

int online(int words, char **word) {
  const char *what = words > 1 ? word[1] : "world";
  int number = words > 2 ? atoi(word[2]) : 1;
  wrong = 0;
  if (strcmp(what, "parts") == 0) parts(number);
  else if (strcmp(what, "random") == 0) random_parts(number, atoi(word[3]));
  else if (strcmp(what, "odd") == 0) odd();
  else if (strcmp(what, "threads") == 0) threads(number);
  else if (strcmp(what, "vanished") == 0) {
    in_turn(MPI_COMM_WORLD, 4);
    if (rank == 0) expect(rmdir(word[2]) == 0, "the folder");
  } else in_turn(MPI_COMM_WORLD, number);
  if (strcmp(what, "limited") == 0 && rank == 0) setrlimit(RLIMIT_FSIZE, &(struct rlimit){1000, 1000});
  if (strcmp(what, "killed") == 0 && rank == ranks - 1) kill(getpid(), SIGKILL);
  return wrong;
}
