// How long a receive takes that finds its message among n unexpected ones: SECONDS PROGRAM N ...
// The same as programs/unexpected.ts. Rank 0 receives; the others send when it says so, and sleep until then.
#include "bench.h"

enum { GO = 100000, SENT = 100001, MOST_STEPS = 8 };

struct step {
  int source, from, to;
};

static struct step steps[MOST_STEPS];
static int step_count, receive_count, timed_count;
static int *source, *tag, *message;

static void add_step(int from_rank, int from, int to) {
  if (to > from) steps[step_count++] = (struct step){from_rank, from, to};
}

static void add_receive(int from_rank, int with_tag, int number) {
  source[receive_count] = from_rank;
  tag[receive_count] = with_tag;
  message[receive_count++] = number;
}

static void plan(const char *program, int n) {
  static const int group_messages[] = {2, 10, 50, 100};
  const int senders = size - 1;
  step_count = receive_count = 0;
  if (strcmp(program, "mb2") == 0) {
    for (int s = 0, before = 0; s < 4; s++) {
      const int from = (2 * n * before + 162) / 324;
      before += group_messages[s];
      add_step(s + 1, from, (2 * n * before + 162) / 324);
    }
  } else if (n < senders) {
    add_step(1, 0, n);
  } else {
    for (int s = 0; s < senders; s++) add_step(s + 1, s * (n / senders), (s + 1) * (n / senders));
  }
  int *of = bytes_of((size_t)n * sizeof *of);
  for (int s = 0; s < step_count; s++)
    for (int i = steps[s].from; i < steps[s].to; i++) of[i] = steps[s].source;
  timed_count = n;
  if (strcmp(program, "mb3") == 0) {
    add_step(1, n, n + 1);
    add_receive(1, n, n);
    for (int i = 0; i < n; i++) add_receive(of[i], i, i);
    timed_count = 1;
  } else if (strcmp(program, "mb4-forward") == 0) {
    for (int i = 0; i < n; i++) add_receive(of[i], i, i);
  } else if (strcmp(program, "mb4-middle") == 0) {
    int *left = bytes_of((size_t)n * sizeof *left);
    for (int i = 0; i < n; i++) left[i] = i;
    for (int count = n; count > 0; count--) {
      const int at = count / 2, number = left[at];
      memmove(left + at, left + at + 1, (size_t)(count - at - 1) * sizeof *left);
      add_receive(of[number], number, number);
    }
    free(left);
  } else if (strcmp(program, "mb5") == 0) {
    for (int i = 0; i < n; i++) {
      if (i % 2 == 0) add_receive(1, n - 1 - i / 2, n - 1 - i / 2);
      else add_receive(1, MPI_ANY_TAG, i / 2);
    }
  } else {
    for (int i = n - 1; i >= 0; i--) add_receive(of[i], i, i);
  }
  free(of);
}

static void receive(int i, int is_checked) {
  int into[2];
  MPI_Recv(into, 2, MPI_INT, source[i], tag[i], MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (is_checked) expect(into[0] == message[i] && into[1] == ~message[i], "unexpected message");
}

static double repeat(int is_checked) {
  for (int s = 0; s < step_count; s++) {
    int range[2] = {steps[s].from, steps[s].to}, ignored[2];
    MPI_Request sent;
    // Posted before: it matches the posted receive, after all messages before it have become unexpected.
    MPI_Irecv(ignored, 2, MPI_INT, steps[s].source, SENT, MPI_COMM_WORLD, &sent);
    MPI_Send(range, 2, MPI_INT, steps[s].source, GO, MPI_COMM_WORLD);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
  }
  const double begin = MPI_Wtime();
  for (int i = 0; i < timed_count; i++) receive(i, is_checked);
  const double took = MPI_Wtime() - begin;
  for (int i = timed_count; i < receive_count; i++) receive(i, 1);
  return took / timed_count * 1e6;
}

static void send_on_demand(void) {
  for (;;) {
    int range[2], has_come = 0;
    for (;;) {
      MPI_Iprobe(0, GO, MPI_COMM_WORLD, &has_come, MPI_STATUS_IGNORE);
      if (has_come) break;
      // Senders that poll would take the cores from rank 0.
      usleep(50);
    }
    MPI_Recv(range, 2, MPI_INT, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (range[0] < 0) return;
    for (int number = range[0]; number < range[1]; number++) {
      const int out[2] = {number, ~number};
      MPI_Send(out, 2, MPI_INT, 0, number, MPI_COMM_WORLD);
    }
    MPI_Send(range, 2, MPI_INT, 0, SENT, MPI_COMM_WORLD);
  }
}

int main(int argc, char **argv) {
  bench_begin(&argc, &argv);
  if (rank > 0) {
    send_on_demand();
  } else {
    int longest = 0;
    for (int a = 3; a < argc; a++) longest = atoi(argv[a]) > longest ? atoi(argv[a]) : longest;
    source = bytes_of((size_t)(longest + 1) * sizeof *source);
    tag = bytes_of((size_t)(longest + 1) * sizeof *tag);
    message = bytes_of((size_t)(longest + 1) * sizeof *message);
    for (int a = 3; a < argc; a++) {
      const int n = atoi(argv[a]);
      plan(argv[2], n);
      repeat(1);
      const int enough = 4096 / n, count = enough > 40 ? 40 : enough < 3 ? 3 : enough;
      double times[40];
      for (int i = 0; i < count; i++) times[i] = repeat(0);
      print_figure(argv[a], median(times, count));
    }
    const int stop[2] = {-1, -1};
    for (int to = 1; to < size; to++) MPI_Send(stop, 2, MPI_INT, to, GO, MPI_COMM_WORLD);
  }
  bench_end();
  return 0;
}
