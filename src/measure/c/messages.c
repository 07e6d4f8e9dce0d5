/*
 * This file measures the costs of messages between two processes, and of data in the memory of one, in the terms of
 * LogGP: see measure.h.
 * Every figure is a difference of two lengths or counts, so that what surrounds a message cancels.
 */
#include "measure.h"

#include <stdlib.h>
#include <string.h>

enum { SHORT = 8, FEW_BYTES = 1024, MANY_BYTES = 49152, FEW = 8, MANY = 72, TURNS = 30, SAMPLES = 3 };
/* The longest message that may be sent before its receiver is ready, and how long such a send may take. */
enum { MOST_EAGER = 1 << 22, EAGER_NS = 30000000 };
enum { GO = 11, DATA, BACK };

static char *data;
static int process, other;

static double now_ns(void) { return MPI_Wtime() * 1e9; }

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values) {
  qsort(values, SAMPLES, sizeof *values, compare);
  return values[SAMPLES / 2];
}

static void send(int bytes, int tag) { MPI_Send(data, bytes, MPI_BYTE, other, tag, MPI_COMM_WORLD); }

static void receive(int bytes, int tag) {
  MPI_Recv(data, bytes, MPI_BYTE, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Returns half of a round trip. */
static double one_way(int bytes) {
  double begin = now_ns();
  for (int turn = 0; turn < TURNS; turn++) {
    if (process == 0) send(bytes, DATA);
    receive(bytes, DATA);
    if (process != 0) send(bytes, DATA);
  }
  return (now_ns() - begin) / (2 * TURNS);
}

/* Sends messages in one direction. Returns the time until all have been sent, or until the answer to the last. */
static double stream(int messages, int is_sending) {
  double begin = now_ns(), sent = begin;
  for (int i = 0; i < messages; i++) {
    if (process == 0) send(SHORT, DATA);
    else receive(SHORT, DATA);
  }
  if (process == 0) sent = now_ns(), receive(SHORT, BACK);
  else send(SHORT, BACK);
  return (is_sending ? sent : now_ns()) - begin;
}

/* Returns the time in which process 0 receives messages that have all arrived, after `delay` without a call of MPI. */
static double late(int messages, double delay) {
  double begin = 0;
  if (process == 0) {
    send(SHORT, GO);
    for (begin = now_ns(); now_ns() - begin < delay;) continue;
    begin = now_ns();
    for (int i = 0; i < messages; i++) receive(SHORT, DATA);
    return now_ns() - begin;
  }
  receive(SHORT, GO);
  for (int i = 0; i < messages; i++) send(SHORT, DATA);
  return 0;
}

static double sampled_way(int bytes) {
  double values[SAMPLES];
  for (int i = 0; i < SAMPLES; i++) values[i] = one_way(bytes);
  return median(values);
}

static double sampled_stream(int is_sending) {
  double values[SAMPLES];
  for (int i = 0; i < SAMPLES; i++) values[i] = (stream(MANY, is_sending) - stream(FEW, is_sending)) / (MANY - FEW);
  return median(values);
}

static double sampled_late(double per_message) {
  double values[SAMPLES];
  for (int i = 0; i < SAMPLES; i++)
    values[i] = (late(MANY, 4 * (MANY + 8) * per_message) - late(FEW, 4 * (FEW + 8) * per_message)) / (MANY - FEW);
  return median(values);
}

/* Returns whether a send ends before its message is received. */
static int is_eager(int bytes) {
  int is_done = 0;
  if (process == 0) {
    MPI_Request request;
    double begin = now_ns();
    MPI_Isend(data, bytes, MPI_BYTE, other, DATA, MPI_COMM_WORLD, &request);
    while (!is_done && now_ns() - begin < EAGER_NS) MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    send(SHORT, GO);
    if (!is_done) MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    receive(SHORT, GO);
    receive(bytes, DATA);
  }
  MPI_Bcast(&is_done, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return is_done;
}

long rw_measured_eager_limit(int own, int second) {
  int least = 0, most = MOST_EAGER + 1;
  process = own;
  other = own == 0 ? second : 0;
  data = malloc(MOST_EAGER);
  if (data == NULL) rw_measure_fail("memory is exhausted");
  memset(data, 0, MOST_EAGER);
  while (most - least > 1) {
    int middle = least + (most - least) / 2, is_done;
    if (own == 0 || own == second) is_done = is_eager(middle);
    else MPI_Bcast(&is_done, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (is_done) least = middle;
    else most = middle;
  }
  free(data);
  return least == MOST_EAGER ? -1 : least;
}

void rw_measured_messages(int own, int second, int runs, double *figures) {
  if (own != 0 && own != second) return;
  process = own;
  other = own == 0 ? second : 0;
  data = calloc(1, MANY_BYTES);
  if (data == NULL) rw_measure_fail("memory is exhausted");
  sampled_way(SHORT);
  for (int run = 0; run < runs; run++) {
    double *of = figures + run * RW_MESSAGE_FIGURES;
    of[0] = sampled_way(SHORT);
    of[1] = (sampled_way(MANY_BYTES) - sampled_way(FEW_BYTES)) / (MANY_BYTES - FEW_BYTES);
    of[2] = sampled_stream(0);
    of[3] = sampled_stream(1);
    of[4] = sampled_late(of[0] > of[2] ? of[0] : of[2]);
  }
  free(data);
}

/* Copies blocks of so many bytes; the length is not known when this is compiled. */
static double copies(char *to, const char *from, volatile size_t bytes, size_t stride, int blocks) {
  double begin = now_ns();
  for (int turn = 0; turn < 8; turn++)
    for (int i = 0; i < blocks; i++) memcpy(to + (size_t)i * stride, from + (size_t)i * stride, bytes);
  return (now_ns() - begin) / (8 * blocks);
}

static double sums(double *to, const double *from, int count) {
  double begin = now_ns();
  for (int turn = 0; turn < 8; turn++)
    for (int i = 0; i < count; i++) to[i] += from[i];
  return (now_ns() - begin) / (8.0 * count * (double)sizeof *to);
}

void rw_measured_memory(int runs, double *figures) {
  enum { ROOM = 1 << 20, BLOCK = 1 << 14, STRIDE = 64 };
  char *from = malloc(ROOM), *to = malloc(ROOM);
  volatile char used;
  if (from == NULL || to == NULL) rw_measure_fail("memory is exhausted");
  /* Pages that were never written would all be one page of the kernel. */
  memset(from, 1, ROOM);
  memset(to, 1, ROOM);
  for (int run = 0; run < runs; run++) {
    double block[SAMPLES], byte[SAMPLES], sum[SAMPLES], *of = figures + run * RW_MEMORY_FIGURES;
    for (int i = 0; i < SAMPLES; i++) {
      block[i] = copies(to, from, SHORT, STRIDE, ROOM / STRIDE);
      byte[i] = (copies(to, from, BLOCK, BLOCK, ROOM / BLOCK) - block[i]) / (BLOCK - SHORT);
      sum[i] = sums((double *)to, (const double *)from, ROOM / (int)sizeof(double));
    }
    of[0] = median(block);
    of[1] = median(byte);
    of[2] = median(sum);
    used = to[run % ROOM];
  }
  (void)used;
  free(from);
  free(to);
}
