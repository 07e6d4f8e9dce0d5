/* One rank's part of a plan without messages: from which block of which source every slot is read. */
#include "shim.h"

#include <stdlib.h>

/*
 * The index of every block among those of its source; a source of an alltoall has each destination once.
 * Collective.
 */
static int exchange_indices(MPI_Comm comm, const rw_lists *lists, int collective, int *index) {
  int *own = malloc(sizeof *own * (size_t)(lists->out_count + 1));
  int code = rw_agree_on_memory(comm, own != NULL);
  for (int i = 0; code == MPI_SUCCESS && i < lists->out_count; i++) own[i] = collective == RW_ALLTOALL ? i : 0;
  if (code == MPI_SUCCESS) code = PMPI_Neighbor_alltoall(own, 1, MPI_INT, index, 1, MPI_INT, comm);
  free(own);
  return code;
}

static void fill(rw_part *part, const rw_lists *lists, int collective, const int *index) {
  struct rw_program *program = &part->program;
  int32_t *nothing = part->words, *source = part->words + 1, *source_block = source + lists->in_count;
  nothing[0] = 0;
  program->ranks = lists->ranks;
  program->rank = lists->rank;
  program->own = collective == RW_ALLGATHER ? 1 : lists->out_count;
  program->send_start = program->receive_start = nothing;
  for (int s = 0; s < lists->in_count; s++) {
    if (lists->in[s] == MPI_PROC_NULL) continue;
    source[program->slots] = lists->in[s];
    source_block[program->slots] = index[s];
    part->slot[program->slots++] = s;
  }
  part->source = source;
  part->source_block = source_block;
  rw_part_list_edges(part, lists, collective);
}

int rw_part_make_readings(MPI_Comm comm, const rw_lists *lists, int collective, rw_part **made) {
  rw_part *part = rw_part_allocate(lists, 1 + 2 * (size_t)lists->in_count);
  int *index = malloc(sizeof *index * (size_t)(lists->in_count + 1));
  int code = rw_agree_on_memory(comm, part != NULL && index != NULL);
  if (code == MPI_SUCCESS) code = exchange_indices(comm, lists, collective, index);
  if (code == MPI_SUCCESS) fill(part, lists, collective, index);
  else {
    rw_part_free(part);
    part = NULL;
  }
  free(index);
  *made = part;
  return code;
}
