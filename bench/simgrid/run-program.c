// Runs programs of processes (see program-file.ts) on SMPI, one rank per process, and reports the simulated
// time of each:
//   run-program [--no-data] FILE:BYTES[,BYTES..] ..
// BYTES is the length of every unit of data. Real data move; every slot of every rank is compared with what
// it must hold. With --no-data messages have their lengths, and all ranks share one buffer for them, so that
// what needs more memory than there is can be timed; nothing is compared. Rank 0 prints one JSON object as the last line: simulated microseconds by "number of the
// file:BYTES".
//
// Only messages take the simulator's time; what processors do is slept: the overhead of a message at each
// end, packing and unpacking of frames that are not in place, combinations. A rank does one thing at a time:
// first what is ready, in the order in which it became ready, then the next message that has arrived.
#include <mpi.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { magic = 0x32505752, levels = 4 };

struct costs {  // nanoseconds
  double send_overhead[levels], receive_overhead[levels];
  double copy_per_byte, copy_per_block, reduce_per_byte;
};

struct header {
  int32_t magic, ranks, operation, reserved;
  struct costs costs;
};

enum { operation_sum = 0, operation_or = 1 };

// The arrays of one rank, in the order of the file. An array "start" has one element more than what it
// counts.
struct program {
  int32_t values, own, sends, receives, combinations, uses, slots, runs, sent_values, parts, copies;
  int32_t *value_part, *own_block;
  int32_t *send_peer, *send_tag, *send_level, *send_start, *send_value;
  int32_t *receive_peer, *receive_tag, *receive_level, *receive_start;
  int32_t *left, *right;
  int32_t *needs, *use_start, *use;  // with gates also of these, of posted receives and of sends
  int32_t gates, tasks, bringers;
  int32_t *slot_value, *slot_runs, *run_first, *run_count, *run_stride;
  int32_t *sent_in_place, *received_in_place, *copied;  // by frame, and values copied to slots
  int32_t *memory;
};

static void fail(const char *what, const char *of, long number) {
  fprintf(stderr, "error: %s %s (%ld)\n", what, of, number);
  exit(3);
}

static void *bytes_of(size_t bytes) {
  void *memory = malloc(bytes == 0 ? 1 : bytes);
  if (memory == NULL) fail("no memory", "for bytes", (long)bytes);
  return memory;
}

static void read_all(void *into, size_t bytes, FILE *file, const char *path) {
  if (bytes > 0 && fread(into, 1, bytes, file) != bytes) fail("unexpected end of", path, (long)bytes);
}

static int32_t *take(int32_t **at, int32_t count) {
  int32_t *taken = *at;
  *at += count;
  return taken;
}

// Reads the part of one rank only: all parts together are as large as the plan.
static struct program read_program(const char *path, int rank, int ranks, struct header *header) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) fail("cannot open", path, 0);
  read_all(header, sizeof *header, file, path);
  if (header->magic != magic) fail("not a program file:", path, header->magic);
  if (header->ranks != ranks) fail("other number of ranks in", path, header->ranks);
  int64_t range[2];
  if (fseek(file, (long)(sizeof *header + (size_t)rank * sizeof range[0]), SEEK_SET) != 0) fail("cannot seek in", path, rank);
  read_all(range, sizeof range, file, path);
  if (fseek(file, (long)range[0], SEEK_SET) != 0) fail("cannot seek in", path, rank);
  struct program p;
  int32_t *memory = bytes_of((size_t)(range[1] - range[0])), *at = memory;
  read_all(memory, (size_t)(range[1] - range[0]), file, path);
  fclose(file);
  p.memory = memory;
  p.gates = *at++;
  p.values = *at++, p.own = *at++, p.sends = *at++, p.receives = *at++, p.combinations = *at++;
  p.uses = *at++, p.slots = *at++, p.runs = *at++, p.sent_values = *at++, p.parts = *at++, p.copies = *at++;
  p.value_part = take(&at, p.values), p.own_block = take(&at, p.own);
  p.send_peer = take(&at, p.sends), p.send_tag = take(&at, p.sends), p.send_level = take(&at, p.sends);
  p.send_start = take(&at, p.sends + 1), p.send_value = take(&at, p.sent_values);
  p.receive_peer = take(&at, p.receives), p.receive_tag = take(&at, p.receives);
  p.receive_level = take(&at, p.receives), p.receive_start = take(&at, p.receives + 1);
  p.left = take(&at, p.combinations), p.right = take(&at, p.combinations);
  p.tasks = p.sends + p.combinations + (p.gates > 0 ? p.gates + p.receives : 0);
  p.bringers = p.receives + p.combinations + (p.gates > 0 ? p.gates + p.sends : 0);
  p.needs = take(&at, p.tasks);
  p.use_start = take(&at, p.bringers + 1), p.use = take(&at, p.uses);
  p.slot_value = take(&at, p.slots), p.slot_runs = take(&at, p.slots + 1);
  p.run_first = take(&at, p.runs), p.run_count = take(&at, p.runs), p.run_stride = take(&at, p.runs);
  p.sent_in_place = take(&at, p.sends), p.received_in_place = take(&at, p.receives), p.copied = take(&at, p.copies);
  if ((char *)at - (char *)memory != range[1] - range[0]) fail("wrong length of a rank in", path, rank);
  return p;
}

