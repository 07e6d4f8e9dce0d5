/*
 * Many non-blocking neighborhood collectives in flight at once, among other requests, completed by every call
 * that MPI has for it. Prints a sum over everything received, which is the same with every library.
 * Arguments: seed, rounds, and `threads` for two of them. The graphs follow from the seed: parallel edges, self loops, no
 * edges.
 */
#include "cases.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#define INIT(name) MPIX_Neighbor_##name##_init
enum { HAS_PERSISTENT = 1 };
#else
/* MPICH 4.0 hangs without any library, too: persistent forms are left to it. */
#define INIT(name) MPI_Neighbor_##name##_init
enum { HAS_PERSISTENT = 0 };
#endif
#include <pthread.h>
#include <stdint.h>

enum { GRAPHS = 4, FLIGHT = 6, OTHERS = 5, MANY = 20, MOST = 4096, WAYS = 10, THREADS = 2 };

static int failures;

static void expect(int holds, const char *what) {
  if (holds) return;
  if (__atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED) < 3) printf("rank %d: %s\n", rank, what);
}

static unsigned next_random(unsigned *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

typedef struct {
  MPI_Comm comm;
  int in, out, is_simple;
  int source[MOST], destination[MOST];
} graph;

/* Edges of all ranks, in the order of sources. */
static void draw(graph *g, unsigned seed, int degree, int is_simple) {
  char *has_edge = calloc((size_t)(ranks * ranks), 1);
  g->in = g->out = 0;
  g->is_simple = is_simple;
  for (int r = 0; r < ranks; r++) {
    int own = degree == 0 ? 0 : (int)(next_random(&seed) % (unsigned)(2 * degree + 1));
    for (int i = 0; i < own; i++) {
      int to = (int)(next_random(&seed) % (unsigned)ranks);
      if (is_simple && has_edge[r * ranks + to]++) continue;
      if (r == rank) g->destination[g->out++] = to;
      if (to == rank) g->source[g->in++] = r;
    }
  }
  free(has_edge);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, g->in, g->source, MPI_UNWEIGHTED, g->out, g->destination, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &g->comm);
}

static int length_of(int source, int destination, int call) {
  static const int lengths[] = {1, 0, 16, 75, 3, 256, 1, 400, 0, 64, 2500, 2};
  return lengths[(unsigned)(source * 5 + destination * 3 + call) % 12];
}

/* A call in flight with its buffers. */
typedef struct {
  int *from, *to, bytes;
  int *send_counts, *send_places, *counts, *places;
} flight;

static int sum_lengths(int *counts, int *places, const int *of, int count, int is_source, int call) {
  int end = 0;
  for (int i = 0; i < count; i++) {
    counts[i] = is_source ? length_of(of[i], rank, call) : length_of(rank, of[i], call);
    places[i] = end;
    end += counts[i] + 1;
  }
  return end;
}

