/*
 * The main program of an exported schedule. It checks the plan's data and times the plan and the library's
 * own collective.
 */
#include "exported_tables.h"
#include "rankweave_program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct settings {
  size_t bytes;
  int samples, starts, is_json;
};

/* The tables and buffers of one rank, and the arguments for both implementations. */
struct rank {
  int number;
  struct rw_program program;
  const int32_t *own_block, *slot_term, *value_part, *sources, *destinations;
  int32_t in_degree, out_degree;
  size_t *value_bytes;
  size_t send_bytes, receive_bytes;
  unsigned char *send, *receive;
  MPI_Comm plan_comm, library_comm;
  rw_request *request;
};

static void stop(const char *what, const char *why) {
  fprintf(stderr, "error: %s: %s\n", what, why);
  MPI_Abort(MPI_COMM_WORLD, 3);
  exit(3);
}

static void succeed(int code, const char *what) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  if (code == MPI_SUCCESS) return;
  MPI_Error_string(code, text, &length);
  stop(what, text);
}

static void *bytes_of(size_t count, size_t size) {
  void *memory = calloc(count == 0 ? 1 : count, size);
  if (memory == NULL) stop("memory", "there is none left");
  return memory;
}

static size_t element_bytes(void) { return exported_is_reduction ? sizeof(uint32_t) : 1; }

/* Returns the bytes of one part of a unit: parts differ by an element at most. */
static size_t part_bytes(size_t part, size_t unit) {
  size_t elements = unit / element_bytes(), cut = (size_t)exported_cut;
  if (exported_cut == 0) return 0;
  return ((part + 1) * elements / cut - part * elements / cut) * element_bytes();
}

/* Returns element i of a block in a round. Wrong blocks, wrong places and stale data yield other values. */
static uint32_t content(int32_t block, size_t i, int round) {
  uint32_t mixed = ((uint32_t)block + 1) * 2654435761u + (uint32_t)i * 40503u + (uint32_t)round * 97u;
  return mixed ^ mixed >> 15;
}

/* Returns element i that a slot must hold: of a block, or of the sum over the runs of a reduction. */
static uint32_t demanded(int32_t term, size_t i, int round) {
  uint32_t sum = 0;
  if (term >= 0) return content(term, i, round);
  for (int32_t run = exported_run_start[~term]; run < exported_run_start[~term + 1]; run++)
    for (int32_t n = 0; n < exported_run_count[run]; n++)
      sum += content(exported_run_first[run] + n * exported_run_stride[run], i, round);
  return sum;
}

static void put(unsigned char *at, size_t i, uint32_t element) {
  if (element_bytes() == 1) at[i] = (unsigned char)element;
  else memcpy(at + i * sizeof element, &element, sizeof element);
}

static int is_element(const unsigned char *at, size_t i, uint32_t element) {
  if (element_bytes() == 1) return at[i] == (unsigned char)element;
  return memcmp(at + i * sizeof element, &element, sizeof element) == 0;
}

static void add(void *into, const void *left, const void *right, size_t bytes, void *context) {
  uint32_t *sum = into;
  const uint32_t *a = left, *b = right;
  (void)context;
  for (size_t i = 0; i < bytes / sizeof *sum; i++) sum[i] = a[i] + b[i];
}

static struct rank rank_of(int number) {
  struct rank r = {.number = number};
  const struct exported_rank *table = &exported_ranks[number];
  const char *wrong = rw_program_of_words(table->words, (size_t)table->program_words, &r.program);
  if (wrong != NULL) stop("the tables of this program", wrong);
  const int32_t *at = table->words + table->program_words;
  r.own_block = at, at += r.program.own;
  r.slot_term = at, at += r.program.slots;
  if (exported_cut > 1) r.value_part = at, at += rw_values(&r.program);
  if (exported_is_neighborhood) {
    r.in_degree = *at++, r.sources = at, at += r.in_degree;
    r.out_degree = *at++, r.destinations = at;
  }
  return r;
}

