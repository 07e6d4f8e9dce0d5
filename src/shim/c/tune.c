/*
 * Calls in the settings of a tuning file. All ranks of a communicator choose alike, because they choose by what
 * MPI demands to be equal: the bytes of a call, its operation, and the nodes of the communicator.
 *
 * Open MPI gives settings to communicators when they are made. So a communicator gets a shadow of the same ranks
 * for each setting in use, in a call that all ranks make. Where several threads call MPI, another one could make
 * a communicator meanwhile, which would get the setting on some of its ranks. There only MPI_COMM_WORLD has
 * shadows, made in MPI_Init_thread.
 */
#include "shim.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What became of calls for which the file has decisions. Those behind RW_BY_SETTING are MPI's. */
#define ALL_OUTCOMES(X)                                                        \
  X(BY_SETTING, "in the setting")                                              \
  X(BY_DEFAULT, "left to MPI: the file chooses so")                            \
  X(EARLY, "left to MPI: too few calls yet")                                   \
  X(UNKNOWN, "left to MPI: it does not know the setting, or not for such calls") \
  X(LIMIT, "left to MPI: more settings in use than shadow communicators")      \
  X(FAILED, "left to MPI: no shadow communicator could be made")
#define NAME_OF(outcome, text) outcome,
#define TEXT_OF(outcome, text) text,
typedef enum { ALL_OUTCOMES(NAME_OF) OUTCOMES } outcome;
static const char *const texts[OUTCOMES] = {ALL_OUTCOMES(TEXT_OF)};

/* Why a function's calls are MPI's before a setting is chosen. */
#define ALL_REASONS(X)                                                      \
  X(WRONG, "arguments that MPI refuses")                                    \
  X(IN_PLACE, "in place")                                                   \
  X(UNEQUAL, "unequal counts")                                              \
  X(EMPTY, "no data")                                                       \
  X(IN_ORDER, "an operation that is not commutative")                       \
  X(COMMUNICATOR, "a communicator of one rank, of two groups, or of another world") \
  X(THREADS, "MPI_THREAD_MULTIPLE on another communicator than MPI_COMM_WORLD")
typedef enum { ALL_REASONS(NAME_OF) REASONS } reason;
static const char *const reasons[REASONS] = {ALL_REASONS(TEXT_OF)};

/* A setting on a communicator. */
typedef struct {
  MPI_Comm shadow; /* MPI_COMM_NULL: none */
  uint32_t calls;
  outcome known; /* EARLY until it is decided */
} seat;

/* What hangs on a communicator that has called. */
typedef struct {
  MPI_Comm comm;
  rw_tune_call call; /* what all its calls share */
  int ranks, shadows;
  int is_left; /* all calls are MPI's */
  seat *seats; /* by setting */
} tuned;

static rw_tuning *tuning;
static int is_on, is_used, is_threaded, key = MPI_KEYVAL_INVALID;
static int shadows; /* of the process */
static int *world_node, world_ranks, nodes;
static MPI_Group world_group;
/* The communicator of the last call; of several threads MPI_COMM_WORLD's, the only one. */
static tuned *recent;
static uint64_t (*by_setting)[OUTCOMES], left[RW_TUNE_FUNCTIONS][REASONS];

static void count(uint64_t *counter) { __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); }

int rw_tune_is_on(void) { return is_on; }
int rw_tune_is_used(void) { return is_used; }

static void destroy(tuned *t) {
  for (int i = 0; t->seats != NULL && i < tuning->settings; i++) {
    if (t->seats[i].shadow == MPI_COMM_NULL) continue;
    shadows--;
    PMPI_Comm_free(&t->seats[i].shadow);
  }
  if (recent == t) recent = NULL;
  free(t->seats);
  free(t);
}

static int delete_tuned(MPI_Comm comm, int keyval, void *hung, void *extra) {
  (void)comm;
  (void)keyval;
  (void)extra;
  /* That of MPI_COMM_WORLD may be deleted when MPI is no longer there. */
  if (is_on) destroy(hung);
  return MPI_SUCCESS;
}

