/*
 * Calls in the settings of a tuning file. All ranks of a communicator choose alike, because they choose by what MPI
 * demands to be equal: the bytes of a call, its operation, and the nodes of the communicator. Open MPI gives
 * settings to communicators when they are made. So a communicator gets a shadow of the same ranks for each setting
 * in use, in a call that all ranks make. If several threads call MPI, another one could make a communicator
 * meanwhile, which would get the setting on some of its ranks. In that case only MPI_COMM_WORLD has shadows, made
 * in MPI_Init_thread.
 */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A setting on a communicator. */
typedef struct {
  MPI_Comm shadow; /* MPI_COMM_NULL: none */
  uint32_t calls;
  rw_tune_outcome known; /* RW_TUNE_EARLY until it is decided */
} seat;

/* The state of a communicator that has called. */
typedef struct {
  MPI_Comm comm;
  rw_tune_call call; /* values that all its calls share */
  int ranks, shadows, leader; /* the world's rank of its first one */
  int is_left; /* all calls are MPI's */
  seat *seats; /* seats by setting */
  rw_online *online; /* NULL: calls are decided by a file */
} tuned;

static const rw_tuning *tuning;
static int is_on, is_used, is_online, is_threaded;
/*
 * Whether the thread carries out a call of a setting: a tool behind this library may make further calls in it,
 * which must not be chosen.
 */
static __thread int is_inside;
static int shadows; /* shadow communicators of the process */
static int *world_node, world_ranks, nodes;
static MPI_Group world_group;
/* The communicator of the last call; with several threads MPI_COMM_WORLD's, the only one. */
static tuned *recent;

int rw_tune_is_on(void) { return is_on; }
int rw_tune_is_used(void) { return is_used; }

static void destroy(void *given) {
  tuned *t = given;
  /* The attribute of MPI_COMM_WORLD may be deleted when MPI is no longer there. */
  for (int i = 0; is_on && t->seats != NULL && i < tuning->settings; i++) {
    if (t->seats[i].shadow == MPI_COMM_NULL) continue;
    shadows--;
    PMPI_Comm_free(&t->seats[i].shadow);
  }
  if (recent == t) recent = NULL;
  rw_online_free(t->online);
  free(t->seats);
  free(t);
}

static rw_attribute attribute = RW_ATTRIBUTE(destroy);

/*
 * Counts nodes and processes on them, of which the largest number counts. 0: a rank is not of this world, or no
 * memory.
 */
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
  t->leader = is_known ? world[0] : -1;
  free(own);
  t->call.nodes = used;
  t->call.per_node = most;
  t->call.processes = t->ranks;
  t->call.is_even = t->ranks % 2 == 0 ? RW_WORD_YES : RW_WORD_NO;
  t->call.is_power = (t->ranks & (t->ranks - 1)) == 0 ? RW_WORD_YES : RW_WORD_NO;
  t->call.is_shared = used == 1 ? RW_WORD_YES : RW_WORD_NO;
  return is_known;
}

/* Attaches a state. NULL: there is no memory. Local. */
static tuned *attach(MPI_Comm comm) {
  int is_inter = 0;
  tuned *t = calloc(1, sizeof *t);
  if (t == NULL) return NULL;
  t->comm = comm;
  if (PMPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS || PMPI_Comm_size(comm, &t->ranks) != MPI_SUCCESS) is_inter = 1;
  t->is_left = is_inter || t->ranks < 2 || !spread(comm, t);
  if (!t->is_left) t->seats = malloc((size_t)tuning->settings * sizeof *t->seats);
  for (int i = 0; t->seats != NULL && i < tuning->settings; i++) t->seats[i] = (seat){MPI_COMM_NULL, 0, RW_TUNE_EARLY};
  if (t->seats != NULL && is_online) t->online = rw_online_make(comm == MPI_COMM_WORLD, &t->call);
  int has_memory = t->is_left || (t->seats != NULL && (!is_online || t->online != NULL));
  if (has_memory && rw_attribute_set(&attribute, comm, t) == MPI_SUCCESS) return t;
  destroy(t);
  return NULL;
}

