// Microseconds per message of a window of messages one way, each between its own buffers, and one answer
// per window: SECONDS SIZE:WINDOW:ITERATIONS:BATCHES ...
#include "bench.h"

struct stream {
  unsigned char *memory;
  MPI_Request *requests;
  int bytes, window;
};

static void one_window(void *with) {
  const struct stream *s = with;
  unsigned char answer = 0;
  for (int w = 0; w < s->window; w++) {
    unsigned char *at = s->memory + (size_t)w * (size_t)s->bytes;
    if (rank == 0) MPI_Isend(at, s->bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &s->requests[w]);
    else MPI_Irecv(at, s->bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &s->requests[w]);
  }
  MPI_Waitall(s->window, s->requests, MPI_STATUSES_IGNORE);
  if (rank == 0) MPI_Recv(&answer, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else MPI_Send(&answer, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  bench_begin(&argc, &argv);
  for (int a = 2; a < argc; a++) {
    int bytes, window, iterations, batches;
    if (sscanf(argv[a], "%d:%d:%d:%d", &bytes, &window, &iterations, &batches) != 4)
      MPI_Abort(MPI_COMM_WORLD, 2);
    const size_t all = (size_t)bytes * (size_t)window;
    struct stream s = {bytes_of(all), bytes_of((size_t)window * sizeof(MPI_Request)), bytes, window};
    for (int i = 0; i < 3; i++) {
      for (int w = 0; w < window; w++)
        memset(s.memory + (size_t)w * (size_t)bytes, rank == 0 ? (w + i + 1) & 0xff : 0, (size_t)bytes);
      one_window(&s);
      for (int w = 0; w < window; w++) {
        const unsigned char *at = s.memory + (size_t)w * (size_t)bytes, seen = (unsigned char)(w + i + 1);
        expect(at[0] == seen && at[bytes / 2] == seen && at[bytes - 1] == seen, "stream");
      }
    }
    char key[32];
    snprintf(key, sizeof key, "%d", bytes);
    print_figure(key, timed(one_window, &s, iterations, batches) / window);
    free(s.memory);
    free(s.requests);
  }
  bench_end();
  return 0;
}