/* Nodes and processes on them, of which the largest number counts. 0: a rank is not of this world, or no memory. */
static int spread(MPI_Comm comm, tuned *t) {
  MPI_Group group;
  int *own = malloc(((size_t)t->ranks * 2 + (size_t)nodes) * sizeof *own), *world = own + t->ranks, *on_node = world + t->ranks;
  if (own == NULL) return 0;
  int used = 0, most = 0, is_known = PMPI_Comm_group(comm, &group) == MPI_SUCCESS;
  for (int r = 0; r < t->ranks; r++) own[r] = r;
  memset(on_node, 0, (size_t)nodes * sizeof *on_node);
  if (is_known) {
    is_known = PMPI_Group_translate_ranks(group, t->ranks, own, world_group, world) == MPI_SUCCESS;
    PMPI_Group_free(&group);
  }
  for (int r = 0; is_known && r < t->ranks; r++) {
    is_known = world[r] >= 0 && world[r] < world_ranks;
    if (!is_known) break;
    int here = ++on_node[world_node[world[r]]];
    used += here == 1;
    if (here > most) most = here;
  }
  free(own);
  t->call.nodes = used;
  t->call.per_node = most;
  t->call.processes = t->ranks;
  t->call.is_even = t->ranks % 2 == 0 ? RW_WORD_YES : RW_WORD_NO;
  t->call.is_power = (t->ranks & (t->ranks - 1)) == 0 ? RW_WORD_YES : RW_WORD_NO;
  t->call.is_shared = used == 1 ? RW_WORD_YES : RW_WORD_NO;
  return is_known;
}

/* NULL: there is no memory. Local. */
static tuned *attach(MPI_Comm comm) {
  int is_inter = 0;
  tuned *t = calloc(1, sizeof *t);
  if (t == NULL) return NULL;
  t->comm = comm;
  if (PMPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS || PMPI_Comm_size(comm, &t->ranks) != MPI_SUCCESS) is_inter = 1;
  t->is_left = is_inter || t->ranks < 2 || !spread(comm, t);
  if (!t->is_left) t->seats = malloc((size_t)tuning->settings * sizeof *t->seats);
  for (int i = 0; t->seats != NULL && i < tuning->settings; i++) t->seats[i] = (seat){MPI_COMM_NULL, 0, EARLY};
  if ((t->is_left || t->seats != NULL) && PMPI_Comm_set_attr(comm, key, t) == MPI_SUCCESS) return t;
  destroy(t);
  return NULL;
}

/* `is_there` becomes 0 without memory. */
static tuned *find(MPI_Comm comm, int *is_there) {
  void *hung;
  int is_hung = 0;
  *is_there = 1;
  if (is_threaded) return comm == MPI_COMM_WORLD ? recent : NULL;
  if (recent != NULL && recent->comm == comm) return recent;
  if (PMPI_Comm_get_attr(comm, key, &hung, &is_hung) != MPI_SUCCESS) return NULL;
  recent = is_hung ? hung : attach(comm);
  *is_there = recent != NULL;
  return recent;
}

/* A communicator of the same ranks. It has no attributes of the user, whose copying the user would see. */
static int make(MPI_Comm comm, int setting, MPI_Comm *shadow) {
  MPI_Group group;
  if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS) return 0;
  int is_made = rw_tune_library_set(setting);
  int code = PMPI_Comm_create(comm, group, shadow);
  is_made &= rw_tune_library_reset(setting);
  PMPI_Group_free(&group);
  if (code != MPI_SUCCESS) *shadow = MPI_COMM_NULL;
  return is_made && code == MPI_SUCCESS && PMPI_Comm_set_errhandler(*shadow, MPI_ERRORS_RETURN) == MPI_SUCCESS;
}

/* On all ranks of the communicator or on none: processes have different numbers of shadows. Collective. */
static outcome provide(tuned *t, int setting) {
  seat *s = &t->seats[setting];
  int has_room = t->shadows < tuning->per_communicator && shadows < tuning->per_process;
  if (PMPI_Allreduce(MPI_IN_PLACE, &has_room, 1, MPI_INT, MPI_MIN, t->comm) != MPI_SUCCESS) return FAILED;
  if (!has_room) return LIMIT;
  int is_made = make(t->comm, setting, &s->shadow);
  if (PMPI_Allreduce(MPI_IN_PLACE, &is_made, 1, MPI_INT, MPI_MIN, t->comm) != MPI_SUCCESS) is_made = 0;
  if (is_made) {
    t->shadows++;
    shadows++;
    return BY_SETTING;
  }
  if (s->shadow != MPI_COMM_NULL) PMPI_Comm_free(&s->shadow);
  return FAILED;
}

static outcome decide(tuned *t, int setting, int function) {
  seat *s = &t->seats[setting];
  if (s->known != EARLY) return s->known;
  if (strcmp(rw_tuning_settings(tuning)[setting].algorithm, "default") == 0) return s->known = BY_DEFAULT;
  if (!rw_tune_library_knows(setting, function, t->ranks)) return UNKNOWN;
  if (!rw_tune_library_needs_shadows()) return s->known = BY_SETTING;
  if (is_threaded) return LIMIT;
  if (s->calls++ < tuning->after) return EARLY;
  return s->known = provide(t, setting);
}

static int leave(int function, reason why) {
  count(&left[function][why]);
  return 0;
}

static int collective_of(int function) {
  return function == RW_TUNE_REDUCE_SCATTER_BLOCK ? RW_TUNE_REDUCE_SCATTER : function;
}

