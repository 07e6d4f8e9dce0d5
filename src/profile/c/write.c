/*
 * Writes the file of a job as lines of JSON. Processes send their lines to process 0 one after the other, which has
 * one piece of text at a time. The file has a temporary name until it is whole.
 */
#include "profile.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "own-mpi.h"

enum { PIECE = 1 << 16, TOKEN = 1, LENGTH, PART };

#define NAME(name, ...) "MPI_" #name,
static const char *const names[RW_COUNT] = {RW_FUNCTIONS(NAME)};

typedef struct {
  char *bytes;
  size_t length, room;
  int has_memory;
} text;

__attribute__((format(printf, 2, 3))) static void add(text *t, const char *format, ...) {
  if (t->room - t->length < 512) {
    char *larger = realloc(t->bytes, 2 * t->room + 4096);
    if (larger == NULL) t->has_memory = 0;
    else {
      t->bytes = larger;
      t->room = 2 * t->room + 4096;
    }
  }
  if (!t->has_memory) return;
  va_list list;
  va_start(list, format);
  int written = vsnprintf(t->bytes + t->length, t->room - t->length, format, list);
  va_end(list);
  if (written > 0) t->length += (size_t)written < t->room - t->length ? (size_t)written : t->room - t->length - 1;
}

static const char *comma(int *is_later) {
  const char *between = *is_later ? "," : "";
  *is_later = 1;
  return between;
}

typedef long long whole;

/* Reads a number of a processor's place; -1 if the system does not tell it. */
static int place_of(int processor, const char *name) {
  char path[128];
  int number = -1;
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", processor, name);
  FILE *file = fopen(path, "r");
  if (file == NULL) return -1;
  if (fscanf(file, "%d", &number) != 1) number = -1;
  fclose(file);
  return number;
}

/* Returns the package to which the process is bound, -1 if it is bound to none, and its core, -1 of several. */
static int own_package(int *core) {
  cpu_set_t allowed;
  int package = -1, count = 0;
  *core = -1;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return -1;
  for (int processor = 0; processor < CPU_SETSIZE; processor++) {
    if (!CPU_ISSET(processor, &allowed)) continue;
    int its_package = place_of(processor, "physical_package_id"), its_core = place_of(processor, "core_id");
    if (its_package < 0 || (count > 0 && its_package != package)) return -1;
    *core = count++ == 0 || its_core == *core ? its_core : -1;
    package = its_package;
  }
  return package;
}

