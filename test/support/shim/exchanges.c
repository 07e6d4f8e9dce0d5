/*
 * Drives the publishers of the preloaded library directly, with which it is linked, and compares every
 * element. Arguments: a case, a number, of which each case says what it is, and seeds.
 */
#include "cases.h"

#include "publish.h"

#include <pthread.h>

enum { MOST = 64, LONGEST = 700, AHEAD = 100 };

static int wrong;

static unsigned next_random(unsigned *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

typedef struct {
  MPI_Comm comm;
  int in, out, source[MOST], destination[MOST];
  unsigned seed;
} graph;

/* Rank r sends to some; graphs of alltoalls have no parallel edges. Drawn alike on every rank. */
static void draw(graph *g, unsigned seed, int collective) {
  unsigned state = seed;
  g->in = g->out = 0;
  g->seed = seed;
  for (int from = 0; from < ranks; from++)
    for (int to = 0; to < ranks; to++) {
      int edges = (int)(next_random(&state) % 3);
      if (collective == RW_ALLTOALL && edges > 1) edges = 1;
      for (int i = 0; i < edges; i++) {
        if (from == rank) g->destination[g->out++] = to;
        if (to == rank) g->source[g->in++] = from;
      }
    }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, g->in, g->source, MPI_UNWEIGHTED, g->out, g->destination, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &g->comm);
  MPI_Comm_set_errhandler(g->comm, MPI_ERRORS_RETURN);
}

/* Elements of an edge in a call; short and long ones mixed. An allgather has the same for all destinations. */
static int length_of(const graph *g, int from, int to, int call) {
  static const int lengths[] = {1, 0, 3, 256, 13, 257, 40, LONGEST, 2, 14};
  unsigned state = g->seed + (unsigned)(from * 7919 + to * 104729 + call * 31);
  next_random(&state);
  return lengths[next_random(&state) % 10];
}

static int element(int from, int to, int call, int i) { return ((from * 31 + to) * 131 + call) * 1009 + i; }

static void expect(int got, int wanted, const char *what, int call) {
  if (got == wanted) return;
  if (__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED) < 4)
    printf("rank %d: %s, call %d: expected %d, got %d\n", rank, what, call, wanted, got);
}

/* A call with its buffers. Every second one receives a derived type, every third one sends one. */
typedef struct {
  rw_exchange *exchange;
  int call, *from, *to;
  int send_counts[MOST], send_places[MOST], counts[MOST], places[MOST];
  rw_buffer send, receive;
  MPI_Datatype type, sent;
} call;

static void prepare(const graph *g, int collective, int number, call *c) {
  int blocks = collective == RW_ALLGATHER ? 1 : g->out, end = 0;
  c->call = number;
  c->exchange = NULL;
  c->from = malloc(sizeof(int) * (size_t)(LONGEST * (blocks + 1)));
  c->to = malloc(sizeof(int) * (size_t)(2 * (LONGEST + 1) * (g->in + 1)));
  memset(c->to, -1, sizeof(int) * (size_t)(2 * (LONGEST + 1) * (g->in + 1)));
  for (int b = 0; b < blocks; b++) {
    int to = collective == RW_ALLGATHER ? 0 : g->destination[b];
    c->send_counts[b] = length_of(g, rank, to, number);
    c->send_places[b] = b * LONGEST;
    for (int i = 0; i < c->send_counts[b]; i++) c->from[b * LONGEST + i] = element(rank, to, number, i);
  }
  for (int s = 0; s < g->in; s++) {
    c->counts[s] = length_of(g, g->source[s], collective == RW_ALLGATHER ? 0 : rank, number);
    c->places[s] = end;
    end += c->counts[s] + 1;
  }
  c->type = MPI_INT;
  if (number % 2 == 1) {
    MPI_Datatype one;
    MPI_Type_vector(1, 1, 2, MPI_INT, &one);
    MPI_Type_create_resized(one, 0, 2 * sizeof(int), &c->type);
    MPI_Type_commit(&c->type);
    MPI_Type_free(&one);
  }
  MPI_Datatype sent = MPI_INT;
  if (number % 3 == 2) {
    MPI_Type_contiguous(1, MPI_INT, &sent);
    MPI_Type_commit(&sent);
  }
  c->sent = sent;
  rw_buffer_set(&c->send, c->from, 0, c->send_counts, c->send_places, sent);
  rw_buffer_set(&c->receive, c->to, 0, c->counts, c->places, c->type);
}

