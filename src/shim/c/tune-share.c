/* Shares what all processes must have alike before calls are tuned. */
#include "shim.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *spread(int rank, void *read, int64_t bytes) {
  PMPI_Bcast(&bytes, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  if (bytes == 0) return NULL;
  void *own = rank == 0 ? read : malloc((size_t)bytes);
  if (rw_agree_on_memory(MPI_COMM_WORLD, own != NULL) == MPI_SUCCESS &&
      PMPI_Bcast(own, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD) == MPI_SUCCESS)
    return own;
  free(own);
  return NULL;
}

rw_tuning *rw_tune_spread(int rank, rw_tuning *read) {
  return spread(rank, read, read == NULL ? 0 : (int64_t)rw_tuning_bytes(read));
}

const char *rw_tune_first_reason(const char *own) {
  static char reason[512];
  int rank, first;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  first = own == NULL ? INT_MAX : rank;
  PMPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first == INT_MAX) return NULL;
  if (rank == first && rank == 0) snprintf(reason, sizeof reason, "%s", own);
  else if (rank == first) snprintf(reason, sizeof reason, "process %d: %s", rank, own);
  PMPI_Bcast(reason, sizeof reason, MPI_CHAR, first, MPI_COMM_WORLD);
  return reason;
}

int rw_online_is_wanted(void) {
  int is_wanted = rw_online_folder() != NULL;
  PMPI_Allreduce(MPI_IN_PLACE, &is_wanted, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return is_wanted;
}

/* Returns NULL, or what is wrong with the words of the processes. Collective. */
static const char *agree_on_words(rw_online_words *words) {
  enum { WORDS = sizeof *words / sizeof(double) };
  *words = *rw_online_own_words();
  const char *own = rw_online_wrong();
  if (own[0] == '\0' && rw_online_folder() == NULL) own = "RANKWEAVE_SHIM names no folder for online tuning, as other processes do";
  const char *wrong = rw_tune_first_reason(own[0] == '\0' ? NULL : own);
  if (wrong != NULL) return wrong;
  double least[2 * WORDS], *given = (double *)words;
  for (int i = 0; i < WORDS; i++) {
    least[i] = given[i];
    least[WORDS + i] = -given[i];
  }
  PMPI_Allreduce(MPI_IN_PLACE, least, 2 * WORDS, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  for (int i = 0; i < WORDS; i++)
    if (least[i] != -least[WORDS + i]) return "processes name different mode, calls, measured or seed in RANKWEAVE_SHIM";
  int64_t drawn = words->seed < 0 ? rw_matching_run() : 0;
  if (words->seed < 0) words->seed = (double)(uint32_t)drawn;
  return NULL;
}

/* Spreads grids and the checksum. 0: a process has no memory. Collective. */
static int spread_model(int rank, rw_tune_model *model) {
  PMPI_Bcast(model->checksum, sizeof model->checksum, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int place = 0; place < RW_ONLINE_FUNCTIONS; place++) {
    rw_grid **grid = &model->grids[rw_online_function(place)];
    int64_t bytes = *grid == NULL ? 0 : (int64_t)rw_grid_bytes(*grid);
    PMPI_Bcast(&bytes, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (bytes == 0) continue;
    *grid = spread(rank, *grid, bytes);
    if (*grid == NULL) return 0;
  }
  return 1;
}

const char *rw_online_share(rw_online_run *run, int rank, int is_threaded) {
  static char wrong[512];
  rw_tuning *read = NULL;
  const char *why = agree_on_words(&run->words);
  if (why != NULL) return why;
  if (rank == 0) {
    why = rw_tune_library_begin(is_threaded);
    if (why == NULL) read = rw_online_prepare(rw_online_folder(), (int)run->words.mode, &run->model, wrong, sizeof wrong);
    if (why == NULL && read == NULL) why = wrong;
  }
  if (read != NULL) {
    const rw_settings *own = rw_own_settings();
    read->cores = own->cores;
    read->after = 0;
    read->per_communicator = own->tune_per_communicator > RW_ONLINE_SHADOWS ? own->tune_per_communicator : RW_ONLINE_SHADOWS;
    read->per_process =
        own->tune_per_process > RW_ONLINE_ALL_SHADOWS ? own->tune_per_process : RW_ONLINE_ALL_SHADOWS;
  }
  run->tuning = rw_tune_spread(rank, read);
  if (run->tuning != NULL && spread_model(rank, &run->model)) return NULL;
  return why == NULL ? "there is no memory for it" : why;
}
