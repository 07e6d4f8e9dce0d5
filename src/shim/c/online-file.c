/*
 * The file of a run, as src/tuning/online/call-file.ts defines it. Rank 0 takes the records of one process after
 * the other and writes them, so it needs memory for those of one. Processes number communicators in the order in
 * which they use them; in the file they have one number each.
 */
#include "shim.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COMMUNICATORS, RECORDS, COUNTS };
enum { TAG = 0 };
/* The limits are callFileLimits of src/tuning. */
static const int64_t most_records = 1 << 22, most_header = 1 << 24;

/* The data of all processes on rank 0. */
typedef struct {
  int ranks;
  int (*counts)[COUNTS];
  int *written; /* records of each process that the file has */
  rw_online_communicator *own; /* communicators of all processes, one behind the other */
  int32_t *places;             /* number in the file of each of them */
  int32_t *first;              /* first place of each number of the file */
  int64_t total;               /* number of own communicators */
  int communicators;
  uint32_t *table; /* hash table by key: 0, or a number in the file plus 1 */
  size_t slots;
  rw_online_record *records; /* records of one process */
} gathered;

/* The header, which may not fit. */
typedef struct {
  char *text;
  size_t used, room;
  int has_memory;
} header;

__attribute__((format(printf, 2, 3))) static void add(header *h, const char *format, ...) {
  va_list values;
  for (int again = 0; h->has_memory && again < 2; again++) {
    va_start(values, format);
    int length = vsnprintf(h->text + h->used, h->room - h->used, format, values);
    va_end(values);
    if (length >= 0 && h->used + (size_t)length < h->room) {
      h->used += (size_t)length;
      return;
    }
    size_t room = 2 * h->room + (size_t)(length < 0 ? 0 : length);
    char *more = realloc(h->text, room);
    h->has_memory = more != NULL;
    if (more == NULL) return;
    h->text = more;
    h->room = room;
  }
}

