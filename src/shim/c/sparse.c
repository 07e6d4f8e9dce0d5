/*
 * MPI_Alltoallv and MPI_Alltoallw whose counts are mostly zero: one message for each block that has data.
 *
 * Open MPI sends a message to every rank in MPI_Alltoallv, whatever its count. MPI demands that a receiver knows the
 * length of every block. So ranks need no agreement on counts, which may change in every call: a rank posts receives
 * and sends of its own blocks that have data, on a separate communicator.
 *
 * All ranks must carry out a call alike, by MPI or by messages. No rank knows whether counts of others are mostly
 * zero, so ranks agree after a number of calls, and then in trials as of plans (pace.c).
 */
#include "shim.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether MPI sends a message for a count of zero in MPI_Alltoallv, without MPI_IN_PLACE. */
#ifdef OPEN_MPI
enum { SENDS_ZEROS = 1 };
#else
enum { SENDS_ZEROS = 0 };
#endif

/* Making a communicator is taken to last as long as so many agreements, which include waiting for ranks. */
enum { CREATION = 6 };
/* Figures are added in such parts, as integers, so that sums are equal on all ranks. */
enum { PARTS = 1 << 10 };

/* The functions that are served. */
enum { WITH_TYPE, WITH_TYPES, SERVED };

/* The state of a communicator that has called. */
typedef struct sparse {
  struct sparse *before, *after; /* neighbors in the list of this process */
  MPI_Comm comm, messages;       /* the communicator of messages is MPI_COMM_NULL until a trial */
  int rank, ranks, number;
  rw_outcome left; /* reason for which every call is MPI's; RW_BY_PLAN: there is none */
  rw_plan plans[SERVED];
  rw_plan by_node[SERVED]; /* trials of served calls: combined by node, or not */
  rw_combiner *combiner;   /* NULL until it is made, or if nothing can be combined */
  int64_t watched[SERVED]; /* messages of this rank in calls before an agreement */
  MPI_Request *requests;
  MPI_Status *statuses;
  int room; /* length of both arrays */
  uint64_t counts[RW_FUNCTIONS][RW_OUTCOMES];
} sparse;

typedef struct {
  int served;
  rw_blocks from, to;
  MPI_Comm comm;
} call;

static int is_over, attached;
static sparse *live;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int rw_sparse_is_on(void) {
  const rw_settings *world = rw_world_settings();
  return !is_over && world != NULL && world->enabled > 0;
}

static void describe(const sparse *s) {
  static const char *const names[SERVED] = {"MPI_Alltoallv", "MPI_Alltoallw"};
  char communicator[96];
  if (!rw_wants_report()) return;
  if (s->comm == MPI_COMM_WORLD) snprintf(communicator, sizeof communicator, "MPI_COMM_WORLD, %d ranks", s->ranks);
  else snprintf(communicator, sizeof communicator, "communicator of all-to-alls %d, %d ranks", s->number, s->ranks);
  for (int f = 0; f < SERVED; f++)
    if (s->plans[f].planned_calls > 0) rw_report_plan(communicator, names[f], "direct messages", &s->plans[f]);
  rw_report_functions(communicator, s->counts);
}

void rw_sparse_stop(void) {
  for (const sparse *s = live; s != NULL; s = s->after) describe(s);
  is_over = 1;
}

static void destroy(void *given) {
  sparse *s = given;
  pthread_mutex_lock(&lock);
  if (!is_over) describe(s);
  if (s->before != NULL) s->before->after = s->after;
  else live = s->after;
  if (s->after != NULL) s->after->before = s->before;
  pthread_mutex_unlock(&lock);
  /* The attribute of MPI_COMM_WORLD may be deleted when MPI is no longer there. */
  if (!is_over && s->messages != MPI_COMM_NULL) PMPI_Comm_free(&s->messages);
  rw_combiner_free(s->combiner);
  free(s->requests);
  free(s->statuses);
  free(s);
}

static rw_attribute attribute = RW_ATTRIBUTE(destroy);