// Byte i of a block: depends on block and place, so that misrouting and misplacing are noticed.
static unsigned char content(int32_t block, size_t i) {
  uint32_t mixed = ((uint32_t)block + 1) * 2654435761u + (uint32_t)i * 40503u;
  return (unsigned char)(mixed >> 11 ^ mixed >> 24);
}

static void combine(unsigned char *into, const unsigned char *left, const unsigned char *right, size_t bytes, int operation) {
  if (operation == operation_or) {
    for (size_t i = 0; i < bytes; i++) into[i] = left[i] | right[i];
  } else {
    for (size_t i = 0; i < bytes; i++) into[i] = (unsigned char)(left[i] + right[i]);
  }
}

static void pass(double nanoseconds) {
  if (nanoseconds > 0) sg_actor_sleep_for(nanoseconds * 1e-9);
}

static double copying(const struct costs *costs, int is_in_place, int32_t blocks, size_t bytes) {
  return !is_in_place ? blocks * costs->copy_per_block + (double)bytes * costs->copy_per_byte : 0;
}

// Where each value begins when all lie one after the other: a unit of data is cut into parts that differ by a
// byte at most.
static size_t *place_values(const struct program *p, size_t unit_bytes) {
  size_t *at = bytes_of(((size_t)p->values + 1) * sizeof *at), parts = (size_t)p->parts;
  at[0] = 0;
  for (int32_t v = 0; v < p->values; v++) {
    size_t part = (size_t)p->value_part[v];
    at[v + 1] = at[v] + (parts == 0 ? 0 : (part + 1) * unit_bytes / parts - part * unit_bytes / parts);
  }
  return at;
}

