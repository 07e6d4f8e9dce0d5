/*
 * An attribute holds what the library knows of a topology communicator. MPI frees it with the communicator, and a
 * duplicate gets none.
 * A communicator has a short record at first. Many are freed after few calls, for which a state, with lists and plans,
 * would take longer to make than it can gain.
 */
#include "shim.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The bytes of the shortest limit; of the blocks of a plan; and of what a value takes in addition to its block at
 * most: its length, and 7 bytes of padding.
 */
enum { LEAST_LIMIT = 16, MEMORY = 32 << 20, BESIDES = 11 };
/* The most communicators of a process whose graphs are recorded. */
enum { MOST_RECORDED = 256 };

static int created;

/* The record of a communicator. */
typedef struct {
  MPI_Comm comm;
  rw_state *state; /* NULL until it is needed */
  int number, arena_number, is_used;
  unsigned calls[RW_COLLECTIVES], counts[RW_NEIGHBOR_ALLTOALLV + 1]; /* calls before there is a state */
  rw_lists lists; /* while there is no state, those of the lengths if `ranks` is not 0 */
} entry;

/* Records that need no allocation. */
enum { ENTRIES = 64 };
static entry entries[ENTRIES];
/* Counts records that were attached or destroyed, from 1: a handle may be that of another communicator afterwards. */
static unsigned changes = 1;
/* The states of communicators that are not freed; communicators may be made in several threads. */
static rw_state *live;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void describe(const rw_state *state) {
  rw_report_state(state);
  rw_record_write(state);
}

/* Returns a record of zeros, or NULL if there is no memory. */
static entry *take_entry(void) {
  entry *taken = NULL;
  pthread_mutex_lock(&lock);
  for (int i = 0; taken == NULL && i < ENTRIES; i++)
    if (!entries[i].is_used) taken = memset(&entries[i], 0, sizeof *taken);
  if (taken != NULL) taken->is_used = 1;
  pthread_mutex_unlock(&lock);
  return taken != NULL ? taken : calloc(1, sizeof *taken);
}

static void give_entry(entry *given) {
  if (given < entries || given >= entries + ENTRIES) {
    free(given);
    return;
  }
  pthread_mutex_lock(&lock);
  given->is_used = 0;
  pthread_mutex_unlock(&lock);
}

static void destroy_state(rw_state *state) {
  pthread_mutex_lock(&lock);
  describe(state);
  if (state->before != NULL) state->before->after = state->after;
  else live = state->after;
  if (state->after != NULL) state->after->before = state->before;
  pthread_mutex_unlock(&lock);
  rw_state_remember(state);
}

static void destroy(void *given) {
  entry *e = given;
  __atomic_add_fetch(&changes, 1, __ATOMIC_ACQ_REL);
  if (e->state != NULL) destroy_state(e->state);
  give_entry(e);
}

static rw_attribute attribute = RW_ATTRIBUTE(destroy);

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF first, in whatever language it is called. */
static void at_end(void *nothing) {
  int rank = -1;
  (void)nothing;
  for (const rw_state *state = live; state != NULL; state = state->after) describe(state);
  rw_sparse_stop();
  rw_graphs_forget();
  rw_online_stop();
  rw_tune_stop();
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && rw_wants_report()) rw_report_print();
  rw_requests_end();
  if (attribute.key != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(&attribute.key);
}

int rw_raise(MPI_Comm comm, int code) {
  PMPI_Comm_call_errhandler(comm, code);
  return code;
}

int rw_raise_alone(MPI_Comm comm, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length;
  rw_raise(comm, code);
  PMPI_Error_string(code, text, &length);
  fprintf(stderr, "rankweave shim: the job ends, because other ranks would wait for this one after an error: %s\n", text);
  PMPI_Abort(MPI_COMM_WORLD, code);
  return code;
}

/*
 * Returns whether there is a world. A program of sessions alone has none, though MPICH calls it initialized; nor
 * has one that has finalized it.
 */
static int has_world(void) {
  int is_begun = 0, is_over = 0;
  PMPI_Initialized(&is_begun);
  PMPI_Finalized(&is_over);
  return is_begun && !is_over && (MPI_VERSION < 4 || rw_world_settings() != NULL);
}

int rw_watch_end(void) {
  static rw_attribute end = RW_ATTRIBUTE(at_end);
  static int is_watched;
  int code = MPI_SUCCESS;
  if (!has_world()) return code;
  pthread_mutex_lock(&lock);
  if (!is_watched) code = rw_attribute_set(&end, MPI_COMM_SELF, NULL);
  is_watched = code == MPI_SUCCESS;
  pthread_mutex_unlock(&lock);
  return code;
}

