/*
 * Decides when ranks plan, try and change their minds. Counts of calls are equal on all ranks, and so is everything
 * that is agreed. So all ranks meet here in calls of the same number. Nothing is spent before the calls seen are
 * worth it: planning may take only a part of their time, and so may a trial that the plan loses. An agreement of
 * few numbers comes at most once in 32 calls, later in 128.
 */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

/*
 * The calls before the first agreement; between agreements while a plan is in use or rests, and such agreements per
 * sample; between a lost trial and the next, least and most.
 */
enum { FIRST = RW_EARLY + RW_WATCH, CHECK = 128, CHECKS = 4, PAUSE = 1024, GROWTH = 4, LONGEST_PAUSE = 1 << 16 };
/* A trial that the plan loses may take this part of the time of the calls before. */
enum { PART_OF_TRIAL = 32 };
/* Before the first plan, planning is assumed to take as long as so many calls. */
enum { UNKNOWN = 64 };
/* Blocks count as too long if they were so in this part of the calls since the last agreement. */
enum { LONG_PART = 8 };

/* Figures are added in such parts, as integers: sums of doubles may differ between ranks in their last bits. */
enum { PARTS = 1 << 14 };

/* The duration in us of the last planning in this process. */
static double planning_us;

int rw_plan_exists(const rw_plan *plan) { return plan->publisher != NULL || plan->part != NULL; }

void rw_pace_begin(rw_plan *plan, int is_at_once) {
  plan->phase = RW_PHASE_EARLY;
  plan->why = RW_TOO_EARLY;
  plan->left = is_at_once ? 0 : FIRST;
  plan->pause = PAUSE;
}

int rw_pace_watches(const rw_plan *plan) { return plan->phase == RW_PHASE_TRIAL || plan->left < RW_WATCH; }

int rw_pace_runs_plan(const rw_plan *plan) {
  return plan->phase == RW_PHASE_PLAN || (plan->phase == RW_PHASE_TRIAL && rw_trial_runs_plan(&plan->trial));
}

void rw_pace_note(rw_plan *plan, double us, double longest) {
  if (longest > plan->watched_longest) plan->watched_longest = longest;
  if (plan->phase == RW_PHASE_TRIAL) rw_trial_note(&plan->trial, us);
  else plan->watched_us[plan->left] = us;
}

static int compare(const void *left, const void *right) {
  const double *a = left, *b = right;
  return *a < *b ? -1 : *a > *b;
}

void rw_pace_enter(rw_plan *plan, int phase, uint64_t left) {
  plan->phase = phase;
  plan->left = left;
  plan->watched_longest = 0;
}

static void try(rw_plan *plan, int pairs) {
  rw_trial_batch(&plan->trial, pairs);
  rw_pace_enter(plan, RW_PHASE_TRIAL, (uint64_t)pairs * RW_PAIR);
}

void rw_pace_try(rw_plan *plan) {
  rw_trial_begin(&plan->trial);
  try(plan, RW_BATCH);
}

/* Begins a trial with a limit for the present blocks. */
static int begin_trial(rw_state *state, int collective, double longest) {
  rw_plan *plan = &state->plans[collective];
  int code = rw_state_limit(state, collective, longest);
  if (!rw_plan_exists(plan)) rw_pace_enter(plan, RW_PHASE_NEVER, UINT64_MAX);
  else if (state->settings.always > 0) rw_pace_enter(plan, RW_PHASE_PLAN, CHECK);
  else rw_pace_try(plan);
  return code;
}

static int agree_now(rw_state *state, int collective, double longest);

static int plan_and_try(rw_state *state, int collective, double longest) {
  rw_plan *plan = &state->plans[collective];
  int code = rw_state_plan(state, collective);
  if (!plan->is_shared) planning_us = plan->making_us;
  if (code == MPI_SUCCESS && rw_plan_exists(plan)) return begin_trial(state, collective, longest);
  rw_pace_enter(plan, RW_PHASE_NEVER, UINT64_MAX);
  return code;
}

/* The kinds of blocks that a rank reports. */
enum { SHORT, TOO_LONG, ON_DEVICE };

static double kind_of_blocks(double longest, const rw_publisher *publisher) {
  double limit = publisher != NULL ? rw_publisher_limit(publisher) : rw_own_settings()->block_limit;
  return longest >= RW_ON_DEVICE ? ON_DEVICE : longest > limit ? TOO_LONG : SHORT;
}

/*
 * Compares the calls so far, and the time of one, with the time of planning. If they do not suffice, the next
 * agreement comes when they probably do; it comes later if a block is too long. The graph may be known from a freed
 * communicator: then its plans are taken, and the calls on it count.
 */