/* Returns why all calls on a communicator are MPI's, alike on its ranks. */
static rw_outcome why_left(MPI_Comm comm, int ranks) {
  const rw_settings *world = rw_world_settings();
  int is_inter = 1;
  if (PMPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS || is_inter || ranks < 2) return RW_BETWEEN_GROUPS;
  if (!rw_is_of_world(comm)) return RW_UNKNOWN;
  return world->records > 0 && world->always < 1 ? RW_RECORDING : RW_BY_PLAN;
}

/* Attaches a state. NULL: there is no memory. Local. */
static sparse *attach(MPI_Comm comm) {
  sparse *s = calloc(1, sizeof *s);
  if (s == NULL || rw_watch_end() != MPI_SUCCESS || PMPI_Comm_rank(comm, &s->rank) != MPI_SUCCESS ||
      PMPI_Comm_size(comm, &s->ranks) != MPI_SUCCESS) {
    free(s);
    return NULL;
  }
  s->comm = comm;
  s->messages = MPI_COMM_NULL;
  s->left = why_left(comm, s->ranks);
  for (int f = 0; f < SERVED; f++) {
    rw_pace_begin(&s->plans[f], rw_world_settings()->always > 0);
    rw_pace_begin(&s->by_node[f], 1);
  }
  pthread_mutex_lock(&lock);
  s->number = attached++;
  s->after = live;
  if (live != NULL) live->before = s;
  live = s;
  pthread_mutex_unlock(&lock);
  if (rw_attribute_set(&attribute, comm, s) == MPI_SUCCESS) return s;
  destroy(s);
  return NULL;
}

/* Finds a state; `is_there` becomes 0 without memory. NULL: the communicator is none. */
static sparse *find(MPI_Comm comm, int *is_there) {
  int code;
  *is_there = 1;
  if (comm == MPI_COMM_NULL) return NULL;
  sparse *s = rw_attribute_get(&attribute, comm, &code);
  if (s == NULL) s = attach(comm);
  *is_there = s != NULL;
  return s;
}

static int make_messages(sparse *s) {
  int is_made = rw_messages_comm(s->comm, &s->messages) == MPI_SUCCESS;
  int code = PMPI_Allreduce(MPI_IN_PLACE, &is_made, 1, MPI_INT, MPI_MIN, s->comm);
  if (code == MPI_SUCCESS && is_made) s->combiner = rw_combiner_make(s->messages);
  return code == MPI_SUCCESS && is_made;
}

/* Makes it on all ranks or leaves their calls to MPI. Collective. */
static int provide(sparse *s, rw_plan *plan) {
  double begin = PMPI_Wtime();
  if (s->messages != MPI_COMM_NULL || make_messages(s)) {
    plan->making_us += (PMPI_Wtime() - begin) * 1e6;
    return 1;
  }
  plan->why = RW_NO_PLAN;
  rw_pace_enter(plan, RW_PHASE_NEVER, UINT64_MAX);
  return 0;
}

static int64_t in_parts(double us) { return (int64_t)(us * PARTS); }

/* Returns the median of the own times of calls before an agreement. */
static double watched_us(rw_plan *plan) {
  double *us = plan->watched_us;
  for (int i = 1; i < RW_WATCH; i++)
    for (int k = i; k > 0 && us[k] < us[k - 1]; k--) {
      double swapped = us[k];
      us[k] = us[k - 1];
      us[k - 1] = swapped;
    }
  return us[RW_WATCH / 2];
}

/* Waits for as many calls as are missing, or for more calls if an estimate says so. */
static void wait_for_calls(rw_plan *plan, rw_outcome why, double missing) {
  double least = plan->calls, most = 7.0 * plan->calls;
  plan->why = (int)why;
  rw_pace_enter(plan, RW_PHASE_EARLY, (uint64_t)(missing < least ? least : missing > most ? most : missing));
}

/* Measures the time of an agreement, with that of waiting for other ranks. Collective. */
static double agreement_us(MPI_Comm comm) {
  int64_t nothing = 0;
  double begin = PMPI_Wtime();
  (void)PMPI_Allreduce(MPI_IN_PLACE, &nothing, 1, MPI_INT64_T, MPI_SUM, comm);
  return (PMPI_Wtime() - begin) * 1e6;
}