static int count_created(void) {
  pthread_mutex_lock(&lock);
  int count = created++;
  pthread_mutex_unlock(&lock);
  return count;
}

static void add_to_live(rw_state *state) {
  pthread_mutex_lock(&lock);
  state->after = live;
  if (live != NULL) live->before = state;
  live = state;
  pthread_mutex_unlock(&lock);
}

/* Takes the first file whose plan fits on all ranks; `parts` are those of this rank. */
static void take_planned(rw_state *state, const double names[RW_FILES], rw_part *parts[RW_FILES]) {
  for (int i = 0; i < RW_FILES; i++) {
    rw_plan *plan = &state->plans[RW_ALLGATHER];
    if (names[i] > 0 && plan->part == NULL) {
      plan->part = parts[i];
      snprintf(plan->name, RW_NAME, "plan file %d, %08x", i + 1, (unsigned)names[i]);
    } else rw_part_free(parts[i]);
  }
}

int rw_is_of_world(MPI_Comm comm) {
  MPI_Group own, all, others;
  int count = 1;
  if (!has_world() || rw_world_settings() == NULL || PMPI_Comm_group(comm, &own) != MPI_SUCCESS) return 0;
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  PMPI_Group_difference(own, all, &others);
  PMPI_Group_size(others, &count);
  PMPI_Group_free(&own);
  PMPI_Group_free(&all);
  if (others != MPI_GROUP_EMPTY) PMPI_Group_free(&others);
  return count == 0;
}

/* Returns whether all ranks agreed on settings in MPI_Init, and one of them changes what is done from the start. */
static int sets_apart(MPI_Comm comm) {
  const rw_settings *world = rw_world_settings();
  if (world == NULL || (world->enabled > 0 && world->always < 1 && world->records < 1)) return 0;
  return rw_is_of_world(comm);
}

/*
 * Agrees on the settings of all ranks, and whether all have their lists: otherwise no rank plans. A rank that fails
 * still takes part: no other rank must wait for it. Collective.
 */
static int agree(rw_state *state) {
  rw_settings settings = *rw_own_settings();
  rw_part *parts[RW_FILES] = {NULL};
  double names[RW_FILES] = {0}, is_ready = state->publishers != NULL;
  settings.is_simple = !state->lists.is_parallel;
  if (state->number >= MOST_RECORDED) settings.records = 0;
  for (int i = 0; is_ready > 0 && i < RW_FILES; i++)
    if (rw_plan_path(i) != NULL) names[i] = rw_plan_file_read(rw_plan_path(i), &state->lists, &parts[i]);
  int code = rw_agree(state->comm, &settings, &is_ready, names);
  if (code != MPI_SUCCESS || is_ready < 1) settings.enabled = 0;
  if (settings.enabled < 1) memset(names, 0, sizeof names);
  state->is_agreed = 1;
  state->settings = settings;
  state->lists.is_parallel = settings.is_simple < 1;
  take_planned(state, names, parts);
  return code;
}

void rw_state_read(rw_state *state) {
  rw_lists read;
  if (state->is_read) return;
  state->is_read = 1;
  if (rw_lists_read(state->comm, &read) != MPI_SUCCESS) return;
  state->lists = read;
  if (read.is_parallel && !read.is_grid) rw_pairing_find();
  state->publishers = rw_publishers_allocate(&state->lists);
  if (state->publishers != NULL) rw_publishers_open(state->publishers, state->comm, state->arena_number);
}

/* Makes the state of a record, with the calls so far. `is_apart`: settings of the world change it from the start. */
static int make_state(entry *e, int is_off, int is_apart) {
  const rw_settings *world = rw_world_settings();
  rw_state *state = rw_state_allocate();
  if (state == NULL) return MPI_ERR_NO_MEM;
  state->comm = e->comm;
  state->shadow = MPI_COMM_NULL;
  state->number = e->number;
  state->arena_number = e->arena_number;
  if (is_off) state->left = RW_INFO_OFF;
  else if (is_apart && world->records > 0 && world->always < 1) state->left = RW_RECORDING;
  for (int c = 0; c < RW_COLLECTIVES; c++) {
    rw_pace_begin(&state->plans[c], is_apart && world->always > 0);
    state->plans[c].calls = e->calls[c];
    state->plans[c].left -= e->calls[c];
  }
  for (int f = 0; f <= RW_NEIGHBOR_ALLTOALLV; f++) state->counts[f][RW_TOO_EARLY] = e->counts[f];
  int code = rw_lists_count(e->comm, &state->lists);
  if (code == MPI_SUCCESS && is_apart && world->records > 0) {
    rw_state_read(state);
    code = agree(state);
    if (code == MPI_SUCCESS && state->settings.enabled > 0 && state->settings.records > 0)
      code = rw_record_gather(e->comm, state);
  }
  if (code != MPI_SUCCESS) {
    rw_state_free(state);
    return code;
  }
  add_to_live(state);
  e->state = state;
  return code;
}