static void add_process(text *t, const rw_process *process, int rank, int node) {
  static const rw_thread none;
  const rw_thread *sum = process->sum != NULL ? process->sum : &none;
  double seconds_per_tick = process->seconds_per_tick;
  int is_later = 0, core, package = own_package(&core);
  add(t, "{\"rank\":%d,\"node\":%d,\"package\":%d,\"core\":%d,\"seconds\":%.9f,\"inMpi\":%.9f,\"calls\":[", rank, node,
      package, core, process->seconds, process->in_mpi);
  for (int f = 0; f < RW_COUNT; f++) {
    const rw_tally *tally = &sum->functions[f];
    if (tally->calls == 0) continue;
    add(t, "%s{\"name\":\"%s\",\"calls\":%lld,\"seconds\":%.9f,\"bytes\":%lld}", comma(&is_later), names[f],
        (whole)tally->calls, (double)tally->ticks * seconds_per_tick, (whole)tally->bytes);
  }
  add(t, "],\"sends\":[");
  is_later = 0;
  for (size_t i = 0; i < sum->peers.size; i++) {
    const rw_peer *p = &sum->peers.slots[i];
    if (p->key != 0 && p->messages > 0)
      add(t, "%s[%lld,%lld,%lld]", comma(&is_later), (whole)p->key - 1, (whole)p->messages, (whole)p->message_bytes);
  }
  add(t, "],\"blocks\":[");
  is_later = 0;
  for (size_t i = 0; i < sum->peers.size; i++) {
    const rw_peer *p = &sum->peers.slots[i];
    if (p->key != 0 && p->blocks > 0)
      add(t, "%s[%lld,%lld,%lld]", comma(&is_later), (whole)p->key - 1, (whole)p->blocks, (whole)p->block_bytes);
  }
  add(t, "],\"sizes\":[");
  is_later = 0;
  for (int c = 0; c < RW_CLASSES; c++)
    if (sum->messages[c] > 0)
      add(t, "%s[%d,%lld,%lld]", comma(&is_later), c - 1, (whole)sum->messages[c], (whole)sum->message_bytes[c]);
  add(t, "],\"collectives\":[");
  is_later = 0;
  for (size_t i = 0; i < sum->collectives.size; i++) {
    const rw_collective_calls *c = &sum->collectives.slots[i];
    if (c->key == 0) continue;
    add(t, "%s{\"name\":\"%s\",\"ranks\":%d,\"bytes\":%lld,\"calls\":%lld,\"seconds\":%.9f", comma(&is_later),
        names[RW_KEY_FUNCTION(c->key)], RW_KEY_RANKS(c->key), (whole)(c->bytes / c->calls), (whole)c->calls,
        (double)c->ticks * seconds_per_tick);
    if (c->counts > 0) add(t, ",\"zeros\":%lld,\"counts\":%lld", (whole)c->zeros, (whole)c->counts);
    add(t, "}");
  }
  add(t, "],\"reorders\":%lld}\n", (whole)sum->reorders);
}

/* The file under its temporary name. After a fault nothing more is written, and the file is removed. */
typedef struct {
  FILE *file;
  char *temporary;
  int fault;
} output;

static output open_output(const char *name) {
  output o = {.temporary = malloc(strlen(name) + 32)};
  if (o.temporary != NULL) {
    snprintf(o.temporary, strlen(name) + 32, "%s.partial", name);
    o.file = fopen(o.temporary, "w");
  }
  if (o.file == NULL) o.fault = o.temporary == NULL ? ENOMEM : errno;
  return o;
}

static void put(output *o, const char *bytes, size_t length) {
  if (o->fault == 0 && fwrite(bytes, 1, length, o->file) != length) o->fault = errno;
}

static void close_output(output *o, const char *name) {
  if (o->file != NULL && fclose(o->file) != 0 && o->fault == 0) o->fault = errno;
  if (o->fault == 0 && rename(o->temporary, name) != 0) o->fault = errno;
  if (o->fault != 0) {
    fprintf(stderr, "rankweave profile: cannot write %s: %s\n", name, strerror(o->fault));
    if (o->file != NULL) remove(o->temporary);
  }
  free(o->temporary);
}

/* Receives the lines of another process, which sends when it is asked. */
static void receive(output *o, int rank, char *piece, MPI_Comm comm) {
  long long length = 0;
  PMPI_Send(NULL, 0, MPI_BYTE, rank, TOKEN, comm);
  PMPI_Recv(&length, 1, MPI_LONG_LONG, rank, LENGTH, comm, MPI_STATUS_IGNORE);
  for (long long at = 0; at < length; at += PIECE) {
    int part = length - at < PIECE ? (int)(length - at) : PIECE;
    PMPI_Recv(piece, part, MPI_BYTE, rank, PART, comm, MPI_STATUS_IGNORE);
    put(o, piece, (size_t)part);
  }
}

static void send(const text *t, MPI_Comm comm) {
  long long length = (long long)t->length;
  PMPI_Recv(NULL, 0, MPI_BYTE, 0, TOKEN, comm, MPI_STATUS_IGNORE);
  PMPI_Send(&length, 1, MPI_LONG_LONG, 0, LENGTH, comm);
  for (long long at = 0; at < length; at += PIECE)
    PMPI_Send(t->bytes + at, length - at < PIECE ? (int)(length - at) : PIECE, MPI_BYTE, 0, PART, comm);
}