static int consider(rw_state *state, int collective, double longest) {
  rw_plan *plan = &state->plans[collective];
  if (plan->calls == 0) return plan_and_try(state, collective, longest);
  qsort(plan->watched_us, RW_WATCH, sizeof(double), compare);
  rw_publisher *publisher = rw_state_publisher(state, collective);
  double known = state->id > 0 ? 0 : rw_graph_find(state), proposed = state->id > 0 ? 0 : rw_graph_propose();
  double most[] = {plan->watched_us[RW_WATCH / 2], planning_us, kind_of_blocks(longest, publisher),
                   proposed, proposed == 0, known, -known, rw_own_settings()->patience,
                   publisher == NULL};
  int code = PMPI_Allreduce(MPI_IN_PLACE, most, 9, MPI_DOUBLE, MPI_MAX, state->comm);
  if (code != MPI_SUCCESS) {
    rw_pace_enter(plan, RW_PHASE_NEVER, UINT64_MAX);
    return code;
  }
  if (most[5] > 0 && most[5] == -most[6]) {
    rw_graph_take(state, known);
    if (plan->left > 0) return MPI_SUCCESS;
    return agree_now(state, collective, longest);
  }
  plan->why = most[2] < ON_DEVICE ? most[2] < TOO_LONG ? RW_TOO_EARLY : RW_LONG_BLOCKS : RW_DEVICE;
  if (most[4] < 1) rw_graph_number(state, most[3]);
  double call_us = most[0], calls = plan->calls_before + plan->calls;
  /* Publishing takes no planning. */
  double needed_us = most[8] < 1 ? 0 : most[7] * (most[1] > 0 ? most[1] : UNKNOWN * call_us);
  plan->seen_us = calls * call_us;
  if (most[2] < 1 && plan->seen_us >= needed_us) return plan_and_try(state, collective, longest);
  double missing = call_us > 0 && most[2] < 1 ? needed_us / call_us - calls : calls;
  if (missing < calls) missing = calls;
  if (missing > 7 * calls) missing = 7 * calls;
  rw_pace_enter(plan, RW_PHASE_EARLY, (uint64_t)missing);
  return MPI_SUCCESS;
}

static void lose(rw_plan *plan) {
  plan->is_incumbent = 0;
  rw_pace_enter(plan, RW_PHASE_LIBRARY, plan->pause);
  if (plan->pause < LONGEST_PAUSE) plan->pause *= GROWTH;
}

int rw_pace_judge(rw_plan *plan, MPI_Comm comm, int ranks) {
  rw_trial *trial = &plan->trial;
  double batch[RW_BATCH][RW_FIGURES] = {{0}};
  int64_t sums[RW_BATCH * RW_FIGURES];
  int count = RW_FIGURES * trial->wanted;
  for (int i = 0; i < count; i++) sums[i] = (int64_t)(trial->own[i / RW_FIGURES][i % RW_FIGURES] * PARTS);
  int code = PMPI_Allreduce(MPI_IN_PLACE, sums, count, MPI_INT64_T, MPI_SUM, comm);
  for (int i = 0; i < count; i++) batch[i / RW_FIGURES][i % RW_FIGURES] = (double)sums[i] / PARTS / ranks;
  int is_sample = trial->wanted == 1;
  rw_trial_agree(trial, batch);
  plan->seen_us = (plan->calls_before + plan->calls) * batch[0][RW_BY_LIBRARY_US];
  if (is_sample && !rw_trial_lost_last(trial)) rw_pace_enter(plan, RW_PHASE_PLAN, CHECK);
  else if (is_sample) rw_pace_try(plan);
  else {
    int verdict = rw_trial_verdict(trial, plan->is_incumbent, plan->seen_us / PART_OF_TRIAL);
    if (verdict == RW_MORE) try(plan, RW_BATCH);
    else if (verdict == RW_LOST) lose(plan);
    else {
      plan->is_incumbent = 1;
      plan->pause = PAUSE;
      rw_pace_enter(plan, RW_PHASE_PLAN, CHECK);
    }
  }
  return code;
}

void rw_pace_keep(rw_plan *plan, int is_always) {
  if (!is_always && ++plan->checks % CHECKS == 0) try(plan, 1);
  else rw_pace_enter(plan, RW_PHASE_PLAN, CHECK);
}

/*
 * Finds out that blocks have become longer, or short again. A block above the limit is sent directly in addition to
 * the plan's messages, so the plan gets a new limit or rests.
 */
static int review(rw_state *state, int collective, double longest) {
  rw_plan *plan = &state->plans[collective];
  int was_used = plan->phase == RW_PHASE_PLAN;
  int is_direct = plan->runner != NULL ? rw_direct_calls(plan->runner) * LONG_PART > CHECK : longest > plan->most;
  double most[] = {longest, was_used && is_direct};
  int code = PMPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, state->comm);
  int is_long = most[0] > plan->most, has_direct = most[1] > 0;
  if (code != MPI_SUCCESS) rw_pace_enter(plan, RW_PHASE_NEVER, UINT64_MAX);
  else if (was_used && !has_direct) {
    rw_pace_keep(plan, state->settings.always > 0);
  } else if (!is_long) return begin_trial(state, collective, longest);
  else rw_pace_enter(plan, state->settings.always > 0 ? RW_PHASE_PLAN : RW_PHASE_REST, CHECK);
  return code;
}

static int agree_now(rw_state *state, int collective, double longest) {
  switch (state->plans[collective].phase) {
    case RW_PHASE_EARLY: return consider(state, collective, longest);
    case RW_PHASE_TRIAL: return rw_pace_judge(&state->plans[collective], state->comm, state->lists.ranks);
    case RW_PHASE_LIBRARY: return begin_trial(state, collective, longest);
    default: return review(state, collective, longest);
  }
}

int rw_pace_call(rw_state *state, int collective, double longest) {
  rw_plan *plan = &state->plans[collective];
  if (plan->watched_longest > longest) longest = plan->watched_longest;
  int code = plan->left == 0 ? agree_now(state, collective, longest) : MPI_SUCCESS;
  plan->left--;
  return code;
}