int rw_tune_serves(MPI_Comm comm, int function) {
  int is_there;
  if (!is_on || tuning->trees[collective_of(function)].settings == 0 || comm == MPI_COMM_NULL) return 0;
  const tuned *t = find(comm, &is_there);
  if (!is_there) return -1;
  if (t == NULL) return leave(function, is_threaded ? THREADS : WRONG);
  return t->is_left ? leave(function, COMMUNICATOR) : 1;
}

int rw_tune_begin(rw_turn *turn, MPI_Comm comm, int function, int64_t bytes, MPI_Op op, MPI_Datatype type) {
  int collective = collective_of(function), is_commutative = 1, is_there;
  if (bytes < 0) return leave(function, bytes == RW_BYTES_IN_PLACE ? IN_PLACE : bytes == RW_BYTES_UNEQUAL ? UNEQUAL : WRONG);
  if (bytes == 0 && function != RW_TUNE_BARRIER) return leave(function, EMPTY);
  int operation = rw_tune_operation(op);
  if (op != MPI_OP_NULL && operation == RW_WORD_UNSTATED && PMPI_Op_commutative(op, &is_commutative) != MPI_SUCCESS)
    return leave(function, WRONG);
  if (!is_commutative) return leave(function, IN_ORDER);
  tuned *t = find(comm, &is_there);
  rw_tune_call call = t->call;
  call.bytes = (double)bytes;
  call.collective = collective;
  call.operation = operation;
  call.order = op == MPI_OP_NULL ? RW_WORD_UNSTATED : RW_ORDER_ANY;
  int setting = rw_tune_decide(tuning, &call);
  outcome became = decide(t, setting, function);
  /* Of the two functions of reduce-scatter one may lack it. */
  if (became == BY_SETTING &&
      !(rw_tune_library_knows(setting, function, t->ranks) && rw_tune_library_takes(setting, bytes, type)))
    became = UNKNOWN;
  if (became == BY_SETTING && !rw_tune_library_set_call(setting, function)) {
    rw_tune_library_reset_call(setting, function);
    became = FAILED;
  }
  count(&by_setting[setting][became]);
  if (became != BY_SETTING) return 0;
  *turn = (rw_turn){comm, rw_tune_library_needs_shadows() ? t->seats[setting].shadow : comm, setting, function};
  return 1;
}

int rw_tune_end(const rw_turn *turn, int code) {
  rw_tune_library_reset_call(turn->setting, turn->function);
  return code == MPI_SUCCESS || turn->comm == turn->user ? code : rw_raise(turn->user, code);
}

/* The same block on all ranks; NULL if rank 0 has none, or a rank has no memory. Collective. */
static rw_tuning *spread_out(int rank, rw_tuning *read) {
  int64_t bytes = read == NULL ? 0 : (int64_t)rw_tuning_bytes(read);
  PMPI_Bcast(&bytes, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  if (bytes == 0) return NULL;
  rw_tuning *own = rank == 0 ? read : malloc((size_t)bytes);
  if (rw_agree_on_memory(MPI_COMM_WORLD, own != NULL) == MPI_SUCCESS &&
      PMPI_Bcast(own, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD) == MPI_SUCCESS)
    return own;
  free(own);
  return NULL;
}

/* The reason of the first process that has one. Collective. */
static const char *first_reason(const char *own) {
  static char reason[512];
  int rank, first;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  first = own == NULL ? INT_MAX : rank;
  PMPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == first && rank == 0) snprintf(reason, sizeof reason, "%s", own);
  else if (rank == first) snprintf(reason, sizeof reason, "process %d: %s", rank, own);
  PMPI_Bcast(reason, sizeof reason, MPI_CHAR, first, MPI_COMM_WORLD);
  return reason;
}

/* NULL, or why no process is tuned: alike on all. Collective. */
static const char *prepare(void) {
  rw_layout layout;
  const char *wrong = rw_tune_library_begin(is_threaded);
  if (wrong == NULL && !rw_tune_library_resolve(tuning)) wrong = "there is no memory for it";
  if (wrong == NULL && rw_state_make_keys() != MPI_SUCCESS) wrong = "MPI gives no key";
  if (wrong == NULL && PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_tuned, &key, NULL) != MPI_SUCCESS)
    wrong = "MPI gives no key";
  by_setting = calloc((size_t)tuning->settings + 1, sizeof *by_setting);
  if (wrong == NULL && by_setting == NULL) wrong = "there is no memory for it";
  double sum = wrong == NULL ? rw_tune_library_sum() : 0;
  double least[] = {wrong == NULL, sum, -sum};
  PMPI_Allreduce(MPI_IN_PLACE, least, 3, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  if (least[0] < 1) return first_reason(wrong);
  if (least[1] != -least[2]) return "the libraries of MPI of the processes differ";
  if (rw_layout_make(MPI_COMM_WORLD, (int)tuning->cores, &layout) != MPI_SUCCESS) return "there is no memory for it";
  world_node = layout.node;
  nodes = layout.nodes;
  layout.node = NULL;
  rw_layout_free(&layout);
  PMPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
  PMPI_Comm_group(MPI_COMM_WORLD, &world_group);
  return NULL;
}