static void make_communicators(struct rank *r) {
  MPI_Comm_dup(MPI_COMM_WORLD, &r->plan_comm);
  MPI_Comm_set_errhandler(r->plan_comm, MPI_ERRORS_RETURN);
  if (!exported_is_neighborhood) {
    MPI_Comm_dup(MPI_COMM_WORLD, &r->library_comm);
    return;
  }
  /* Open MPI's MPI_UNWEIGHTED causes compiler warnings, and int32_t need not be int. */
  int32_t in = r->in_degree, out = r->out_degree;
  int *lists = bytes_of((size_t)in + (size_t)out, sizeof *lists), *weights = bytes_of((size_t)in + (size_t)out, sizeof *weights);
  for (int32_t i = 0; i < in; i++) lists[i] = r->sources[i];
  for (int32_t i = 0; i < out; i++) lists[in + i] = r->destinations[i];
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, lists, weights, out, lists + in, weights + in, MPI_INFO_NULL, 0,
                                 &r->library_comm);
  free(lists);
  free(weights);
}

static void prepare_rank(struct rank *r, size_t bytes) {
  int32_t values = rw_values(&r->program);
  r->value_bytes = bytes_of((size_t)values, sizeof *r->value_bytes);
  for (int32_t v = 0; v < values; v++)
    r->value_bytes[v] = part_bytes(r->value_part == NULL ? 0 : (size_t)r->value_part[v], bytes);
  for (int32_t i = 0; i < r->program.own; i++) r->send_bytes += r->value_bytes[i];
  for (int32_t s = 0; s < r->program.slots; s++) r->receive_bytes += r->value_bytes[r->program.slot_value[s]];
  r->send = bytes_of(r->send_bytes, 1);
  /* The library's broadcast receives in the buffer from which the root sends. */
  r->receive = bytes_of(r->receive_bytes > r->send_bytes ? r->receive_bytes : r->send_bytes, 1);
  const struct rw_blocks blocks = {.value_bytes = r->value_bytes, .combine = add};
  succeed(rw_request_create(&r->program, r->plan_comm, 0, &blocks, &r->request), "making the plan's request");
}

static void fill(struct rank *r, int round) {
  unsigned char *at = r->send;
  for (int32_t b = 0; b < r->program.own; at += r->value_bytes[b++])
    for (size_t i = 0; i < r->value_bytes[b] / element_bytes(); i++) put(at, i, content(r->own_block[b], i, round));
  memset(r->receive, 0xee, r->receive_bytes);
}

/* Counts the slots with wrong contents. */
static int64_t wrong_slots(const struct rank *r, int round) {
  const unsigned char *at = r->receive;
  int64_t wrong = 0;
  for (int32_t s = 0; s < r->program.slots; s++) {
    size_t bytes = r->value_bytes[r->program.slot_value[s]], elements = bytes / element_bytes(), i = 0;
    while (i < elements && is_element(at, i, demanded(r->slot_term[s], i, round))) i++;
    if (i < elements) {
      if (wrong++ == 0) fprintf(stderr, "rank %d, slot %" PRId32 ", element %zu: wrong data\n", r->number, s, i);
    }
    at += bytes;
  }
  return wrong;
}

static void run_plan(struct rank *r) {
  int code = rw_start(r->request, r->send, r->receive);
  succeed(code == MPI_SUCCESS ? rw_wait(r->request) : code, "running the plan");
}

/* Runs the plan without blocking calls. */
static void poll_plan(struct rank *r) {
  int done = 0;
  succeed(rw_start(r->request, r->send, r->receive), "starting the plan");
  while (!done) succeed(rw_test(r->request, &done), "testing the plan");
}