/*
 * Agrees after a number of calls whether messages are worth a trial: more than half of the blocks are empty, and the
 * calls so far took long enough for making a communicator, which is estimated by an agreement. Collective.
 */
static int consider(sparse *s, int served) {
  rw_plan *plan = &s->plans[served];
  enum { MESSAGES, CALL, CREATING, PATIENCE, FIGURES };
  double creation_us = s->messages == MPI_COMM_NULL ? CREATION * agreement_us(s->comm) : 0, means[FIGURES];
  int64_t sums[FIGURES] = {s->watched[served], in_parts(watched_us(plan)), in_parts(creation_us),
                           in_parts(rw_own_settings()->patience)};
  int code = PMPI_Allreduce(MPI_IN_PLACE, sums, FIGURES, MPI_INT64_T, MPI_SUM, s->comm);
  s->watched[served] = 0;
  if (code != MPI_SUCCESS) {
    plan->why = RW_NO_PLAN;
    rw_pace_enter(plan, RW_PHASE_NEVER, UINT64_MAX);
    return code;
  }
  for (int i = 0; i < FIGURES; i++) means[i] = (double)sums[i] / PARTS / s->ranks;
  double missing = means[CALL] > 0 ? means[PATIENCE] * means[CREATING] / means[CALL] - plan->calls : 0;
  if (2 * sums[MESSAGES] > (int64_t)RW_WATCH * s->ranks * s->ranks) wait_for_calls(plan, RW_DENSE, 7.0 * plan->calls);
  else if (missing > 0) wait_for_calls(plan, RW_TOO_EARLY, missing);
  else if (provide(s, plan)) rw_pace_try(plan);
  return code;
}

/* Prepares a call. Collective in some calls, in all ranks alike. */
static int agree(sparse *s, int served) {
  rw_plan *plan = &s->plans[served];
  int code = MPI_SUCCESS, is_always = rw_world_settings()->always > 0;
  if (plan->left == 0) {
    if (plan->phase == RW_PHASE_TRIAL) code = rw_pace_judge(plan, s->comm, s->ranks);
    else if (plan->phase == RW_PHASE_PLAN || (is_always && provide(s, plan))) rw_pace_keep(plan, is_always);
    else if (!is_always) code = consider(s, served);
  }
  plan->left--;
  return code;
}

static int count_data(const rw_blocks *blocks, int ranks) {
  int count = 0;
  for (int peer = 0; peer < ranks; peer++) count += rw_block_bytes(blocks, peer) > 0;
  return count;
}

/* Makes room for requests; 0: there is no memory. */
static int make_room(sparse *s, int count) {
  if (count <= s->room) return 1;
  MPI_Request *requests = realloc(s->requests, (size_t)count * sizeof *requests);
  if (requests != NULL) s->requests = requests;
  MPI_Status *statuses = requests == NULL ? NULL : realloc(s->statuses, (size_t)count * sizeof *statuses);
  if (statuses == NULL) return 0;
  s->statuses = statuses;
  s->room = count;
  return 1;
}

/* Returns whether a block has a separate message. */
static int is_direct(const rw_combiner *combiner, const rw_blocks *blocks, int peer) {
  int64_t bytes = rw_block_bytes(blocks, peer);
  return bytes > 0 && (combiner == NULL || !rw_combines(combiner, peer, bytes));
}

/*
 * Exchanges the blocks that have data, that of the rank itself as well. Ranks begin with different peers, so that no
 * rank gets the messages of all at once. Messages of calls that follow stay in order between two ranks. NULL: nothing
 * is combined.
 */
static int exchange(sparse *s, rw_combiner *combiner, const rw_blocks *from, const rw_blocks *to) {
  int count = 0, code = MPI_SUCCESS;
  if (!make_room(s, count_data(from, s->ranks) + count_data(to, s->ranks)))
    return rw_raise_alone(s->comm, MPI_ERR_NO_MEM);
  for (int i = 1, peer = s->rank; i <= s->ranks; i++) {
    peer = peer == 0 ? s->ranks - 1 : peer - 1;
    if (is_direct(combiner, to, peer))
      code = rw_first_error(code, rw_post_receive(rw_block_place(to, peer), to->counts[peer], rw_block_type(to, peer), peer, 0,
                                                  s->messages, &s->requests[count++]));
  }
  for (int i = 1, peer = s->rank; i <= s->ranks; i++) {
    peer = peer == s->ranks - 1 ? 0 : peer + 1;
    if (is_direct(combiner, from, peer))
      code = rw_first_error(code, rw_post_send(rw_block_place(from, peer), from->counts[peer], rw_block_type(from, peer), peer,
                                               0, s->messages, &s->requests[count++]));
  }
  if (combiner != NULL) code = rw_first_error(code, rw_combiner_run(combiner, from, to));
  return rw_first_error(code, rw_complete(count, s->requests, s->statuses));
}