static void free_types(call *c) {
  if (c->type != MPI_INT) MPI_Type_free(&c->type);
  if (c->sent != MPI_INT) MPI_Type_free(&c->sent);
}

/* What was started may outlive its type, and what it was sent from. */
static void start(rw_publisher *p, call *c) {
  expect(rw_exchange_start(p, &c->send, &c->receive, &c->exchange), MPI_SUCCESS, "start", c->call);
  free_types(c);
}

static void check(const graph *g, int collective, call *c) {
  int stride = c->call % 2 + 1;
  for (int s = 0; s < g->in; s++)
    for (int i = 0; i <= c->counts[s]; i++)
      expect(c->to[stride * (c->places[s] + i)],
             i == c->counts[s] ? -1 : element(g->source[s], collective == RW_ALLGATHER ? 0 : rank, c->call, i),
             collective == RW_ALLGATHER ? "allgather" : "alltoall", c->call);
  free(c->from);
  free(c->to);
}

static void finish(const graph *g, int collective, call *c) {
  expect(rw_exchange_wait(c->exchange), MPI_SUCCESS, "wait", c->call);
  rw_exchange_free(c->exchange);
  check(g, collective, c);
}

static void run(rw_publisher *p, const graph *g, int collective, int number) {
  call c;
  prepare(g, collective, number, &c);
  expect(rw_exchange_run(p, &c.send, &c.receive), MPI_SUCCESS, "run", number);
  free_types(&c);
  check(g, collective, &c);
}

static rw_publisher *publisher_of(const graph *g, int collective) {
  rw_publisher *p = rw_publisher_make(rw_state_of(g->comm), collective);
  if (p == NULL) expect(0, 1, "ranks that share memory", 0);
  return p;
}

/* So many calls in flight, completed in an order that every rank draws for itself, by waits and by tests. */
static void run_window(rw_publisher *p, const graph *g, int collective, int first, int window, unsigned *state) {
  call *calls = malloc(sizeof *calls * (size_t)window);
  int *order = malloc(sizeof *order * (size_t)window);
  for (int i = 0; i < window; i++) {
    prepare(g, collective, first + i, &calls[i]);
    start(p, &calls[i]);
    order[i] = i;
  }
  for (int i = window - 1; i >= 0; i--) {
    int other = (int)(next_random(state) % (unsigned)(i + 1)), last = order[other], is_done = 0;
    order[other] = order[i];
    if (i % 3 == 0) rw_exchange_advance(calls[last].exchange, &is_done);
    finish(g, collective, &calls[last]);
  }
  free(calls);
  free(order);
}

static void many(int rounds, unsigned seed) {
  unsigned state = seed * 77 + (unsigned)rank;
  for (int collective = 0; collective < RW_COLLECTIVES; collective++) {
    graph g;
    draw(&g, seed + (unsigned)collective, collective);
    rw_publisher *p = publisher_of(&g, collective);
    for (int round = 0, call = 0; p != NULL && round < rounds; round++) {
      static const int windows[] = {1, 3, 20, 7};
      run_window(p, &g, collective, call, windows[round % 4], &state);
      call += windows[round % 4];
      run(p, &g, collective, call++);
    }
    MPI_Comm_free(&g.comm);
  }
}