/* Finds a state; `is_there` becomes 0 without memory. */
static tuned *find(MPI_Comm comm, int *is_there) {
  int code;
  *is_there = 1;
  if (is_threaded) return comm == MPI_COMM_WORLD ? recent : NULL;
  if (recent != NULL && recent->comm == comm) return recent;
  tuned *found = rw_attribute_get(&attribute, comm, &code);
  if (code != MPI_SUCCESS) return NULL;
  recent = found != NULL ? found : attach(comm);
  *is_there = recent != NULL;
  return recent;
}

static int make(MPI_Comm comm, int setting, MPI_Comm *shadow) {
  int is_made = rw_tune_library_set(setting);
  int code = rw_messages_comm(comm, shadow);
  return rw_tune_library_reset(setting) && is_made && code == MPI_SUCCESS;
}

/*
 * Makes the shadow on all ranks of the communicator or on none: processes have different numbers of shadows.
 * Collective.
 */
static rw_tune_outcome provide(tuned *t, int setting) {
  seat *s = &t->seats[setting];
  int has_room = t->shadows < tuning->per_communicator && shadows < tuning->per_process;
  if (PMPI_Allreduce(MPI_IN_PLACE, &has_room, 1, MPI_INT, MPI_MIN, t->comm) != MPI_SUCCESS) return RW_TUNE_FAILED;
  if (!has_room) return RW_TUNE_LIMIT;
  int is_made = make(t->comm, setting, &s->shadow);
  if (PMPI_Allreduce(MPI_IN_PLACE, &is_made, 1, MPI_INT, MPI_MIN, t->comm) != MPI_SUCCESS) is_made = 0;
  if (is_made) {
    t->shadows++;
    shadows++;
    return RW_TUNE_BY_SETTING;
  }
  if (s->shadow != MPI_COMM_NULL) PMPI_Comm_free(&s->shadow);
  return RW_TUNE_FAILED;
}

static rw_tune_outcome decide(tuned *t, int setting, int function) {
  seat *s = &t->seats[setting];
  if (s->known != RW_TUNE_EARLY) return s->known;
  if (strcmp(rw_tuning_settings(tuning)[setting].algorithm, "default") == 0) return s->known = RW_TUNE_BY_DEFAULT;
  if (!rw_tune_library_knows(setting, function, t->ranks)) return RW_TUNE_UNKNOWN;
  if (!rw_tune_library_needs_shadows()) return s->known = RW_TUNE_BY_SETTING;
  if (is_threaded) return RW_TUNE_LIMIT;
  if (s->calls++ < tuning->after) return RW_TUNE_EARLY;
  return s->known = provide(t, setting);
}

static int leave(int function, rw_tune_reason why) {
  rw_tune_count_left(function, why);
  return 0;
}

static int collective_of(int function) {
  return function == RW_TUNE_REDUCE_SCATTER_BLOCK ? RW_TUNE_REDUCE_SCATTER : function;
}

int rw_tune_serves(MPI_Comm comm, int function) {
  int is_there;
  if (!is_on || is_inside || tuning->trees[collective_of(function)].settings == 0 || comm == MPI_COMM_NULL) return 0;
  const tuned *t = find(comm, &is_there);
  if (!is_there) return -1;
  if (t == NULL) return leave(function, is_threaded ? RW_LEFT_THREADS : RW_LEFT_WRONG);
  return t->is_left ? leave(function, RW_LEFT_COMMUNICATOR) : 1;
}

/*
 * Prepares a call that is to have a setting, and returns its outcome. Variables that the library reads in each call
 * are set afterwards. Collective in some calls.
 */
static rw_tune_outcome take(tuned *t, int setting, int function, int64_t bytes, MPI_Datatype type) {
  rw_tune_outcome became = decide(t, setting, function);
  /* The setting may lack one of the two functions of reduce-scatter. */
  if (became == RW_TUNE_BY_SETTING &&
      !(rw_tune_library_knows(setting, function, t->ranks) && rw_tune_library_takes(setting, bytes, type)))
    became = RW_TUNE_UNKNOWN;
  if (became == RW_TUNE_BY_SETTING && !rw_tune_library_set_call(setting, function)) {
    rw_tune_library_reset_call(setting, function);
    became = RW_TUNE_FAILED;
  }
  rw_tune_count(setting, became);
  return became;
}