int rw_state_attach(MPI_Comm old, MPI_Comm comm, int is_off) {
  if (!has_world()) return MPI_SUCCESS;
  /* Processes of another world may lack this library, so they would not agree. */
  int is_ours = rw_world_settings() == NULL || old == MPI_COMM_WORLD || (comm != MPI_COMM_NULL && rw_is_of_world(comm));
  int is_needed = is_ours && comm != MPI_COMM_NULL && !rw_state_is_there(comm);
  int number = is_needed || old == MPI_COMM_WORLD ? rw_arena_number(old, comm) : -1;
  if (!is_needed) return MPI_SUCCESS;
  int is_apart = sets_apart(comm);
  if (is_apart && rw_world_settings()->enabled < 1) return MPI_SUCCESS;
  int code = rw_watch_end();
  entry *e = code == MPI_SUCCESS ? take_entry() : NULL;
  if (e == NULL) return code == MPI_SUCCESS ? MPI_ERR_NO_MEM : code;
  e->comm = comm;
  e->number = count_created();
  e->arena_number = number;
  if (is_off || is_apart || rw_wants_report()) code = make_state(e, is_off, is_apart);
  if (code == MPI_SUCCESS) code = rw_attribute_set(&attribute, comm, e);
  __atomic_add_fetch(&changes, 1, __ATOMIC_ACQ_REL);
  if (code != MPI_SUCCESS) destroy(e);
  return code;
}

/* MPI takes longer to find an attribute than a call of few neighbors has to spare, so a thread keeps what it found last. */
static entry *entry_of(MPI_Comm comm) {
  static __thread struct {
    MPI_Comm comm;
    unsigned changes;
    entry *found;
  } last;
  unsigned now = __atomic_load_n(&changes, __ATOMIC_ACQUIRE);
  int code;
  if (comm == MPI_COMM_NULL) return NULL;
  if (last.changes == now && last.comm == comm) return last.found;
  last.comm = comm;
  last.changes = now;
  return last.found = rw_attribute_get(&attribute, comm, &code);
}

int rw_state_is_there(MPI_Comm comm) { return entry_of(comm) != NULL; }

rw_state *rw_state_of(MPI_Comm comm) {
  entry *e = entry_of(comm);
  if (e == NULL || e->state != NULL) return e == NULL ? NULL : e->state;
  int code = make_state(e, 0, 0);
  if (code != MPI_SUCCESS) rw_raise_alone(comm, code);
  return e->state;
}

int rw_state_is_early(const rw_call *call, int collective, rw_function function) {
  entry *e = entry_of(call->comm);
  int is_v_send = function == RW_NEIGHBOR_ALLTOALLV, is_v = is_v_send || function == RW_NEIGHBOR_ALLGATHERV;
  if (e == NULL || e->state != NULL || e->calls[collective] >= RW_EARLY) return 0;
  if (is_v && e->lists.ranks == 0 && rw_lists_count(e->comm, &e->lists) != MPI_SUCCESS) return 0;
  if (rw_call_is_wrong(call, &e->lists, is_v_send, is_v)) return 0;
  e->calls[collective]++;
  e->counts[function]++;
  return 1;
}

/* Makes a communicator for messages of plans: they never meet those of the user. */
static int make_shadow(rw_state *state) {
  if (state->shadow != MPI_COMM_NULL) return MPI_SUCCESS;
  return rw_messages_comm(state->comm, &state->shadow);
}

/* Makes a part whose values move by messages, on ways that sources find. */
static int make_moves(rw_state *state, int collective, const rw_route *route, rw_plan *plan) {
  rw_own_moves own;
  rw_moves sends, receives;
  int ok = rw_own_moves_find(&state->lists, route, collective, &own);
  if (!ok) own.count = 0;
  int code = rw_moves_tell(state->shadow, &state->lists, &own, &sends, &receives);
  if (code == MPI_SUCCESS && ok) plan->part = rw_part_make(&state->lists, collective, &sends, &receives);
  free(own.items);
  free(sends.items);
  free(receives.items);
  return code;
}