/* One rank starts everything before any other begins: then a start waits for no other rank. */
static void ahead(int first, unsigned seed) {
  for (int collective = 0; collective < RW_COLLECTIVES; collective++) {
    static call calls[AHEAD];
    graph g;
    draw(&g, seed + (unsigned)collective, collective);
    rw_publisher *p = publisher_of(&g, collective);
    if (p == NULL) return;
    for (int i = 0; i < AHEAD; i++) prepare(&g, collective, i, &calls[i]);
    if (rank == first % ranks) {
      for (int i = 0; i < AHEAD; i++) start(p, &calls[i]);
      for (int r = 0; r < ranks; r++)
        if (r != rank) MPI_Send(NULL, 0, MPI_INT, r, 0, MPI_COMM_WORLD);
    } else MPI_Recv(NULL, 0, MPI_INT, first % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < AHEAD; i++) {
      if (rank != first % ranks) start(p, &calls[i]);
      finish(&g, collective, &calls[i]);
    }
    MPI_Comm_free(&g.comm);
  }
}

/* So many communicators, one after the other. Memory is there again in the end. */
static void repeated(int count, unsigned seed) {
  int rings = 0;
  for (int n = 0; n < count; n++) {
    graph g;
    draw(&g, seed, n % RW_COLLECTIVES);
    rw_publisher *p = publisher_of(&g, n % RW_COLLECTIVES);
    if (p == NULL) return;
    for (int call = 0; call < n % 4; call++) run(p, &g, n % RW_COLLECTIVES, call);
    rings += p->ring != 0;
    MPI_Comm_free(&g.comm);
  }
  if (rings < count / 3) expect(rings, count, "rings", count);
}

/* So many communicators at the same time, one a child of another: more than a region has entries. */
static void alive(int count, unsigned seed) {
  graph *graphs = malloc(sizeof *graphs * (size_t)count);
  for (int twice = 0; twice < 2; twice++) {
    for (int n = 0; n < count; n++) draw(&graphs[n], seed + (unsigned)(n % 5), RW_ALLGATHER);
    for (int call = 0; call < 12; call++)
      for (int n = 0; n < count; n += n < 4 ? 1 : 50) {
        rw_publisher *p = publisher_of(&graphs[n], RW_ALLGATHER);
        if (p != NULL) run(p, &graphs[n], RW_ALLGATHER, call);
        p = publisher_of(&graphs[count - 1 - n], RW_ALLGATHER);
        if (p != NULL) run(p, &graphs[count - 1 - n], RW_ALLGATHER, call);
      }
    for (int n = 0; n < count; n++) MPI_Comm_free(&graphs[n].comm);
  }
  free(graphs);
}

/* Copies of a communicator have numbers that their ranks agree on. */
static void children(int count, unsigned seed) {
  graph g, copy;
  draw(&g, seed, RW_ALLGATHER);
  copy = g;
  for (int n = 0; n < count; n++) {
    MPI_Comm_dup(g.comm, &copy.comm);
    rw_publisher *p = publisher_of(&copy, RW_ALLGATHER), *q = publisher_of(&g, RW_ALLGATHER);
    if (p == NULL || q == NULL) break;
    run(q, &g, RW_ALLGATHER, n);
    run(p, &copy, RW_ALLGATHER, n + 1);
    MPI_Comm_free(&copy.comm);
  }
  MPI_Comm_free(&g.comm);
}