/* Before any other thread can call MPI. Collective. */
static void provide_world(void) {
  char *is_reached = calloc((size_t)tuning->settings + 1, 1);
  tuned *t = attach(MPI_COMM_WORLD);
  int has_memory = is_reached != NULL && t != NULL && !t->is_left;
  recent = t;
  if (rw_agree_on_memory(MPI_COMM_WORLD, has_memory) == MPI_SUCCESS) {
    for (int c = 0; c < RW_TUNE_COLLECTIVES; c++) {
      rw_tune_call call = t->call;
      call.collective = c;
      rw_tune_reach(tuning, &call, is_reached);
    }
    for (int i = 0; i < tuning->settings; i++) {
      const rw_tune_setting *setting = &rw_tuning_settings(tuning)[i];
      int is_known = rw_tune_library_knows(i, setting->collective, t->ranks) ||
                     (setting->collective == RW_TUNE_REDUCE_SCATTER &&
                      rw_tune_library_knows(i, RW_TUNE_REDUCE_SCATTER_BLOCK, t->ranks));
      if (is_reached[i] && is_known) t->seats[i].known = provide(t, i);
    }
  } else recent = NULL;
  free(is_reached);
}

void rw_tune_share(void) {
  char wrong[512] = "";
  int rank, level = MPI_THREAD_SINGLE;
  const rw_settings *world = rw_world_settings();
  if (world == NULL || world->enabled < 1 || world->records > 0 || world->tunes < 1) return;
  const char *path = rw_tune_path(), *why = NULL;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Query_thread(&level);
  PMPI_Allreduce(MPI_IN_PLACE, &level, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  is_threaded = level == MPI_THREAD_MULTIPLE;
  rw_tuning *read = NULL;
  if (rank == 0 && path == NULL) why = "rank 0 names no tuning file, other processes do";
  else if (rank == 0) read = rw_tune_read(path, NULL, wrong, sizeof wrong);
  if (read != NULL) {
    const rw_settings *own = rw_own_settings();
    read->cores = own->cores;
    read->after = own->tune_after;
    read->per_communicator = own->tune_per_communicator;
    read->per_process = own->tune_per_process;
  }
  tuning = spread_out(rank, read);
  if (tuning != NULL) why = prepare();
  else if (why == NULL) why = read == NULL ? wrong : "there is no memory for it";
  if (why != NULL) {
    if (rank == 0) fprintf(stderr, "rankweave shim: the tuning file%s%s is not used: %s\n", path == NULL ? "" : " ", path == NULL ? "" : path, why);
    return;
  }
  is_on = is_used = 1;
  if (is_threaded) provide_world();
}

void rw_tune_stop(void) { is_on = 0; }

static void report_setting(int setting) {
  char line[512];
  uint64_t calls = 0;
  for (int o = 0; o < OUTCOMES; o++) calls += by_setting[setting][o];
  if (calls == 0) return;
  rw_tune_setting_name(&rw_tuning_settings(tuning)[setting], line, sizeof line);
  size_t used = strlen(line);
  used += (size_t)snprintf(line + used, sizeof line - used, ": %" PRIu64 " call%s", calls, calls == 1 ? "" : "s");
  const char *between = ": ";
  for (int o = 0; o < OUTCOMES && used < sizeof line; o++) {
    if (by_setting[setting][o] == 0) continue;
    used += (size_t)snprintf(line + used, sizeof line - used, "%s%" PRIu64 " %s", between, by_setting[setting][o], texts[o]);
    between = "; ";
  }
  rw_report_line(line);
}

void rw_tune_report(void) {
  char line[512];
  if (!is_used) return;
  for (int i = 0; i < tuning->settings; i++) report_setting(i);
  for (int f = 0; f < RW_TUNE_FUNCTIONS; f++)
    for (int r = 0; r < REASONS; r++) {
      if (left[f][r] == 0) continue;
      snprintf(line, sizeof line, "%s: %" PRIu64 " call%s left to MPI: %s",
               f == RW_TUNE_REDUCE_SCATTER_BLOCK ? "reduce-scatter of equal blocks" : rw_tune_collective_name(f),
               left[f][r], left[f][r] == 1 ? "" : "s", reasons[r]);
      rw_report_line(line);
    }
}
