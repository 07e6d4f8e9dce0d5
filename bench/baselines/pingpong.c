// Half the round trip of one message between two processes: SECONDS SIZE:ITERATIONS:BATCHES ...
#include "bench.h"

struct ball {
  unsigned char *out, *into;
  int bytes;
};

static void round_trip(void *with) {
  const struct ball *ball = with;
  if (rank == 0) {
    MPI_Send(ball->out, ball->bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(ball->into, ball->bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(ball->into, ball->bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(ball->out, ball->bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
}

int main(int argc, char **argv) {
  bench_begin(&argc, &argv);
  for (int a = 2; a < argc; a++) {
    int bytes, iterations, batches;
    if (sscanf(argv[a], "%d:%d:%d", &bytes, &iterations, &batches) != 3) MPI_Abort(MPI_COMM_WORLD, 2);
    struct ball ball = {bytes_of((size_t)bytes), bytes_of((size_t)bytes), bytes};
    for (int i = 0; i < iterations + 3; i++) {
      memset(ball.out, (rank * 100 + i) & 0xff, (size_t)bytes);
      round_trip(&ball);
      const unsigned char seen = (unsigned char)((1 - rank) * 100 + i);
      expect(ball.into[0] == seen && ball.into[bytes / 2] == seen && ball.into[bytes - 1] == seen, "ping-pong");
    }
    char key[32];
    snprintf(key, sizeof key, "%d", bytes);
    print_figure(key, timed(round_trip, &ball, iterations, batches) / 2);
    free(ball.out);
    free(ball.into);
  }
  bench_end();
  return 0;
}