static MPI_Comm comm_of(const tuned *t, int setting) {
  return rw_tune_library_needs_shadows() ? t->seats[setting].shadow : t->comm;
}

/* Begins a call that is counted, as rw_tune_begin. */
static int begin_online(rw_turn *turn, tuned *t, rw_online_call counted, int function, int64_t bytes, MPI_Datatype type) {
  rw_tune_outcome became = RW_TUNE_BY_DEFAULT;
  if (!counted.is_chosen) return 0;
  int number = rw_online_setting(t->online, &t->call, function, (double)bytes, counted.number);
  if (number < 0) return -1;
  int setting = tuning->trees[function].first_setting + number - 1;
  if (number > 0) became = take(t, setting, function, bytes, type);
  /* The call says nothing of a setting that did not serve it. */
  if (became != RW_TUNE_BY_SETTING && became != RW_TUNE_BY_DEFAULT) number = 0;
  int is_own = became != RW_TUNE_BY_SETTING;
  *turn = (rw_turn){t->comm, is_own ? t->comm : comm_of(t, setting), setting, function, -1, is_own};
  is_inside = 1;
  turn->place = rw_online_begin(t->online, counted, function, number, bytes);
  return is_own ? RW_TURN_OWN : 1;
}

int rw_tune_begin(rw_turn *turn, MPI_Comm comm, int function, int64_t bytes, MPI_Op op, MPI_Datatype type) {
  int collective = collective_of(function), is_commutative = 1, is_there;
  rw_online_call counted = {0};
  tuned *t = find(comm, &is_there);
  /* Count before anything that may differ between ranks. */
  if (is_online) counted = rw_online_count(t->online);
  if (bytes < 0)
    return leave(function, bytes == RW_BYTES_IN_PLACE  ? RW_LEFT_IN_PLACE
                           : bytes == RW_BYTES_UNEQUAL ? RW_LEFT_UNEQUAL
                                                       : RW_LEFT_WRONG);
  if (bytes == 0 && function != RW_TUNE_BARRIER) return leave(function, RW_LEFT_EMPTY);
  int operation = rw_tune_operation(op);
  if (op != MPI_OP_NULL && operation == RW_WORD_UNSTATED && PMPI_Op_commutative(op, &is_commutative) != MPI_SUCCESS)
    return leave(function, RW_LEFT_WRONG);
  if (!is_commutative) return leave(function, RW_LEFT_IN_ORDER);
  if (is_online) return begin_online(turn, t, counted, function, bytes, type);
  rw_tune_call call = t->call;
  call.bytes = (double)bytes;
  call.collective = collective;
  call.operation = operation;
  call.order = op == MPI_OP_NULL ? RW_WORD_UNSTATED : RW_ORDER_ANY;
  int setting = rw_tune_decide(tuning, &call);
  if (take(t, setting, function, bytes, type) != RW_TUNE_BY_SETTING) return 0;
  *turn = (rw_turn){comm, comm_of(t, setting), setting, function, -1, 0};
  return 1;
}

int rw_tune_end(const rw_turn *turn, int code) {
  if (turn->place >= 0 && code == MPI_SUCCESS) rw_online_end(turn->place);
  is_inside = 0;
  if (turn->is_own) return code;
  rw_tune_library_reset_call(turn->setting, turn->function);
  return code == MPI_SUCCESS || turn->comm == turn->user ? code : rw_raise(turn->user, code);
}

int rw_tune_created(MPI_Comm old, int code, MPI_Comm comm) {
  int is_there;
  if (!is_on || !is_online || is_threaded || code != MPI_SUCCESS || old == MPI_COMM_NULL) return code;
  tuned *from = find(old, &is_there), *made = NULL;
  if (!is_there) return rw_raise_alone(old, MPI_ERR_NO_MEM);
  if (from == NULL || from->is_left) return code;
  if (comm != MPI_COMM_NULL) {
    int unread;
    if (rw_attribute_get(&attribute, comm, &unread) != NULL) return code;
    made = attach(comm);
    if (made == NULL) return rw_raise_alone(comm, MPI_ERR_NO_MEM);
  }
  rw_online_divide(from->online, made == NULL ? NULL : made->online, made == NULL ? 0 : made->leader);
  return code;
}