/* Starts one of five kinds of calls, or makes its persistent request. Types of calls are freed at once. */
static void make(const graph *g, int call, int kind, int is_persistent, flight *f, MPI_Request *request) {
  int all = 2501 * (g->out + 1), most = 2 * 2501 * (g->in + 1);
  f->from = malloc(sizeof(int) * (size_t)all);
  f->to = malloc(sizeof(int) * (size_t)most);
  f->send_counts = malloc(sizeof(int) * (size_t)(2 * g->out + 2 * g->in + 4));
  f->send_places = f->send_counts + g->out;
  f->counts = f->send_places + g->out;
  f->places = f->counts + g->in;
  f->bytes = most * (int)sizeof(int);
  for (int i = 0; i < all; i++) f->from[i] = (rank * 31 + i) * 131 + call;
  memset(f->to, -1, (size_t)f->bytes);
  int same = length_of(0, 0, call);
  MPI_Datatype one, every_second;
  MPI_Type_vector(1, 1, 2, MPI_INT, &one);
  MPI_Type_create_resized(one, 0, 2 * sizeof(int), &every_second);
  MPI_Type_commit(&every_second);
  MPI_Datatype type = kind == 0 ? MPI_INT : every_second;
  if (kind < 2) {
    if (is_persistent) INIT(allgather)(f->from, same, MPI_INT, f->to, same, type, g->comm, MPI_INFO_NULL, request);
    else MPI_Ineighbor_allgather(f->from, same, MPI_INT, f->to, same, type, g->comm, request);
  } else if (kind == 2) {
    for (int s = 0, end = 0; s < g->in; s++) {
      f->counts[s] = length_of(g->source[s], 0, call);
      f->places[s] = end++;
      end += f->counts[s];
    }
    int own = length_of(rank, 0, call);
    if (is_persistent)
      INIT(allgatherv)(f->from, own, MPI_INT, f->to, f->counts, f->places, MPI_INT, g->comm, MPI_INFO_NULL, request);
    else MPI_Ineighbor_allgatherv(f->from, own, MPI_INT, f->to, f->counts, f->places, MPI_INT, g->comm, request);
  } else if (kind == 3) {
    if (is_persistent) INIT(alltoall)(f->from, same, MPI_INT, f->to, same, type, g->comm, MPI_INFO_NULL, request);
    else MPI_Ineighbor_alltoall(f->from, same, MPI_INT, f->to, same, type, g->comm, request);
  } else {
    sum_lengths(f->send_counts, f->send_places, g->destination, g->out, 0, call);
    sum_lengths(f->counts, f->places, g->source, g->in, 1, call);
    if (is_persistent)
      INIT(alltoallv)(f->from, f->send_counts, f->send_places, MPI_INT, f->to, f->counts, f->places, MPI_INT, g->comm,
                      MPI_INFO_NULL, request);
    else
      MPI_Ineighbor_alltoallv(f->from, f->send_counts, f->send_places, MPI_INT, f->to, f->counts, f->places, MPI_INT,
                              g->comm, request);
  }
  MPI_Type_free(&one);
  /* A type of a persistent request may be freed, too, but Open MPI 4.1 loses it then. */
  if (!is_persistent) MPI_Type_free(&every_second);
}

static void start(const graph *g, int call, int kind, flight *f, MPI_Request *request) {
  make(g, call, kind, 0, f, request);
}

static uint64_t hash_of(const flight *f) {
  uint64_t hash = 14695981039346656037u;
  for (int i = 0; i < f->bytes / (int)sizeof(int); i++) hash = (hash ^ (unsigned)f->to[i]) * 1099511628211u;
  return hash;
}

static uint64_t finish(flight *f) {
  uint64_t hash = hash_of(f);
  free(f->from);
  free(f->to);
  free(f->send_counts);
  return hash;
}

/* Completes all requests in one of the ways of MPI; inactive and null ones are among them. */
static void complete(int way, int count, MPI_Request *requests) {
  MPI_Status statuses[FLIGHT + OTHERS], status;
  int index, flag = 0, some, indices[FLIGHT + OTHERS], seen = 0;
  int active = 0;
  for (int i = 0; i < count; i++) active += requests[i] != MPI_REQUEST_NULL;
  active--; /* one is persistent and inactive */
  if (way == 0) MPI_Waitall(count, requests, statuses);
  if (way == 1) MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  if (way == 2)
    for (int i = count - 1; i >= 0; i--) MPI_Wait(&requests[i], i % 2 ? &status : MPI_STATUS_IGNORE);
  if (way == 3)
    while (MPI_Waitany(count, requests, &index, &status), index != MPI_UNDEFINED) seen++;
  if (way == 4)
    while (MPI_Waitsome(count, requests, &some, indices, statuses), some != MPI_UNDEFINED) seen += some;
  if (way == 5)
    while (!flag) MPI_Testall(count, requests, &flag, statuses);
  if (way == 6)
    for (;;) {
      MPI_Testany(count, requests, &index, &flag, MPI_STATUS_IGNORE);
      if (flag && index == MPI_UNDEFINED) break;
      if (flag) seen++;
    }
  if (way == 7)
    while (MPI_Testsome(count, requests, &some, indices, MPI_STATUSES_IGNORE), some != MPI_UNDEFINED) seen += some;
  if (way == 8)
    for (int i = 0; i < count; i++)
      for (flag = 0; !flag;) MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
  if (way == 9)
    for (int i = 0; i < count; i++) {
      for (flag = 0; !flag;) MPI_Request_get_status(requests[i], &flag, &status);
      MPI_Wait(&requests[i], &status);
    }
  if (way == 3 || way == 4 || way == 6 || way == 7) expect(seen == active, "requests completed one by one");
  active = 0;
  for (int i = 0; i < count; i++) active += requests[i] != MPI_REQUEST_NULL;
  expect(active == 1, "handles of completed requests are null, but for the persistent one");
}