/*
 * Decides whether blocks of a served call are combined, by separate trials, which pause while calls are compared
 * with MPI's. Collective in some calls.
 */
static int agree_by_node(sparse *s, int served, int is_compared, int *is_timed) {
  rw_plan *plan = &s->by_node[served];
  int code = MPI_SUCCESS;
  *is_timed = 0;
  if (s->combiner == NULL || is_compared) return code;
  if (plan->left == 0) {
    if (plan->phase == RW_PHASE_TRIAL) code = rw_pace_judge(plan, s->comm, s->ranks);
    else if (plan->phase == RW_PHASE_PLAN || rw_world_settings()->always > 0) rw_pace_keep(plan, rw_world_settings()->always > 0);
    else rw_pace_try(plan);
  }
  plan->left--;
  plan->calls++;
  *is_timed = plan->phase == RW_PHASE_TRIAL;
  return code;
}

/* Carries out a call by messages. */
static int serve(sparse *s, rw_function function, const call *c, int is_compared) {
  rw_plan *plan = &s->by_node[c->served];
  int is_timed, agreed = agree_by_node(s, c->served, is_compared, &is_timed);
  int is_combined = s->combiner != NULL && (is_compared ? plan->phase == RW_PHASE_PLAN : rw_pace_runs_plan(plan));
  double begin = PMPI_Wtime();
  int code = exchange(s, is_combined ? s->combiner : NULL, &c->from, &c->to);
  s->counts[function][is_combined ? RW_BY_PLAN : RW_SENT_DIRECTLY]++;
  if (is_timed) rw_pace_note(plan, (PMPI_Wtime() - begin) * 1e6, 0);
  return code == MPI_SUCCESS ? agreed : code;
}

static rw_outcome why_by_mpi(const rw_plan *plan) {
  return plan->phase == RW_PHASE_TRIAL     ? RW_IN_TRIAL
         : plan->phase == RW_PHASE_LIBRARY ? RW_LOST_TRIAL
                                           : (rw_outcome)plan->why;
}

static int by_mpi(const call *c) {
  const rw_blocks *from = &c->from, *to = &c->to;
  if (c->served == WITH_TYPES)
    return rw_next.Alltoallw(from->start, from->counts, from->places, from->types, to->start, to->counts, to->places,
                             to->types, c->comm);
  return rw_next.Alltoallv(from->start, from->counts, from->places, from->type, to->start, to->counts, to->places, to->type,
                           c->comm);
}

static int leave(sparse *s, rw_function function, rw_outcome why, const call *c) {
  s->counts[function][why]++;
  return by_mpi(c);
}

static int is_negative(const rw_blocks *blocks, int ranks) {
  int all = 0;
  for (int peer = 0; peer < ranks; peer++) all |= blocks->counts[peer];
  return all < 0;
}

/* Returns whether MPI refuses the arguments; reads extent and size. */
static int is_wrong(rw_blocks *blocks, int served, int ranks) {
  MPI_Aint low;
  if (blocks->counts == NULL || blocks->places == NULL || is_negative(blocks, ranks)) return 1;
  if (served == WITH_TYPE)
    return blocks->type == MPI_DATATYPE_NULL || PMPI_Type_get_extent(blocks->type, &low, &blocks->extent) != MPI_SUCCESS ||
           PMPI_Type_size_x(blocks->type, &blocks->size) != MPI_SUCCESS;
  if (blocks->types == NULL) return 1;
  for (int peer = 0; peer < ranks; peer++)
    if (blocks->counts[peer] > 0 && blocks->types[peer] == MPI_DATATYPE_NULL) return 1;
  return 0;
}