/* Appends a string without control characters. */
static void add_string(header *h, const char *text) {
  add(h, "\"");
  for (; *text != '\0'; text++) add(h, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
  add(h, "\"");
}

static void add_settings(header *h, const rw_tuning *tuning) {
  for (int i = 0; i < tuning->settings; i++) {
    const rw_tune_setting *setting = &rw_tuning_settings(tuning)[i];
    add(h, "%s{\"collective\":\"%s\",\"algorithm\":\"%s\",\"parameters\":{", i == 0 ? "" : ",",
        rw_tune_collective_name(setting->collective), setting->algorithm);
    for (int p = 0; p < setting->parameters; p++)
      add(h, "%s\"%s\":%" PRId64, p == 0 ? "" : ",", setting->names[p], setting->values[p]);
    add(h, "}}");
  }
}

static void add_head(header *h, const rw_online_run *run, int ranks) {
  char library[RW_TUNE_MACHINE], machine[RW_TUNE_MACHINE];
  struct timespec tick = {0, 0};
  clock_getres(CLOCK_MONOTONIC, &tick);
  rw_tune_library_name(library, sizeof library);
  rw_online_machine(machine, sizeof machine);
  add(h, "{\"format\":\"rankweave-calls\",\"version\":1,\"source\":{\"kind\":\"mpi\",\"name\":");
  add_string(h, library);
  add(h, ",\"machine\":");
  add_string(h, machine);
  add(h, "},\"mode\":\"%s\",\"model\":\"%s\",\"seed\":%.0f,\"processes\":%d,", run->words.mode == RW_ONLINE_TUNED ? "tuned" : "tuning",
      run->model.checksum, run->words.seed, ranks);
  /* Nanoseconds are written as a fraction of microseconds, independent of the program's locale. */
  add(h, "\"clock\":{\"name\":\"CLOCK_MONOTONIC\",\"tickUs\":%ld.%03ld},\"settings\":[",
      (long)tick.tv_sec * 1000000 + tick.tv_nsec / 1000, tick.tv_nsec % 1000);
  add_settings(h, run->tuning);
  add(h, "],\"collectives\":[");
  for (int i = 0; rw_online_collective_name(i) != NULL; i++) add(h, "%s\"%s\"", i == 0 ? "" : ",", rw_online_collective_name(i));
}

static void add_lists(header *h, const gathered *all) {
  add(h, "],\"communicators\":[");
  for (int i = 0; i < all->communicators; i++) {
    const rw_online_communicator *c = &all->own[all->first[i]];
    add(h, "%s{\"id\":%d,\"nodes\":%d,\"processesPerNode\":%d,\"processes\":%d}", i == 0 ? "" : ",", i, c->nodes, c->per_node,
        c->processes);
  }
  add(h, "],\"records\":[");
  const char *between = "";
  for (int r = 0; r < all->ranks; r++) {
    if (all->written[r] == 0) continue;
    add(h, "%s[%d,%d]", between, r, all->written[r]);
    between = ",";
  }
  add(h, "]}\n");
}

/* Gives all communicators of a key one number. */
static void number(gathered *all) {
  for (int64_t i = 0; i < all->total; i++) {
    size_t slot = (size_t)(all->own[i].key ^ all->own[i].key >> 32) & (all->slots - 1);
    while (all->table[slot] != 0 && all->own[all->first[all->table[slot] - 1]].key != all->own[i].key)
      slot = (slot + 1) & (all->slots - 1);
    if (all->table[slot] == 0) {
      all->first[all->communicators] = (int32_t)i;
      all->table[slot] = (uint32_t)++all->communicators;
    }
    all->places[i] = (int32_t)all->table[slot] - 1;
  }
}

/* Allocates memory for all records; 0: there is none. Records of the last processes beyond the bound are left out. */
static int provide(gathered *all) {
  int64_t records = 0, longest = 0;
  for (int r = 0; r < all->ranks; r++) {
    int count = all->counts[r][RECORDS];
    all->total += all->counts[r][COMMUNICATORS];
    if (count > longest) longest = count;
    records += count;
  }
  if (records > most_records)
    fprintf(stderr, "rankweave shim: online tuning: records of the last processes are left out: at most %" PRId64 " in a file\n",
            most_records);
  if (all->total > INT32_MAX / 4) return 0;
  for (all->slots = 16; all->slots < 2 * (size_t)all->total; all->slots *= 2);
  size_t room = (size_t)all->total + 1;
  all->own = malloc(room * sizeof *all->own);
  all->places = malloc(room * sizeof *all->places);
  all->first = malloc(room * sizeof *all->first);
  all->table = calloc(all->slots, sizeof *all->table);
  all->records = malloc(((size_t)longest + 1) * sizeof *all->records);
  all->written = malloc((size_t)all->ranks * sizeof *all->written);
  if (all->written == NULL) return 0;
  records = 0;
  for (int r = 0; r < all->ranks; r++) {
    int count = all->counts[r][RECORDS];
    all->written[r] = records + count > most_records ? 0 : count;
    records += all->written[r];
  }
  return all->own != NULL && all->places != NULL && all->first != NULL && all->table != NULL && all->records != NULL;
}

static int send(MPI_Comm comm, const void *data, int count, size_t size) {
  return count == 0 ? MPI_SUCCESS : PMPI_Send(data, count * (int)size, MPI_BYTE, 0, TAG, comm);
}

/* Receives from a process, rank 0 itself among them. */
static int take(MPI_Comm comm, int from, const void *own, void *to, int count, size_t size) {
  if (count == 0) return MPI_SUCCESS;
  if (from == 0) return memcpy(to, own, (size_t)count * size), MPI_SUCCESS;
  return PMPI_Recv(to, count * (int)size, MPI_BYTE, from, TAG, comm, MPI_STATUS_IGNORE);
}

/* Writes a record in little-endian order, as the file has it. */
static void put_record(rw_call_file *file, const rw_online_record *record, const int32_t *places) {
  const uint32_t words[] = {(uint32_t)places[record->communicator], record->call, record->bytes, record->packed};
  unsigned char bytes[sizeof *record];
  uint64_t times[2];
  memcpy(times, &record->start, sizeof times);
  for (int i = 0; i < 16; i++) bytes[i] = (unsigned char)(times[i / 8] >> 8 * (i % 8));
  for (int i = 0; i < 16; i++) bytes[16 + i] = (unsigned char)(words[i / 4] >> 8 * (i % 4));
  rw_call_file_put(file, bytes, sizeof bytes);
}

/* Writes the file; returns NULL or the reason of a failure. */
static const char *write_all(MPI_Comm comm, const rw_online_run *run, gathered *all, rw_call_file *file,
                             const rw_online_record *own, const rw_online_communicator *communicators) {
  header h = {malloc(4096), 0, 4096, 1};
  int64_t at = 0;
  h.has_memory = h.text != NULL;
  for (int r = 0; r < all->ranks; at += all->counts[r++][COMMUNICATORS])
    if (take(comm, r, communicators, all->own + at, all->counts[r][COMMUNICATORS], sizeof *all->own) != MPI_SUCCESS)
      return free(h.text), "MPI fails";
  number(all);
  add_head(&h, run, all->ranks);
  add_lists(&h, all);
  int is_right = h.has_memory && (int64_t)h.used <= most_header;
  if (is_right) rw_call_file_put(file, h.text, h.used);
  free(h.text);
  at = 0;
  for (int r = 0; r < all->ranks; at += all->counts[r++][COMMUNICATORS]) {
    if (take(comm, r, own, all->records, all->counts[r][RECORDS], sizeof *own) != MPI_SUCCESS) return "MPI fails";
    for (int i = 0; is_right && i < all->written[r]; i++) put_record(file, &all->records[i], all->places + at);
  }
  return is_right ? NULL : h.has_memory ? "it has too many communicators" : "there is no memory for it";
}

static void gather(MPI_Comm comm, const rw_online_run *run, gathered *all, int own_counts[COUNTS],
                   const rw_online_record *records, const rw_online_communicator *communicators) {
  rw_call_file *file = NULL;
  const char *folder = rw_online_folder(), *wrong = NULL;
  all->counts = malloc((size_t)all->ranks * sizeof *all->counts);
  int is_ready = all->counts != NULL;
  PMPI_Bcast(&is_ready, 1, MPI_INT, 0, comm);
  if (is_ready && PMPI_Gather(own_counts, COUNTS, MPI_INT, all->counts, COUNTS, MPI_INT, 0, comm) != MPI_SUCCESS) is_ready = 0;
  if (!is_ready || !provide(all)) wrong = "there is no memory for it";
  else if ((file = rw_call_file_open(folder)) == NULL) wrong = strerror(errno);
  int is_open = file != NULL;
  if (is_ready) PMPI_Bcast(&is_open, 1, MPI_INT, 0, comm);
  if (is_open) wrong = write_all(comm, run, all, file, records, communicators);
  int error = is_open ? rw_call_file_close(file, wrong == NULL) : 0;
  if (wrong == NULL && error != 0) wrong = strerror(error);
  if (wrong != NULL)
    fprintf(stderr, "rankweave shim: online tuning: the calls of this run are not recorded in %s: %s\n", folder, wrong);
}

static void give(MPI_Comm comm, int own_counts[COUNTS], const rw_online_record *records,
                 const rw_online_communicator *communicators) {
  int is_ready = 0, is_open = 0;
  PMPI_Bcast(&is_ready, 1, MPI_INT, 0, comm);
  if (!is_ready || PMPI_Gather(own_counts, COUNTS, MPI_INT, NULL, COUNTS, MPI_INT, 0, comm) != MPI_SUCCESS) return;
  PMPI_Bcast(&is_open, 1, MPI_INT, 0, comm);
  if (!is_open || send(comm, communicators, own_counts[COMMUNICATORS], sizeof *communicators) != MPI_SUCCESS) return;
  send(comm, records, own_counts[RECORDS], sizeof *records);
}

void rw_online_gather(MPI_Comm comm, const rw_online_run *run) {
  const rw_online_record *records;
  const rw_online_communicator *communicators;
  gathered all = {.ranks = 0};
  int rank, counts[COUNTS];
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &all.ranks);
  counts[RECORDS] = rw_online_records(&records, &communicators, &counts[COMMUNICATORS]);
  if (rank == 0) gather(comm, run, &all, counts, records, communicators);
  else give(comm, counts, records, communicators);
  free(all.counts);
  free(all.written);
  free(all.own);
  free(all.places);
  free(all.first);
  free(all.table);
  free(all.records);
}
