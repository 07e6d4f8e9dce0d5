/* The blocking neighborhood collectives: by plan where a communicator has one, else by the library. */
#include "shim.h"

typedef rw_call call;

typedef int library(const call *given);

static int library_allgather(const call *c) {
  return PMPI_Neighbor_allgather(c->from, c->send_count, c->send_type, c->to, c->receive_count, c->receive_type, c->comm);
}

static int library_allgatherv(const call *c) {
  return PMPI_Neighbor_allgatherv(c->from, c->send_count, c->send_type, c->to, c->receive_counts,
                                  c->receive_displacements, c->receive_type, c->comm);
}

static int library_alltoall(const call *c) {
  return PMPI_Neighbor_alltoall(c->from, c->send_count, c->send_type, c->to, c->receive_count, c->receive_type, c->comm);
}

static int library_alltoallv(const call *c) {
  return PMPI_Neighbor_alltoallv(c->from, c->send_counts, c->send_displacements, c->send_type, c->to, c->receive_counts,
                                 c->receive_displacements, c->receive_type, c->comm);
}

static int has_negative(const int *counts, int count, int one) {
  if (counts == NULL) return one < 0;
  for (int i = 0; i < count; i++)
    if (counts[i] < 0) return 1;
  return 0;
}

/* What the library refuses, it refuses itself. */
int rw_call_is_wrong(const call *c, const rw_lists *lists, int is_v_send, int is_v_receive) {
  if (c->send_type == MPI_DATATYPE_NULL || c->receive_type == MPI_DATATYPE_NULL) return 1;
  if (is_v_send && lists->out_count > 0 && (c->send_counts == NULL || c->send_displacements == NULL)) return 1;
  if (is_v_receive && lists->in_count > 0 && (c->receive_counts == NULL || c->receive_displacements == NULL)) return 1;
  return has_negative(c->send_counts, lists->out_count, c->send_count) ||
         has_negative(c->receive_counts, lists->in_count, c->receive_count);
}

int rw_call_buffers(const call *c, rw_buffer *from, rw_buffer *to) {
  int code = rw_buffer_set(from, c->from, c->send_count, c->send_counts, c->send_displacements, c->send_type);
  if (code != MPI_SUCCESS) return code;
  return rw_buffer_set(to, c->to, c->receive_count, c->receive_counts, c->receive_displacements, c->receive_type);
}

/*
 * Counts of calls are equal on all ranks, so all of them plan, begin a trial and run the plan or the library
 * in the same call.
 */
static int perform_planned(rw_state *state, int collective, const call *c, library *by_library) {
  rw_plan *plan = &state->plans[collective];
  rw_buffer from, to;
  int code = MPI_SUCCESS;
  if (!plan->is_made) code = rw_state_plan(state, collective);
  int runs_plan = rw_trial_runs_plan(state, plan), is_trial = rw_trial_is_on(plan);
  if (code == MPI_SUCCESS && (runs_plan || is_trial)) code = rw_call_buffers(c, &from, &to);
  if (code == MPI_SUCCESS && is_trial && rw_trial_begins(plan))
    code = rw_state_limit(state, collective, &from);
  if (code != MPI_SUCCESS) return rw_raise(c->comm, code);
  runs_plan = runs_plan && rw_plan_exists(plan);
  double begin = is_trial ? PMPI_Wtime() : 0;
  plan->calls++;
  if (runs_plan) {
    plan->planned_calls++;
    code = plan->publisher != NULL ? rw_exchange_run(plan->publisher, &from, &to) : rw_run(plan->runner, &from, &to);
  } else code = by_library(c);
  /* After an error too: trials go by the number of calls. */
  int noted = MPI_SUCCESS;
  if (is_trial && rw_plan_exists(plan)) noted = rw_trial_note(state, plan, (PMPI_Wtime() - begin) * 1e6);
  if (code != MPI_SUCCESS) return runs_plan ? rw_raise(c->comm, code) : code;
  return noted == MPI_SUCCESS ? noted : rw_raise(c->comm, noted);
}

/* Calls that fall through, too. */
static void record(rw_state *state, int collective, const call *c) {
  rw_buffer from, to;
  if (rw_call_buffers(c, &from, &to) != MPI_SUCCESS) return;
  rw_record_call(&state->plans[collective], &from, collective == RW_ALLGATHER ? 1 : state->lists.out_count);
}

static int perform(const call *c, int collective, int is_v_send, int is_v_receive, library *by_library) {
  rw_state *state = rw_state_of(c->comm);
  if (state == NULL || rw_call_is_wrong(c, &state->lists, is_v_send, is_v_receive)) return by_library(c);
  if (state->settings.records > 0) record(state, collective, c);
  if (collective == RW_ALLTOALL && state->lists.is_ambiguous) return by_library(c);
  return perform_planned(state, collective, c, by_library);
}

RW_EXPORT int MPI_Neighbor_allgather(const void *from, int send_count, MPI_Datatype send_type, void *to,
                                     int receive_count, MPI_Datatype receive_type, MPI_Comm comm) {
  call given = {from, to, send_count, receive_count, NULL, NULL, NULL, NULL, send_type, receive_type, comm};
  return perform(&given, RW_ALLGATHER, 0, 0, library_allgather);
}

RW_EXPORT int MPI_Neighbor_allgatherv(const void *from, int send_count, MPI_Datatype send_type, void *to,
                                      const int receive_counts[], const int displacements[], MPI_Datatype receive_type,
                                      MPI_Comm comm) {
  call given = {from, to, send_count, 0, NULL, NULL, receive_counts, displacements, send_type, receive_type, comm};
  return perform(&given, RW_ALLGATHER, 0, 1, library_allgatherv);
}

RW_EXPORT int MPI_Neighbor_alltoall(const void *from, int send_count, MPI_Datatype send_type, void *to,
                                    int receive_count, MPI_Datatype receive_type, MPI_Comm comm) {
  call given = {from, to, send_count, receive_count, NULL, NULL, NULL, NULL, send_type, receive_type, comm};
  return perform(&given, RW_ALLTOALL, 0, 0, library_alltoall);
}

RW_EXPORT int MPI_Neighbor_alltoallv(const void *from, const int send_counts[], const int send_displacements[],
                                     MPI_Datatype send_type, void *to, const int receive_counts[],
                                     const int receive_displacements[], MPI_Datatype receive_type, MPI_Comm comm) {
  call given = {from, to, 0, 0, send_counts, send_displacements, receive_counts, receive_displacements,
                send_type, receive_type, comm};
  return perform(&given, RW_ALLTOALL, 1, 1, library_alltoallv);
}