/* Runs the library's own collective on the same lists and lengths. */
static void run_library(struct rank *r, size_t unit) {
  int bytes = (int)unit, count = (int)(unit / element_bytes()), root = exported_root;
  const void *send = r->send;
  void *receive = r->receive;
  MPI_Comm comm = r->library_comm;
  switch (exported_collective) {
    case exported_neighbor_allgather: MPI_Neighbor_allgather(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, comm); break;
    case exported_neighbor_alltoall: MPI_Neighbor_alltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, comm); break;
    case exported_barrier: MPI_Barrier(comm); break;
    case exported_bcast: MPI_Bcast(r->number == root ? r->send : r->receive, bytes, MPI_BYTE, root, comm); break;
    case exported_scatter: MPI_Scatter(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, root, comm); break;
    case exported_gather: MPI_Gather(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, root, comm); break;
    case exported_allgather: MPI_Allgather(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, comm); break;
    case exported_alltoall: MPI_Alltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, comm); break;
    case exported_reduce: MPI_Reduce(send, receive, count, MPI_UINT32_T, MPI_SUM, root, comm); break;
    case exported_allreduce: MPI_Allreduce(send, receive, count, MPI_UINT32_T, MPI_SUM, comm); break;
    case exported_reduce_scatter: MPI_Reduce_scatter_block(send, receive, count, MPI_UINT32_T, MPI_SUM, comm); break;
    case exported_scan: MPI_Scan(send, receive, count, MPI_UINT32_T, MPI_SUM, comm); break;
    case exported_exscan: MPI_Exscan(send, receive, count, MPI_UINT32_T, MPI_SUM, comm); break;
    case exported_neighbor_reduce: break;
  }
}

static int has_library(void) { return exported_collective != exported_neighbor_reduce; }