/* A room too long for a block gets it, one too short is an error, and the next call is right. */
static void wrong_rooms(int calls, unsigned seed) {
  graph g;
  draw(&g, seed, RW_ALLGATHER);
  rw_publisher *p = publisher_of(&g, RW_ALLGATHER);
  for (int n = 0; p != NULL && n < calls; n++) {
    int own[LONGEST], *to = malloc(sizeof(int) * (size_t)(LONGEST * (g.in + 1))), class;
    int count = n % 2 == 0 ? 2 : LONGEST, room = n % 2 == 0 ? LONGEST : 2;
    for (int i = 0; i < count; i++) own[i] = element(rank, 0, n, i);
    rw_buffer send, receive;
    rw_buffer_set(&send, own, count, NULL, NULL, MPI_INT);
    rw_buffer_set(&receive, to, room, NULL, NULL, MPI_INT);
    MPI_Error_class(rw_exchange_run(p, &send, &receive), &class);
    expect(class, n % 2 == 0 || g.in == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE, "class of a wrong room", n);
    for (int s = 0; n % 2 == 0 && s < g.in; s++)
      for (int i = 0; i < count; i++) expect(to[s * room + i], element(g.source[s], 0, n, i), "a long room", n);
    free(to);
    MPI_Barrier(MPI_COMM_WORLD);
    run(p, &g, RW_ALLGATHER, n);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Comm_free(&g.comm);
}

/* Freed while a call is in flight. */
static void freed(int count, unsigned seed) {
  for (int n = 0; n < count; n++) {
    graph g;
    call c;
    draw(&g, seed, RW_ALLGATHER);
    rw_publisher *p = publisher_of(&g, RW_ALLGATHER);
    if (p == NULL) return;
    prepare(&g, RW_ALLGATHER, n, &c);
    start(p, &c);
    MPI_Comm_free(&g.comm);
    finish(&g, RW_ALLGATHER, &c);
  }
}

/*
 * So many calls in flight. Rank 2 begins when rank 0 has completed them; rank 1, which reads those of rank 2 first, must not
 * hold rank 0 up.
 */
static void late(int count, unsigned seed) {
  static const int sources[] = {2, 0}, destination = 1;
  static call calls[AHEAD];
  graph g = {MPI_COMM_NULL, rank == 1 ? 2 : 0, rank == 0 || rank == 2, {2, 0}, {1}, seed};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, g.in, sources, MPI_UNWEIGHTED, g.out, &destination, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &g.comm);
  for (int collective = 0; collective < RW_COLLECTIVES; collective++) {
    rw_publisher *p = publisher_of(&g, collective);
    for (int n = 0; p != NULL && n < count; n++) prepare(&g, collective, n, &calls[n]);
    if (rank == 2) MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int n = 0; p != NULL && n < count; n++) start(p, &calls[n]);
    for (int n = 0; p != NULL && n < count; n++) finish(&g, collective, &calls[n]);
    if (rank == 0) MPI_Send(NULL, 0, MPI_INT, 2, 0, MPI_COMM_WORLD);
  }
  MPI_Comm_free(&g.comm);
}

typedef struct {
  graph g;
  int collective, calls;
} task;

static void *in_thread(void *given) {
  task *t = given;
  unsigned state = (unsigned)rank;
  rw_publisher *p = publisher_of(&t->g, t->collective);
  for (int n = 0; p != NULL && n < t->calls; n += 3) run_window(p, &t->g, t->collective, n, 3, &state);
  return NULL;
}

static void threads(int calls, unsigned seed) {
  task tasks[RW_COLLECTIVES];
  pthread_t thread[RW_COLLECTIVES];
  for (int i = 0; i < RW_COLLECTIVES; i++) {
    draw(&tasks[i].g, seed + (unsigned)i, i);
    tasks[i].collective = i;
    tasks[i].calls = calls;
  }
  for (int i = 0; i < RW_COLLECTIVES; i++) pthread_create(&thread[i], NULL, in_thread, &tasks[i]);
  for (int i = 0; i < RW_COLLECTIVES; i++) pthread_join(thread[i], NULL);
}

int exchanges(int words, char **word) {
  static const struct {
    const char *name;
    void (*run)(int, unsigned);
  } cases[] = {{"many", many}, {"ahead", ahead}, {"again", repeated}, {"alive", alive}, {"children", children},
               {"rooms", wrong_rooms}, {"freed", freed}, {"late", late}, {"threads", threads}};
  int found = 0;
  wrong = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int seed = 3; seed < words && strcmp(cases[i].name, word[1]) == 0; seed++, found++)
      cases[i].run(atoi(word[2]), (unsigned)atoi(word[seed]));
  return found == 0 ? 1 : wrong;
}