static int make_part(rw_state *state, int collective, rw_plan *plan) {
  rw_layout layout;
  rw_route route;
  int is_worth;
  plan->why = RW_NO_PLAN;
  int code = rw_choose(state->shadow, &state->lists, collective, &state->settings, &layout, &route, plan->name, &is_worth);
  if (code == MPI_SUCCESS && !is_worth) plan->why = RW_NOT_WORTH;
  if (code == MPI_SUCCESS && is_worth) {
    code = make_moves(state, collective, &route, plan);
  }
  rw_layout_free(&layout);
  return code;
}

/* Agrees on what memory permits on every rank; nothing if a rank has no part. */
static int agree_on_most(rw_state *state, rw_plan *plan) {
  plan->most = 0;
  if (plan->part != NULL) {
    const struct rw_program *program = &plan->part->program;
    double blocks = 1.0 + program->send_start[program->sends] + rw_values(program) + program->own + program->slots;
    plan->most = MEMORY / blocks - BESIDES;
    if (plan->most > state->settings.block_limit) plan->most = state->settings.block_limit;
  }
  return PMPI_Allreduce(MPI_IN_PLACE, &plan->most, 1, MPI_DOUBLE, MPI_MIN, state->shadow);
}

static void give_up(rw_plan *plan) {
  rw_runner_free(plan->runner);
  rw_part_free(plan->part);
  plan->runner = NULL;
  plan->part = NULL;
  plan->publisher = NULL;
  plan->is_shared = 0;
}

/* Rounds up, so that blocks may grow. */
static double rounded_up(const rw_plan *plan, double longest) {
  double limit = LEAST_LIMIT;
  while (limit < 2 * longest && limit < plan->most) limit *= 2;
  return limit < plan->most ? limit : plan->most;
}

int rw_state_limit(rw_state *state, int collective, double longest) {
  rw_plan *plan = &state->plans[collective];
  int code = PMPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_DOUBLE, MPI_MAX, state->comm);
  if (code != MPI_SUCCESS) return code;
  if (longest >= RW_ON_DEVICE) {
    give_up(plan);
    plan->why = RW_DEVICE;
    return MPI_SUCCESS;
  }
  if (plan->publisher != NULL) return MPI_SUCCESS;
  double limit = rounded_up(plan, longest);
  if (plan->runner != NULL && limit == plan->limit) return MPI_SUCCESS;
  rw_runner_free(plan->runner);
  plan->limit = limit;
  plan->runner = rw_runner_make(plan->part, &state->lists, state->shadow, (int)limit);
  int has_runner = plan->runner != NULL;
  code = PMPI_Allreduce(MPI_IN_PLACE, &has_runner, 1, MPI_INT, MPI_MIN, state->shadow);
  if (code == MPI_SUCCESS && has_runner) return code;
  give_up(plan);
  return code;
}

/* Reading in memory is cheaper than any message, so it is worth a trial. */
rw_publisher *rw_state_publisher(const rw_state *state, int collective) {
  rw_publisher *publisher = rw_publisher_make(state, collective);
  if (publisher == NULL || !rw_publisher_is_shared(publisher) || rw_arena_of_process()->has_route) return NULL;
  return publisher;
}

int rw_state_plan(rw_state *state, int collective) {
  rw_plan *plan = &state->plans[collective];
  double begin = PMPI_Wtime();
  int code = state->is_agreed ? MPI_SUCCESS : agree(state);
  plan->why = RW_NO_PLAN;
  if (state->settings.enabled < 1) return code;
  if (code == MPI_SUCCESS && plan->part == NULL) plan->publisher = rw_state_publisher(state, collective);
  if (plan->publisher != NULL) {
    plan->is_shared = 1;
    plan->most = rw_publisher_limit(plan->publisher);
    snprintf(plan->name, RW_NAME, "shared");
    plan->making_us = (PMPI_Wtime() - begin) * 1e6;
    return MPI_SUCCESS;
  }
  if (collective == RW_ALLTOALL && state->lists.is_parallel) {
    plan->why = RW_PARALLEL_EDGES;
    return code;
  }
  if (code == MPI_SUCCESS) code = make_shadow(state);
  if (code == MPI_SUCCESS) {
    /* A rank that fails has no part, but takes part in the agreement: then no rank has a plan. */
    if (plan->part == NULL) (void)make_part(state, collective, plan);
    code = agree_on_most(state, plan);
  }
  if (code != MPI_SUCCESS || plan->most < 1) give_up(plan);
  plan->making_us = (PMPI_Wtime() - begin) * 1e6;
  return code;
}