typedef struct {
  unsigned seed;
  int rounds;
  MPI_Comm world;
  graph *graphs;
  uint64_t sum;
} job;

/* A communicator of a duplicate, which another thread makes and frees at the same time. */
static void come_and_go(MPI_Comm world) {
  enum { CALLS = 3 };
  MPI_Comm ring;
  MPI_Request requests[CALLS];
  int peer = (rank + 1) % ranks, source = (rank + ranks - 1) % ranks, from[CALLS], to[CALLS];
  MPI_Dist_graph_create_adjacent(world, 1, &source, MPI_UNWEIGHTED, 1, &peer, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
  for (int i = 0; i < CALLS; i++) {
    from[i] = rank * CALLS + i;
    MPI_Ineighbor_alltoall(&from[i], 1, MPI_INT, &to[i], 1, MPI_INT, ring, &requests[i]);
  }
  MPI_Comm_free(&ring);
  MPI_Waitall(CALLS, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < CALLS; i++) expect(to[i] == source * CALLS + i, "alltoall of a communicator that comes and goes");
}

/* Calls in flight among others; blocking ones are on another communicator, or come when nothing is in flight. */
static void *run_rounds(void *given) {
  job *j = given;
  unsigned state = j->seed;
  MPI_Request inactive;
  int nothing;
  MPI_Recv_init(&nothing, 1, MPI_INT, MPI_PROC_NULL, 0, j->world, &inactive);
  for (int round = 0; round < j->rounds; round++) {
    const graph *g = &j->graphs[next_random(&state) % GRAPHS], *other = &j->graphs[round % GRAPHS];
    int count = 1 + (int)(next_random(&state) % FLIGHT), received = -1;
    flight flights[FLIGHT];
    MPI_Request requests[FLIGHT + OTHERS];
    requests[0] = MPI_REQUEST_NULL;
    requests[1] = inactive;
    MPI_Irecv(&received, 1, MPI_INT, (rank + ranks - 1) % ranks, 7, j->world, &requests[2]);
    MPI_Ibarrier(j->world, &requests[3]);
    for (int i = 0; i < count; i++)
      start(g, (int)(next_random(&state) % 100u), (int)(next_random(&state) % 5u), &flights[i], &requests[OTHERS - 1 + i]);
    MPI_Isend(&round, 1, MPI_INT, (rank + 1) % ranks, 7, j->world, &requests[OTHERS - 1 + count]);
    if (other != g) {
      int *theirs = malloc(sizeof(int) * (size_t)(other->in + 1));
      MPI_Neighbor_allgather(&rank, 1, MPI_INT, theirs, 1, MPI_INT, other->comm);
      for (int s = 0; s < other->in; s++) expect(theirs[s] == other->source[s], "blocking allgather");
      free(theirs);
    }
    if (round % 4 == 3) come_and_go(j->world);
    complete((round + rank) % WAYS, count + OTHERS, requests);
    expect(received == round, "message beside the collectives");
    for (int i = 0; i < count; i++) j->sum = j->sum * 31 + finish(&flights[i]);
  }
  MPI_Request_free(&inactive);
  return NULL;
}

/*
 * A rank that has started many calls blocks in a receive; the message comes when others have completed them.
 * Nothing that is in flight waits for the rank that blocks.
 */
static uint64_t hold(const graph *g) {
  uint64_t sum = 0;
  MPI_Request requests[MANY];
  flight flights[MANY];
  int nothing = 0;
  for (int holder = 0; holder < ranks; holder++) {
    for (int i = 0; i < MANY; i++) start(g, i, i % 3, &flights[i], &requests[i]);
    if (rank == holder)
      for (int r = 0; r < ranks - 1; r++) MPI_Recv(&nothing, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    if (rank != holder) MPI_Send(&nothing, 1, MPI_INT, holder, 9, MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++) sum = sum * 31 + finish(&flights[i]);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return sum;
}

/* Persistent requests, started in other orders on other ranks, while others are in flight. */
static uint64_t persist(const graph *g, int rounds) {
  enum { KINDS = 5 };
  uint64_t sum = 0;
  MPI_Request requests[KINDS + 1], message;
  flight flights[KINDS], other;
  for (int k = 0; k < KINDS; k++) make(g, 3 * k, k, 1, &flights[k], &requests[k]);
  for (int round = 0; round < rounds; round++) {
    int nothing = round, flag = 0, index, received = -1, some, indices[KINDS + 1];
    for (int k = 0; k < KINDS; k++) {
      flights[k].from[0] = rank * 1000 + round;
      memset(flights[k].to, -1, (size_t)flights[k].bytes);
    }
    MPI_Irecv(&received, 1, MPI_INT, (rank + 1) % ranks, 11, MPI_COMM_WORLD, &requests[KINDS]);
    if (round % 2 == 0) MPI_Startall(KINDS, requests);
    else
      for (int k = 0; k < KINDS; k++) MPI_Start(&requests[(k + rank) % KINDS]);
    start(g, round, round % 5, &other, &message);
    MPI_Wait(&message, MPI_STATUS_IGNORE);
    sum = sum * 31 + finish(&other);
    MPI_Isend(&nothing, 1, MPI_INT, (rank + ranks - 1) % ranks, 11, MPI_COMM_WORLD, &message);
    if (round % 4 == 0) MPI_Waitall(KINDS + 1, requests, MPI_STATUSES_IGNORE);
    if (round % 4 == 1)
      while (MPI_Waitany(KINDS + 1, requests, &index, MPI_STATUS_IGNORE), index != MPI_UNDEFINED) flag++;
    if (round % 4 == 2)
      while (!flag) MPI_Testall(KINDS + 1, requests, &flag, MPI_STATUSES_IGNORE);
    if (round % 4 == 3)
      while (MPI_Testsome(KINDS + 1, requests, &some, indices, MPI_STATUSES_IGNORE), some != MPI_UNDEFINED) flag += some;
    if (round % 2 == 1) expect(flag == KINDS + 1, "persistent requests completed one by one");
    MPI_Wait(&message, MPI_STATUS_IGNORE);
    expect(received == round && requests[0] != MPI_REQUEST_NULL, "message beside persistent requests");
    for (int k = 0; k < KINDS; k++) sum = sum * 31 + hash_of(&flights[k]);
  }
  for (int k = 0; k < KINDS; k++) {
    MPI_Request_free(&requests[k]);
    finish(&flights[k]);
  }
  return sum;
}

int stress(int words, char **word) {
  static graph graphs[THREADS][GRAPHS];
  int threads = words > 3 ? THREADS : 1, first = words > 1 ? atoi(word[1]) : 0;
  failures = 0;
  job jobs[THREADS];
  uint64_t sum = 0;
  for (int t = 0; t < threads; t++) {
    unsigned seed = (unsigned)first + (unsigned)t * 17u;
    for (int i = 0; i < GRAPHS; i++) draw(&graphs[t][i], seed + (unsigned)i * 1000003u, i == 3 ? 0 : 1 + 2 * i, i % 2);
    jobs[t] = (job){seed, words > 2 ? atoi(word[2]) : 1, MPI_COMM_NULL, graphs[t], 0};
    MPI_Comm_dup(MPI_COMM_WORLD, &jobs[t].world);
  }
  pthread_t others[THREADS];
  for (int t = 1; t < threads; t++) pthread_create(&others[t], NULL, run_rounds, &jobs[t]);
  run_rounds(&jobs[0]);
  for (int t = 1; t < threads; t++) pthread_join(others[t], NULL);
  for (int t = 0; t < threads; t++) sum += jobs[t].sum;
  if (threads == 1) sum += hold(&graphs[0][0]) + hold(&graphs[0][1]);
  for (int i = 0; HAS_PERSISTENT && i < GRAPHS; i++) sum += persist(&graphs[0][i], jobs[0].rounds / 4);
  /* Freed while calls are in flight, and not at all. */
  flight last;
  MPI_Request request;
  start(&graphs[0][1], 5, 0, &last, &request);
  MPI_Comm_free(&graphs[0][1].comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  sum += finish(&last);
  uint64_t all;
  PMPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %016llx\n", (unsigned long long)all);
  return failures;
}