/* A name of a node without characters that JSON would escape. */
static void own_node(char name[MPI_MAX_PROCESSOR_NAME]) {
  int length = 0;
  memset(name, 0, MPI_MAX_PROCESSOR_NAME);
  PMPI_Get_processor_name(name, &length);
  for (char *at = name; *at != '\0'; at++)
    if (*at < ' ' || *at > '~' || *at == '"' || *at == '\\') *at = '?';
}

/* Numbers the nodes in the order of their first ranks: `nodes[r]` is that of rank r, `first` a rank of each node. */
static int number_nodes(const char *all, int ranks, int *nodes, int *first) {
  int count = 0;
  for (int r = 0; r < ranks; r++) {
    const char *name = all + (size_t)r * MPI_MAX_PROCESSOR_NAME;
    int n = r > 0 && strcmp(name, name - MPI_MAX_PROCESSOR_NAME) == 0 ? nodes[r - 1] : 0;
    while (n < count && strcmp(name, all + (size_t)first[n] * MPI_MAX_PROCESSOR_NAME) != 0) n++;
    if (n == count) first[count++] = r;
    nodes[r] = n;
  }
  return count;
}

void rw_write_profile(const char *file, const rw_process *process) {
  MPI_Comm comm;
  int rank, ranks, node = 0;
  char own[MPI_MAX_PROCESSOR_NAME], *names_of_all = NULL, *piece = NULL;
  int *nodes = NULL;
  output o = {NULL, NULL, 0};
  /* A duplicate would copy the attributes of the program, which would see that. */
  if (PMPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm) != MPI_SUCCESS) return;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &ranks);
  own_node(own);
  int has_memory = 1;
  if (rank == 0) {
    names_of_all = malloc((size_t)ranks * MPI_MAX_PROCESSOR_NAME);
    nodes = malloc(2 * (size_t)ranks * sizeof *nodes);
    piece = malloc(PIECE);
    has_memory = names_of_all != NULL && nodes != NULL && piece != NULL;
  }
  PMPI_Bcast(&has_memory, 1, MPI_INT, 0, comm);
  if (has_memory) {
    PMPI_Gather(own, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, names_of_all, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, 0, comm);
    int count = rank == 0 ? number_nodes(names_of_all, ranks, nodes, nodes + ranks) : 0;
    PMPI_Scatter(nodes, 1, MPI_INT, &node, 1, MPI_INT, 0, comm);
    text t = {.has_memory = 1};
    if (rank == 0) {
      o = open_output(file);
      add(&t, "{\"format\":\"rankweave-profile-1\",\"mpi\":\"%s\",\"ranks\":%d,\"nodes\":[", rw_compiled_for, ranks);
      for (int n = 0; n < count; n++)
        add(&t, "%s\"%s\"", n > 0 ? "," : "", names_of_all + (size_t)nodes[ranks + n] * MPI_MAX_PROCESSOR_NAME);
      add(&t, "]}\n");
    }
    add_process(&t, process, rank, node);
    if (!t.has_memory) t.length = 0;
    if (rank > 0) send(&t, comm);
    else {
      put(&o, t.bytes, t.length);
      for (int r = 1; r < ranks; r++) receive(&o, r, piece, comm);
      close_output(&o, file);
    }
    free(t.bytes);
  }
  free(names_of_all);
  free(nodes);
  free(piece);
  PMPI_Comm_free(&comm);
}

void rw_write_seconds(const char *file, double seconds) {
  double most = 0;
  int rank, ranks;
  char line[256];
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  PMPI_Reduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  snprintf(line, sizeof line, "{\"format\":\"rankweave-profile-1\",\"mpi\":\"%s\",\"ranks\":%d,\"seconds\":%.9f}\n", rw_compiled_for,
           ranks, most);
  output o = open_output(file);
  put(&o, line, strlen(line));
  close_output(&o, file);
}
