/* The blocking neighborhood collectives, by plan if a communicator has one, else by the library. */
#include "shim.h"

typedef rw_call call;

int rw_call_by_mpi(const call *c, rw_function function) {
  switch (function) {
    case RW_NEIGHBOR_ALLGATHER: return rw_next.Neighbor_allgather(RW_EQUAL_VALUES(c));
    case RW_NEIGHBOR_ALLGATHERV: return rw_next.Neighbor_allgatherv(RW_GATHERV_VALUES(c));
    case RW_NEIGHBOR_ALLTOALL: return rw_next.Neighbor_alltoall(RW_EQUAL_VALUES(c));
    default: return rw_next.Neighbor_alltoallv(RW_ALLTOALLV_VALUES(c));
  }
}

static int by_mpi(const call *c, rw_function function) {
  return rw_repairs() ? rw_repair_call(c, function) : rw_call_by_mpi(c, function);
}

static int has_negative(const int *counts, int count, int one) {
  if (counts == NULL) return one < 0;
  for (int i = 0; i < count; i++)
    if (counts[i] < 0) return 1;
  return 0;
}

/* Arguments that the library refuses are left to it. */
int rw_call_is_wrong(const call *c, const rw_lists *lists, int is_v_send, int is_v_receive) {
  if (c->send_type == MPI_DATATYPE_NULL || c->receive_type == MPI_DATATYPE_NULL) return 1;
  if (c->from == MPI_IN_PLACE || c->to == MPI_IN_PLACE) return 1;
  if (is_v_send && lists->out_count > 0 && (c->send_counts == NULL || c->send_displacements == NULL)) return 1;
  if (is_v_receive && lists->in_count > 0 && (c->receive_counts == NULL || c->receive_displacements == NULL)) return 1;
  return has_negative(c->send_counts, lists->out_count, c->send_count) ||
         has_negative(c->receive_counts, lists->in_count, c->receive_count);
}

int rw_call_buffers(const call *c, rw_function function, rw_buffer *from, rw_buffer *to) {
  int code = rw_buffer_set(from, c->from, c->send_count, c->send_counts, c->send_displacements, c->send_type);
  if (code == MPI_SUCCESS)
    code = rw_buffer_set(to, c->to, c->receive_count, c->receive_counts, c->receive_displacements, c->receive_type);
  to->is_reversed = rw_pairing_is_reversed(function);
  return code;
}

static double longest_of(const rw_buffer *from, int blocks) {
  double longest = 0;
  for (int i = 0; i < blocks; i++) {
    double bytes = (double)rw_buffer_count(from, i) * from->size;
    if (bytes > longest) longest = bytes;
  }
  return longest;
}

/* Returns why a call is carried out by MPI. */
static rw_outcome why_by_library(const rw_plan *plan) {
  switch (plan->phase) {
    case RW_PHASE_TRIAL: return RW_IN_TRIAL;
    case RW_PHASE_LIBRARY: return RW_LOST_TRIAL;
    case RW_PHASE_REST: return RW_LONG_BLOCKS;
    default: return (rw_outcome)plan->why;
  }
}

/*
 * Performs a planned call. Counts of calls are equal on all ranks, also after an error. So all ranks run the plan
 * or the library in the same call.
 */