static int64_t on_all_ranks(int64_t wrong) {
  int64_t all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

enum { plan_rounds = 4 };

static int64_t check_plan(struct rank *r) {
  int64_t wrong = 0;
  for (int round = 0; round < plan_rounds; round++) {
    fill(r, round);
    if (round % 2 == 0) run_plan(r);
    else poll_plan(r);
    wrong += wrong_slots(r, round);
  }
  return on_all_ranks(wrong);
}

/*
 * MPI libraries differ in the order of blocks along parallel edges, so results with such edges are not
 * compared.
 */
static int is_library_comparable(const struct rank *r) {
  int64_t repeated = 0;
  if (!has_library() || exported_collective != exported_neighbor_alltoall) return has_library();
  for (int32_t i = 0; i < r->in_degree; i++)
    for (int32_t j = 0; j < i; j++) repeated += r->sources[i] == r->sources[j];
  return on_all_ranks(repeated) == 0;
}

static int64_t check_library(struct rank *r, size_t unit) {
  fill(r, plan_rounds);
  run_library(r, unit);
  /* The root of a broadcast sends from its receive buffer. */
  if (exported_collective == exported_bcast && r->number == exported_root) memcpy(r->receive, r->send, r->send_bytes);
  return on_all_ranks(wrong_slots(r, plan_rounds));
}

static double sample(struct rank *r, const struct settings *s, int is_plan) {
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = MPI_Wtime();
  for (int i = 0; i < s->starts; i++) {
    if (is_plan) run_plan(r);
    else run_library(r, s->bytes);
  }
  return (MPI_Wtime() - begin) / s->starts;
}

static int by_value(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

/* Returns the median over samples of the slowest rank's time, in microseconds; at rank 0. */
static double median(double *times, int samples) {
  double *slowest = bytes_of((size_t)samples, sizeof *slowest);
  MPI_Reduce(times, slowest, samples, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  qsort(slowest, (size_t)samples, sizeof *slowest, by_value);
  double middle = (slowest[(samples - 1) / 2] + slowest[samples / 2]) / 2;
  free(slowest);
  return middle * 1e6;
}

/* Plan and library take turns, so that a disturbance affects both. */
static void time_both(struct rank *r, const struct settings *s, double *plan_us, double *library_us) {
  double *plan = bytes_of((size_t)s->samples, sizeof *plan), *library = bytes_of((size_t)s->samples, sizeof *library);
  sample(r, s, 1);
  sample(r, s, 0);
  for (int i = 0; i < s->samples; i++) {
    plan[i] = sample(r, s, 1);
    library[i] = sample(r, s, 0);
  }
  *plan_us = median(plan, s->samples), *library_us = median(library, s->samples);
  free(plan);
  free(library);
}

static void print(const struct settings *s, int is_compared, double plan_us, double library_us) {
  if (s->is_json) {
    printf("{\"collective\":\"%s\",\"strategy\":\"%s\",\"ranks\":%d,\"bytes\":%zu,\"ok\":true", exported_collective_name,
           exported_strategy, exported_rank_count, s->bytes);
    if (s->samples > 0) {
      printf(",\"samples\":%d,\"starts\":%d,\"planUs\":%.3f", s->samples, s->starts, plan_us);
      if (has_library()) printf(",\"libraryUs\":%.3f", library_us);
    }
    printf("}\n");
    return;
  }
  printf("%s by %s, %d ranks, %zu bytes: data as expected%s\n", exported_collective_name, exported_strategy,
         exported_rank_count, s->bytes, is_compared ? ", also by the library's own call" : "");
  if (s->samples == 0) return;
  printf("plan     %12.2f us   median of %d samples of %d starts, slowest rank\n", plan_us, s->samples, s->starts);
  if (has_library()) printf("library  %12.2f us   its own call, library / plan = %.2f\n", library_us, library_us / plan_us);
}

/* Reads a decimal number up to `most`; returns 0 for any other text. */
static int read_number(const char *text, long long most, long long *number) {
  char *end;
  *number = strtoll(text, &end, 10);
  return text[0] >= '0' && text[0] <= '9' && *end == '\0' && *number <= most;
}

/* Returns NULL or the reason why the options are invalid. */
static const char *read_settings(int argc, char **argv, struct settings *s) {
  for (int i = 1; i < argc; i++) {
    long long number = 0;
    if (strcmp(argv[i], "-j") == 0) {
      s->is_json = 1;
      continue;
    }
    if (argv[i][0] != '-' || argv[i][1] == '\0' || argv[i][2] != '\0' || strchr("bns", argv[i][1]) == NULL) return "an unknown option";
    if (i + 1 == argc || !read_number(argv[i + 1], INT32_MAX, &number)) return "an option without its number";
    if (argv[i][1] == 'b') s->bytes = (size_t)number;
    else if (argv[i][1] == 'n') s->samples = (int)number;
    else if (number == 0) return "-s 0";
    else s->starts = (int)number;
    i++;
  }
  return s->bytes % element_bytes() == 0 ? NULL : "-b that is no multiple of 4, as sums need";
}

static void free_rank(struct rank *r) {
  succeed(rw_request_free(&r->request), "freeing the request");
  MPI_Comm_free(&r->plan_comm);
  MPI_Comm_free(&r->library_comm);
  free(r->value_bytes);
  free(r->send);
  free(r->receive);
}

int main(int argc, char **argv) {
  struct settings settings = {.bytes = 64, .samples = 21, .starts = 10};
  double plan_us = 0, library_us = 0;
  int number, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char *wrong = read_settings(argc, argv, &settings);
  if (wrong != NULL || size != exported_rank_count) {
    if (number == 0) {
      if (wrong != NULL)
        fprintf(stderr, "error: got %s\n", wrong);
      else
        fprintf(stderr, "error: expected %d processes, one per rank of the plan, got %d\n", exported_rank_count, size);
      fprintf(stderr, "usage: mpirun -n %d %s [-b BYTES] [-n SAMPLES] [-s STARTS] [-j]\n", exported_rank_count, argv[0]);
    }
    MPI_Finalize();
    return 2;
  }
  struct rank rank = rank_of(number);
  make_communicators(&rank);
  prepare_rank(&rank, settings.bytes);
  const char *whose = "";
  int64_t bad = check_plan(&rank);
  int is_compared = is_library_comparable(&rank);
  if (bad == 0 && is_compared) bad = check_library(&rank, settings.bytes), whose = " by the library's own call";
  if (bad == 0 && settings.samples > 0) time_both(&rank, &settings, &plan_us, &library_us);
  if (number == 0 && bad == 0) print(&settings, is_compared, plan_us, library_us);
  if (number == 0 && bad > 0) fprintf(stderr, "error: wrong data in %" PRId64 " slots%s\n", bad, whose);
  free_rank(&rank);
  MPI_Finalize();
  return bad == 0 ? 0 : 1;
}
