/*
 * Whether a plan is faster than the library is measured, in the calls themselves: some run the plan, some the
 * library.
 */
#include "shim.h"

#include <stdlib.h>

enum { ROUND = 2 * RW_TURNS * RW_TURN, AGAIN = 16, LONGEST = 1 << 16 };

static int compare_times(const void *left, const void *right) {
  const double *a = left, *b = right;
  return *a < *b ? -1 : *a > *b;
}

/* Of an even number the lower one: a turn that something else disturbs has half of the times. */
static double median(double *times) {
  qsort(times, RW_TRIAL, sizeof *times, compare_times);
  return times[(RW_TRIAL - 1) / 2];
}

int rw_plan_exists(const rw_plan *plan) { return plan->publisher != NULL || plan->part != NULL; }

int rw_trial_begins(const rw_plan *plan) { return rw_plan_exists(plan) && plan->calls == plan->next_trial; }

int rw_trial_is_on(const rw_plan *plan) { return rw_plan_exists(plan) && plan->calls >= plan->next_trial; }

static int is_turn_of_plan(int tried) { return tried / RW_TURN % 2 == 0; }

int rw_trial_runs_plan(const rw_state *state, const rw_plan *plan) {
  if (!rw_plan_exists(plan)) return 0;
  if (state->settings.always > 0) return 1;
  return rw_trial_is_on(plan) ? is_turn_of_plan(plan->tried) : plan->is_chosen;
}

/*
 * The first call of a turn is not counted. It opens connections; and it waits for ranks that are still in the
 * call before, in which a library may poll until its time slice ends, so that what the library costs would be
 * counted as the plan's. Counts of calls are equal on all ranks, so all agree at once.
 */
int rw_trial_note(const rw_state *state, rw_plan *plan, double us) {
  int tried = plan->tried++, call = tried % RW_TURN, turn = tried / RW_TURN / 2;
  if (call > 0) (is_turn_of_plan(tried) ? plan->planned : plan->library)[turn * (RW_TURN - 1) + call - 1] = us;
  if (plan->tried < ROUND) return MPI_SUCCESS;
  plan->tried = 0;
  unsigned pause = plan->next_trial == 0 ? AGAIN : plan->next_trial;
  plan->next_trial = plan->calls + (pause < LONGEST / AGAIN ? pause * (AGAIN - 1) : LONGEST);
  if (state->settings.always > 0) return MPI_SUCCESS;
  double both[2] = {median(plan->planned), median(plan->library)};
  int code = PMPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_DOUBLE, MPI_SUM, state->comm);
  plan->planned_us = both[0] / state->lists.ranks;
  plan->library_us = both[1] / state->lists.ranks;
  plan->is_chosen = plan->planned_us < plan->library_us;
  return code;
}
