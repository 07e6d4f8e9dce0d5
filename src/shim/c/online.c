/*
 * Online tuning of one process. A choice depends on the call's number, its bytes and the communicator only, so
 * members choose alike without a message. A communicator that is made from another one gets half of the calls that
 * this one has left: all members of both know how many.
 */
#include "shim.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct rw_online {
  uint64_t key;
  int64_t left; /* calls that may still be recorded, and chosen if the run explores */
  uint32_t calls, made; /* calls that were chosen; communicators that were made from it */
  int place;            /* place among recorded communicators; -1: none yet */
  rw_online_communicator shape;
  rw_online_choice choices[RW_ONLINE_FUNCTIONS];
  char is_ready[RW_ONLINE_FUNCTIONS];
};

static rw_online_run run;
static int is_on;
static rw_online_record *records;
static int record_count, record_room;
static rw_online_communicator *communicators;
static int communicator_count, communicator_room;

const rw_online_run *rw_online_running(void) { return is_on ? &run : NULL; }

const char *rw_online_start(const rw_online_run *given, int rank) {
  run = *given;
  record_room = rank < run.words.measured ? (int)run.words.calls : 0;
  records = calloc((size_t)record_room + 1, sizeof *records);
  if (rw_agree_on_memory(MPI_COMM_WORLD, records != NULL) != MPI_SUCCESS) return "there is no memory for it";
  is_on = 1;
  return NULL;
}

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

rw_online *rw_online_make(int is_world, const rw_tune_call *shape) {
  rw_online *online = calloc(1, sizeof *online);
  if (online == NULL) return NULL;
  online->left = is_world ? (int64_t)run.words.calls : 0;
  online->place = -1;
  online->shape = (rw_online_communicator){0, (int32_t)shape->nodes, (int32_t)shape->per_node, (int32_t)shape->processes, 0};
  return online;
}

void rw_online_free(rw_online *online) {
  if (online == NULL) return;
  for (int i = 0; i < RW_ONLINE_FUNCTIONS; i++)
    if (online->is_ready[i]) rw_online_choice_free(&online->choices[i]);
  free(online);
}

/* Mixes a word so that every bit of the result depends on every bit of the word. */
static uint64_t mixed(uint64_t word) {
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
  word = (word ^ word >> 27) * 0x94d049bb133111ebu;
  return word ^ word >> 31;
}

void rw_online_divide(rw_online *from, rw_online *to, int leader) {
  int64_t half = from->left / 2;
  uint32_t number = from->made++;
  from->left -= half;
  if (to == NULL) return;
  to->left = half;
  /* Parts of one communicator that are made at once have different first ranks. */
  to->key = mixed(mixed(from->key + 0x9e3779b97f4a7c15u + number) + (uint64_t)leader);
}

rw_online_call rw_online_count(rw_online *online) {
  rw_online_call call = {.is_recorded = online->left > 0};
  if (call.is_recorded) online->left--;
  call.is_chosen = call.is_recorded || run.words.mode == RW_ONLINE_TUNED;
  if (call.is_chosen) call.number = online->calls++;
  return call;
}

/* Prepares the choice among settings that serve calls of the function on so many ranks. 0: no memory. */
static int make_ready(rw_online *online, const rw_tune_call *shape, int place) {
  int collective = rw_online_function(place), count = 0;
  const rw_tree *tree = &run.tuning->trees[collective];
  int32_t *numbers = malloc(((size_t)tree->settings + 1) * sizeof *numbers);
  if (numbers == NULL) return 0;
  for (int i = 0; i < tree->settings; i++) {
    int setting = tree->first_setting + i;
    int is_default = strcmp(rw_tuning_settings(run.tuning)[setting].algorithm, "default") == 0;
    if (is_default || rw_tune_library_knows(setting, collective, (int)shape->processes)) numbers[count++] = i + 1;
  }
  online->is_ready[place] = (char)rw_online_choice_make(&online->choices[place], run.model.grids[collective],
                                                        (int)run.words.mode, shape->nodes, shape->per_node, numbers, count);
  if (!online->is_ready[place]) free(numbers);
  return online->is_ready[place];
}

int rw_online_setting(rw_online *online, const rw_tune_call *shape, int function, double bytes, uint32_t call) {
  int place = rw_online_place_of(function);
  if (!online->is_ready[place] && !make_ready(online, shape, place)) return -1;
  double drawn = rw_online_draw((uint32_t)run.words.seed, (uint32_t)online->key, call, function);
  return rw_online_choose(&online->choices[place], bytes, drawn);
}

/* Adds a communicator and returns its place; -1: no memory. */
static int add_communicator(const rw_online *online) {
  if (communicator_count == communicator_room) {
    int room = communicator_room == 0 ? 16 : 2 * communicator_room;
    rw_online_communicator *more = realloc(communicators, (size_t)room * sizeof *more);
    if (more == NULL) return -1;
    communicators = more;
    communicator_room = room;
  }
  communicators[communicator_count] = online->shape;
  communicators[communicator_count].key = online->key;
  return communicator_count++;
}

int rw_online_begin(rw_online *online, rw_online_call call, int collective, int number, int64_t bytes) {
  static const int64_t most = ((int64_t)1 << 40) - 1;
  int64_t size = bytes < most ? bytes : most;
  if (!call.is_recorded || record_count == record_room) return -1;
  if (online->place < 0) online->place = add_communicator(online);
  if (online->place < 0) return -1;
  uint32_t packed = (uint32_t)(size >> 32) | (uint32_t)rw_online_collective(collective) << 8 | (uint32_t)number << 12;
  records[record_count] = (rw_online_record){0, -1, (uint32_t)online->place, call.number, (uint32_t)size, packed};
  records[record_count].start = now_us();
  return record_count++;
}

void rw_online_end(int place) { records[place].end = now_us(); }

int rw_online_records(const rw_online_record **all, const rw_online_communicator **own, int *own_count) {
  int ended = 0;
  for (int i = 0; i < record_count; i++)
    if (records[i].end >= records[i].start) records[ended++] = records[i];
  record_count = ended;
  *all = records;
  *own = communicators;
  *own_count = communicator_count;
  return record_count;
}

void rw_online_stop(void) {
  MPI_Comm world;
  if (!is_on) return;
  is_on = 0;
  if (rw_messages_comm(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
    rw_online_gather(world, &run);
    PMPI_Comm_free(&world);
  }
  free(records);
  free(communicators);
  rw_tune_model_free(&run.model);
}