// All ranks leave at the same simulated time.
static double common_start(void) {
  double now = simgrid_get_clock(), latest;
  MPI_Allreduce(&now, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  latest += 1e-2;
  double left = latest - simgrid_get_clock();
  if (left < 0) fail("the start is late", "by ns", (long)(-left * 1e9));
  sg_actor_sleep_for(left);
  return latest;
}

// With --no-data: the buffer of all ranks, which are in one process.
static int has_data = 1;
static unsigned char *shared;
static size_t shared_bytes;

// What a rank holds and waits for during an exchange.
struct exchange {
  size_t *at;           // value v is data[at[v]] up to the next
  unsigned char *data;
  int32_t *missing, *ready, ready_count;
  int32_t first_post;      // tasks from here on are posted receives
  unsigned char **packed;  // frames of several values, kept until they have been sent
  MPI_Request *receiving, *sending;  // side by side
};

static size_t length_of(const struct exchange *x, int32_t value) { return x->at[value + 1] - x->at[value]; }

static unsigned char *place_of(const struct exchange *x, int32_t value) { return has_data ? x->data + x->at[value] : shared; }

// Nothing is in progress: ranks prepare before their common start.
static void share(size_t bytes) {
  if (bytes <= shared_bytes) return;
  free(shared);
  shared = bytes_of(shared_bytes = bytes);
}

static void share_frames(const struct exchange *x, const struct program *p) {
  for (int32_t f = 0; f < p->sends; f++) {
    size_t bytes = 0;
    for (int32_t i = p->send_start[f]; i < p->send_start[f + 1]; i++) bytes += length_of(x, p->send_value[i]);
    share(bytes);
  }
  for (int32_t f = 0; f < p->receives; f++) share(x->at[p->receive_start[f + 1]] - x->at[p->receive_start[f]]);
}

static struct exchange prepare(const struct program *p, size_t unit_bytes) {
  int32_t tasks = p->tasks, requests = p->receives + p->sends;
  struct exchange x = {.at = place_values(p, unit_bytes), .ready_count = 0};
  x.data = bytes_of(has_data ? x.at[p->values] : 0);
  if (!has_data) share_frames(&x, p);
  x.missing = bytes_of((size_t)tasks * sizeof *x.missing), x.ready = bytes_of((size_t)tasks * sizeof *x.ready);
  x.packed = bytes_of((size_t)p->sends * sizeof *x.packed);
  x.receiving = bytes_of((size_t)requests * sizeof *x.receiving), x.sending = x.receiving + p->receives;
  for (int32_t i = 0; i < requests; i++) x.receiving[i] = MPI_REQUEST_NULL;
  x.first_post = p->sends + p->combinations + p->gates;
  for (int32_t v = 0; has_data && v < p->own; v++)
    for (size_t i = 0; i < length_of(&x, v); i++) x.data[x.at[v] + i] = content(p->own_block[v], i);
  memcpy(x.missing, p->needs, (size_t)tasks * sizeof *x.missing);
  for (int32_t t = 0; t < p->sends + p->combinations; t++)
    if (x.missing[t] == 0) x.ready[x.ready_count++] = t;
  return x;
}

static void release(struct exchange *x, const struct program *p) {
  for (int32_t f = 0; f < p->sends; f++) {
    MPI_Wait(&x->sending[f], MPI_STATUS_IGNORE);
    free(x->packed[f]);
  }
  void *memory[] = {x->at, x->data, x->missing, x->ready, x->packed, x->receiving};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
}

static void send_frame(struct exchange *x, const struct program *p, const struct costs *costs, int32_t f) {
  const int32_t *value = p->send_value + p->send_start[f];
  int32_t blocks = p->send_start[f + 1] - p->send_start[f];
  size_t bytes = 0;
  for (int32_t i = 0; i < blocks; i++) bytes += length_of(x, value[i]);
  unsigned char *frame = x->packed[f] = NULL;
  if (blocks == 1 || !has_data) {
    frame = place_of(x, value[0]);
  } else {
    unsigned char *into = frame = x->packed[f] = bytes_of(bytes);
    for (int32_t i = 0; i < blocks; into += length_of(x, value[i++])) memcpy(into, x->data + x->at[value[i]], length_of(x, value[i]));
  }
  pass(costs->send_overhead[p->send_level[f]] + copying(costs, p->sent_in_place[f], blocks, bytes));
  MPI_Isend(frame, (int)bytes, MPI_BYTE, p->send_peer[f], p->send_tag[f], MPI_COMM_WORLD, &x->sending[f]);
}

static void post_receive(struct exchange *x, const struct program *p, int32_t f) {
  size_t bytes = x->at[p->receive_start[f + 1]] - x->at[p->receive_start[f]];
  MPI_Irecv(place_of(x, p->receive_start[f]), (int)bytes, MPI_BYTE, p->receive_peer[f], p->receive_tag[f], MPI_COMM_WORLD, &x->receiving[f]);
}

// The bringer that is the next frame to arrive, or, with gates, to be sent. Values stay where they were received.
static int32_t await_frame(struct exchange *x, const struct program *p, const struct costs *costs) {
  int f, received;
  MPI_Status status;
  MPI_Waitany(p->receives + (p->gates > 0 ? p->sends : 0), x->receiving, &f, &status);
  if (f >= p->receives) return p->combinations + p->gates + f;
  MPI_Get_count(&status, MPI_BYTE, &received);
  int32_t blocks = p->receive_start[f + 1] - p->receive_start[f];
  size_t bytes = x->at[p->receive_start[f + 1]] - x->at[p->receive_start[f]];
  if ((size_t)received != bytes) fail("a frame of another length", "from", p->receive_peer[f]);
  pass(costs->receive_overhead[p->receive_level[f]] + copying(costs, p->received_in_place[f], blocks, bytes));
  return f;
}

static void combine_values(struct exchange *x, const struct program *p, const struct costs *costs, int operation, int32_t c) {
  int32_t result = p->values - p->combinations + c;
  size_t bytes = length_of(x, result);
  pass((double)bytes * costs->reduce_per_byte);
  if (has_data) combine(x->data + x->at[result], x->data + x->at[p->left[c]], x->data + x->at[p->right[c]], bytes, operation);
}

static void compare_slots(const struct exchange *x, const struct program *p, int operation) {
  for (int32_t s = 0; s < p->slots; s++) {
    int32_t value = p->slot_value[s];
    size_t bytes = length_of(x, value);
    unsigned char *expected = bytes_of(bytes), *block = bytes_of(bytes);
    int isFirst = 1;
    for (int32_t j = p->slot_runs[s]; j < p->slot_runs[s + 1]; j++) {
      for (int32_t n = 0; n < p->run_count[j]; n++, isFirst = 0) {
        unsigned char *into = isFirst ? expected : block;
        for (size_t i = 0; i < bytes; i++) into[i] = content(p->run_first[j] + n * p->run_stride[j], i);
        if (!isFirst) combine(expected, expected, block, bytes, operation);
      }
    }
    if (memcmp(expected, x->data + x->at[value], bytes) != 0) fail("wrong contents", "of slot", s);
    free(expected);
    free(block);
  }
}

static double filling(const struct exchange *x, const struct program *p, const struct costs *costs) {
  double sum = 0;
  for (int32_t i = 0; i < p->copies; i++) sum += costs->copy_per_block + (double)length_of(x, p->copied[i]) * costs->copy_per_byte;
  return sum;
}

// One exchange; returns the seconds until this rank is done.
static double run(const struct program *p, const struct costs *costs, int operation, size_t unit_bytes) {
  struct exchange x = prepare(p, unit_bytes);
  int32_t begun = 0, awaited = p->receives + (p->gates > 0 ? p->sends : 0);
  double start = common_start();
  for (int32_t f = 0; f < p->receives; f++)
    if (p->gates == 0 || x.missing[x.first_post + f] == 0) post_receive(&x, p, f);
  while (begun < x.ready_count || awaited > 0) {
    int32_t settled = -1;
    if (begun < x.ready_count) {
      int32_t task = x.ready[begun++];
      if (task < p->sends) {
        send_frame(&x, p, costs, task);
      } else if (task >= x.first_post) {
        post_receive(&x, p, task - x.first_post);
      } else if (task >= p->sends + p->combinations) {
        settled = p->receives + task - p->sends;
      } else {
        combine_values(&x, p, costs, operation, task - p->sends);
        settled = p->receives + task - p->sends;
      }
    } else {
      settled = await_frame(&x, p, costs);
      awaited--;
    }
    if (settled < 0) continue;
    for (int32_t u = p->use_start[settled]; u < p->use_start[settled + 1]; u++)
      if (--x.missing[p->use[u]] == 0) x.ready[x.ready_count++] = p->use[u];
  }
  pass(filling(&x, p, costs));
  double took = simgrid_get_clock() - start;
  for (int32_t t = 0; t < p->tasks; t++)
    if (x.missing[t] > 0) fail("a task never became ready", "", t);
  if (has_data) compare_slots(&x, p, operation);
  release(&x, p);
  return took;
}

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) printf("{");
  int first = 1;
  if (argc > 1 && strcmp(argv[1], "--no-data") == 0) has_data = 0, first = 2;
  for (int a = first; a < argc; a++) {
    char path[4096];
    const char *colon = strrchr(argv[a], ':');
    if (colon == NULL || (size_t)(colon - argv[a]) >= sizeof path) fail("expected FILE:BYTES, got", argv[a], a);
    memcpy(path, argv[a], (size_t)(colon - argv[a]));
    path[colon - argv[a]] = 0;
    struct header header;
    struct program program = read_program(path, rank, ranks, &header);
    for (const char *at = colon; *at != 0;) {
      char *end;
      long bytes = strtol(at + 1, &end, 10);
      if (end == at + 1 || bytes < 0) fail("expected bytes in", argv[a], a);
      double took = run(&program, &header.costs, header.operation, (size_t)bytes), longest;
      MPI_Allreduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      if (rank == 0) printf("%s\"%d:%ld\":%.6f", a == first && at == colon ? "" : ",", a - first, bytes, longest * 1e6), fflush(stdout);
      at = end;
    }
    free(program.memory);
  }
  if (rank == 0) printf("}\n");
  MPI_Finalize();
  return 0;
}
