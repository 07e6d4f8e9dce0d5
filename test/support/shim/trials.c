/* What a trial chooses, if the time of a call depends on the call before. MPI is not started. */
#define _GNU_SOURCE
#include "trial.c"

#include <stdio.h>
#include <string.h>

/* One rank. */
int PMPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  (void)from, (void)to, (void)count, (void)type, (void)op, (void)comm;
  return MPI_SUCCESS;
}

/* Times in us: of a call of the plan or the library, and what it takes longer after the other one. */
typedef struct {
  const char *name;
  double planned, library, planned_after, library_after;
  int disturbed_turn; /* of the plan: takes 100 times as long */
  int is_chosen;
} trial;

/* Calls until the second trial is over. */
static int run(const trial *t) {
  static rw_part part;
  rw_state state;
  rw_plan plan;
  memset(&state, 0, sizeof state);
  memset(&plan, 0, sizeof plan);
  state.lists.ranks = 1;
  plan.part = &part;
  int before = 0, turn = 0, failures = 0, trials = 0, begun = 0;
  for (int call = 0; trials < 2; call++) {
    int is_on = rw_trial_is_on(&plan), is_planned = rw_trial_runs_plan(&state, &plan);
    if (rw_trial_begins(&plan)) begun = 1, turn = 0;
    if (is_on && begun && is_planned && (turn == 0 || !before)) turn++;
    double us = is_planned ? t->planned + (before ? 0 : t->planned_after) : t->library + (before ? t->library_after : 0);
    if (is_planned && turn == t->disturbed_turn) us *= 100;
    before = is_planned;
    plan.calls++;
    if (!is_on) {
      if (is_planned != t->is_chosen) failures++;
      continue;
    }
    if (rw_trial_note(&state, &plan, us) != MPI_SUCCESS) failures++;
    if (plan.tried > 0) continue;
    trials++;
    begun = 0;
    if (plan.is_chosen != t->is_chosen || plan.planned_us != t->planned || plan.library_us != t->library) {
      failures++;
      printf("%s: after trial %d chosen %d, plan %g us, library %g us\n", t->name, trials, plan.is_chosen, plan.planned_us,
             plan.library_us);
    }
  }
  return failures;
}

int main(void) {
  static const trial trials[] = {
      {"a faster plan that waits for ranks in the library", 7, 36, 1000, 0, 0, 1},
      {"a faster library that waits for ranks in the plan", 36, 7, 0, 1000, 0, 0},
      {"a faster plan of which one turn is disturbed", 7, 36, 0, 0, 1, 1},
      {"a faster plan of which the other turn is disturbed", 7, 36, 10, 10, 2, 1},
  };
  int failures = 0;
  for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) failures += run(&trials[i]);
  if (failures == 0) printf("right\n");
  return failures != 0;
}