static int perform_planned(rw_state *state, int collective, rw_function function, const call *c) {
  rw_plan *plan = &state->plans[collective];
  rw_buffer from, to;
  double longest = 0, begin = 0;
  int code = MPI_SUCCESS, agreed = MPI_SUCCESS;
  if (plan->left <= RW_WATCH || plan->phase == RW_PHASE_TRIAL || plan->phase == RW_PHASE_PLAN) {
    rw_state_read(state);
    int blocks = collective == RW_ALLTOALL ? state->lists.out_count : state->lists.out_count > 0;
    code = rw_call_buffers(c, function, &from, &to);
    int is_on_device = code == MPI_SUCCESS && (from.is_on_device || to.is_on_device);
    if (code == MPI_SUCCESS && plan->left <= RW_WATCH) longest = is_on_device ? RW_ON_DEVICE : longest_of(&from, blocks);
  }
  agreed = rw_pace_call(state, collective, longest);
  int is_watched = rw_pace_watches(plan), runs_plan = rw_pace_runs_plan(plan);
  rw_outcome outcome = runs_plan ? RW_BY_PLAN : why_by_library(plan);
  plan->calls++;
  if (code == MPI_SUCCESS) {
    if (is_watched) begin = PMPI_Wtime();
    if (runs_plan) {
      plan->planned_calls++;
      code = plan->publisher != NULL ? rw_exchange_run(plan->publisher, &from, &to) : rw_run(plan->runner, &from, &to);
      int was_direct = plan->publisher != NULL ? rw_publisher_was_direct(plan->publisher) : rw_run_was_direct(plan->runner);
      if (was_direct) outcome = RW_SENT_DIRECTLY;
    } else code = by_mpi(c, function);
  } else runs_plan = 1; /* the error is this library's to report */
  rw_count(state, function, outcome);
  if (is_watched) rw_pace_note(plan, (PMPI_Wtime() - begin) * 1e6, longest);
  if (code != MPI_SUCCESS && plan->runner != NULL && rw_run_is_broken(plan->runner)) return rw_raise_alone(c->comm, code);
  if (code != MPI_SUCCESS) return runs_plan ? rw_raise(c->comm, code) : code;
  return agreed == MPI_SUCCESS ? agreed : rw_raise(c->comm, agreed);
}

static int leave(rw_state *state, rw_function function, rw_outcome why, const call *c) {
  rw_count(state, function, why);
  return by_mpi(c, function);
}

static int perform(const call *c, rw_function function) {
  int collective = function <= RW_NEIGHBOR_ALLGATHERV ? RW_ALLGATHER : RW_ALLTOALL;
  if (rw_state_is_early(c, collective, function)) return by_mpi(c, function);
  rw_state *state = rw_state_of(c->comm);
  rw_outcome why = rw_why_left(state);
  if (state == NULL) return leave(state, function, why, c);
  if (rw_call_is_wrong(c, &state->lists, function == RW_NEIGHBOR_ALLTOALLV,
               function == RW_NEIGHBOR_ALLTOALLV || function == RW_NEIGHBOR_ALLGATHERV))
    return leave(state, function, RW_WRONG, c);
  if (state->settings.records > 0)
    rw_record(state, function, collective, c);
  if (why != RW_BY_PLAN) return leave(state, function, why, c);
  return perform_planned(state, collective, function, c);
}

RW_EXPORT int MPI_Neighbor_allgather(const void *from, int send_count, MPI_Datatype send_type, void *to,
                                     int receive_count, MPI_Datatype receive_type, MPI_Comm comm) {
  call given = {from, to, send_count, receive_count, NULL, NULL, NULL, NULL, send_type, receive_type, comm};
  return perform(&given, RW_NEIGHBOR_ALLGATHER);
}

RW_EXPORT int MPI_Neighbor_allgatherv(const void *from, int send_count, MPI_Datatype send_type, void *to,
                                      const int receive_counts[], const int displacements[], MPI_Datatype receive_type,
                                      MPI_Comm comm) {
  call given = {from, to, send_count, 0, NULL, NULL, receive_counts, displacements, send_type, receive_type, comm};
  return perform(&given, RW_NEIGHBOR_ALLGATHERV);
}

RW_EXPORT int MPI_Neighbor_alltoall(const void *from, int send_count, MPI_Datatype send_type, void *to,
                                    int receive_count, MPI_Datatype receive_type, MPI_Comm comm) {
  call given = {from, to, send_count, receive_count, NULL, NULL, NULL, NULL, send_type, receive_type, comm};
  return perform(&given, RW_NEIGHBOR_ALLTOALL);
}

RW_EXPORT int MPI_Neighbor_alltoallv(const void *from, const int send_counts[], const int send_displacements[],
                                     MPI_Datatype send_type, void *to, const int receive_counts[],
                                     const int receive_displacements[], MPI_Datatype receive_type, MPI_Comm comm) {
  call given = {from, to, 0, 0, send_counts, send_displacements, receive_counts, receive_displacements,
                send_type, receive_type, comm};
  return perform(&given, RW_NEIGHBOR_ALLTOALLV);
}