/* Returns NULL, or why no process is tuned: alike on all. Collective. */
static const char *prepare(void) {
  rw_layout layout;
  const char *wrong = rw_tune_library_begin(is_threaded);
  if (wrong == NULL && !rw_tune_library_resolve(tuning)) wrong = "there is no memory for it";
  if (wrong == NULL && rw_watch_end() != MPI_SUCCESS) wrong = "MPI gives no key";
  if (wrong == NULL && !rw_tune_report_begin(tuning, is_online)) wrong = "there is no memory for it";
  double sum = wrong == NULL ? rw_tune_library_sum() : 0;
  double least[] = {wrong == NULL, sum, -sum};
  PMPI_Allreduce(MPI_IN_PLACE, least, 3, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  if (least[0] < 1) return rw_tune_first_reason(wrong);
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

/* Makes the shadows of MPI_COMM_WORLD before any other thread can call MPI. Collective. */
static void provide_world(void) {
  char *is_reached = calloc((size_t)tuning->settings + 1, 1);
  tuned *t = attach(MPI_COMM_WORLD);
  int has_memory = is_reached != NULL && t != NULL && !t->is_left;
  recent = t;
  if (rw_agree_on_memory(MPI_COMM_WORLD, has_memory) == MPI_SUCCESS) {
    for (int c = 0; c < RW_TUNE_COLLECTIVES; c++) {
      rw_tune_call call = t->call;
      call.collective = c;
      if (!is_online) rw_tune_reach(tuning, &call, is_reached);
    }
    if (is_online) memset(is_reached, 1, (size_t)tuning->settings);
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

/* Reads the file on rank 0, with limits of its own settings. NULL: `wrong` says why. */
static rw_tuning *read_file(const char *path, char *wrong, size_t room) {
  const rw_settings *own = rw_own_settings();
  rw_tuning *read = path == NULL ? NULL : rw_tune_read(path, NULL, wrong, room);
  if (path == NULL) snprintf(wrong, room, "rank 0 names no tuning file, other processes do");
  if (read == NULL) return NULL;
  read->cores = own->cores;
  read->after = own->tune_after;
  read->per_communicator = own->tune_per_communicator;
  read->per_process = own->tune_per_process;
  return read;
}

static void say(const char *what, const char *path, const char *why) {
  fprintf(stderr, "rankweave shim: %s%s%s is not used: %s\n", what, path == NULL ? "" : " ", path == NULL ? "" : path, why);
}

/* Returns NULL, or the reason, known to rank 0, why calls are MPI's. Collective. */
static const char *share_online(int rank) {
  static rw_online_run run;
  const char *why = rw_online_share(&run, rank, is_threaded);
  if (why != NULL) return why;
  tuning = run.tuning;
  is_online = 1;
  why = prepare();
  return why == NULL ? rw_online_start(&run, rank) : why;
}

void rw_tune_share(void) {
  char wrong[512] = "";
  int rank, level = MPI_THREAD_SINGLE;
  const rw_settings *world = rw_world_settings();
  if (world == NULL || world->enabled < 1 || world->records > 0 || world->tunes < 1) return;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Query_thread(&level);
  PMPI_Allreduce(MPI_IN_PLACE, &level, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  is_threaded = level == MPI_THREAD_MULTIPLE;
  const char *path = rw_tune_path(), *what = "the tuning file", *why = NULL;
  if (rw_online_is_wanted()) {
    path = rw_online_folder();
    if (path != NULL && *path == '\0') path = NULL;
    what = path == NULL ? "online tuning" : "online tuning in";
    why = share_online(rank);
  } else {
    rw_tuning *read = rank == 0 ? read_file(path, wrong, sizeof wrong) : NULL;
    tuning = rw_tune_spread(rank, read);
    why = tuning != NULL ? prepare() : read == NULL ? wrong : "there is no memory for it";
  }
  if (why != NULL) {
    if (rank == 0) say(what, path, why);
    return;
  }
  is_on = is_used = 1;
  if (is_threaded) provide_world();
}

void rw_tune_stop(void) { is_on = 0; }
