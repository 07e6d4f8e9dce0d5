/* A stand-in: exchanges by MPI's own non-blocking collectives. */
#include "shim.h"

#include <stdlib.h>

struct rw_publisher {
  MPI_Comm comm;
  int collective;
};

struct rw_exchange {
  MPI_Request request;
};

rw_publisher *rw_publisher_make(const rw_state *state, int collective) {
  rw_publisher *made = calloc(1, sizeof *made);
  if (made == NULL) return NULL;
  made->comm = state->comm;
  made->collective = collective;
  return made;
}

void rw_publisher_free(rw_publisher *publisher) { free(publisher); }

int rw_exchange_start(rw_publisher *p, const rw_buffer *from, const rw_buffer *to, rw_exchange **started) {
  rw_exchange *e = calloc(1, sizeof *e);
  int code;
  if (e == NULL) return MPI_ERR_NO_MEM;
  *started = e;
  if (p->collective == RW_ALLGATHER && to->counts != NULL)
    code = PMPI_Ineighbor_allgatherv(from->start, from->count, from->type, to->start, to->counts, to->displacements,
                                     to->type, p->comm, &e->request);
  else if (p->collective == RW_ALLGATHER)
    code = PMPI_Ineighbor_allgather(from->start, from->count, from->type, to->start, to->count, to->type, p->comm,
                                    &e->request);
  else if (to->counts != NULL || from->counts != NULL)
    code = PMPI_Ineighbor_alltoallv(from->start, from->counts, from->displacements, from->type, to->start, to->counts,
                                    to->displacements, to->type, p->comm, &e->request);
  else
    code = PMPI_Ineighbor_alltoall(from->start, from->count, from->type, to->start, to->count, to->type, p->comm,
                                   &e->request);
  return code;
}

int rw_exchange_advance(rw_exchange *e, int *is_done) { return PMPI_Test(&e->request, is_done, MPI_STATUS_IGNORE); }

void rw_exchange_free(rw_exchange *e) { free(e); }