static int perform_agreed(sparse *s, rw_function function, call *c) {
  rw_plan *plan = &s->plans[c->served];
  double begin = 0;
  /* A call that MPI refuses on this rank is not counted, so that calls of the same number remain those of all ranks. */
  if (is_wrong(&c->from, c->served, s->ranks) || is_wrong(&c->to, c->served, s->ranks)) return leave(s, function, RW_WRONG, c);
  int agreed = agree(s, c->served), code;
  int is_timed = rw_pace_watches(plan), is_served = rw_pace_runs_plan(plan);
  plan->calls++;
  if (is_timed && plan->phase != RW_PHASE_TRIAL) s->watched[c->served] += count_data(&c->from, s->ranks);
  if (is_timed) begin = PMPI_Wtime();
  if (is_served) {
    plan->planned_calls++;
    code = serve(s, function, c, plan->phase == RW_PHASE_TRIAL);
  } else code = leave(s, function, why_by_mpi(plan), c);
  if (is_timed) rw_pace_note(plan, (PMPI_Wtime() - begin) * 1e6, 0);
  if (is_served && code != MPI_SUCCESS) return rw_raise(c->comm, code);
  return code != MPI_SUCCESS || agreed == MPI_SUCCESS ? code : rw_raise(c->comm, agreed);
}

/* Returns whether the program leaves the communicator to MPI by its info. */
static int is_off(MPI_Comm comm) {
  const rw_state *state = rw_state_of(comm);
  return state != NULL && state->left == RW_INFO_OFF;
}

static int perform(rw_function function, call *c) {
  int is_there;
  if (!rw_sparse_is_on()) return by_mpi(c);
  sparse *s = find(c->comm, &is_there);
  if (!is_there) return rw_raise_alone(c->comm, MPI_ERR_NO_MEM);
  if (s == NULL) return by_mpi(c);
  if (s->left != RW_BY_PLAN) return leave(s, function, s->left, c);
  if (is_off(c->comm)) return leave(s, function, RW_INFO_OFF, c);
  if (c->from.start == MPI_IN_PLACE) return leave(s, function, RW_ALL_IN_PLACE, c);
  if (!SENDS_ZEROS && rw_world_settings()->always < 1) return leave(s, function, RW_SKIPPED, c);
  return perform_agreed(s, function, c);
}

RW_EXPORT int MPI_Alltoallv(const void *from, const int send_counts[], const int send_places[], MPI_Datatype send_type,
                            void *to, const int counts[], const int places[], MPI_Datatype type, MPI_Comm comm) {
  call given = {WITH_TYPE,
                {(char *)from, send_counts, send_places, send_type, NULL, 0, 0},
                {to, counts, places, type, NULL, 0, 0},
                comm};
  return perform(RW_ALLTOALLV, &given);
}

RW_EXPORT int MPI_Alltoallw(const void *from, const int send_counts[], const int send_places[],
                            const MPI_Datatype send_types[], void *to, const int counts[], const int places[],
                            const MPI_Datatype types[], MPI_Comm comm) {
  call given = {WITH_TYPES,
                {(char *)from, send_counts, send_places, MPI_DATATYPE_NULL, send_types, 0, 0},
                {to, counts, places, MPI_DATATYPE_NULL, types, 0, 0},
                comm};
  return perform(RW_ALLTOALLW, &given);
}

/* MPI sends nothing for counts of zero here, so that the calls are only counted. */
RW_EXPORT int MPI_Ialltoallv(const void *from, const int send_counts[], const int send_places[], MPI_Datatype send_type,
                             void *to, const int counts[], const int places[], MPI_Datatype type, MPI_Comm comm,
                             MPI_Request *request) {
  int is_there;
  sparse *s = rw_sparse_is_on() ? find(comm, &is_there) : NULL;
  if (s != NULL) s->counts[RW_IALLTOALLV][s->left != RW_BY_PLAN ? s->left : is_off(comm) ? RW_INFO_OFF : RW_SKIPPED]++;
  return rw_next.Ialltoallv(from, send_counts, send_places, send_type, to, counts, places, type, comm, request);
}
