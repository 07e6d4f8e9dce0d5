/* What the library did, printed at the end by the first rank of the world. */
#include "shim.h"

#include <stdio.h>
#include <string.h>

enum { LINES = 64, LENGTH = 320, REASONS = 16 };

static char lines[LINES][LENGTH];
static int line_count;
static const char *reasons[REASONS];
static unsigned falls[REASONS];

/* Reasons are texts of this library, so equal reasons are equal pointers or texts. */
void rw_report_fallen(const char *reason) {
  int i = 0;
  while (i < REASONS - 1 && reasons[i] != NULL && strcmp(reasons[i], reason) != 0) i++;
  if (reasons[i] == NULL) reasons[i] = reason;
  falls[i]++;
}

void rw_report_plan(const rw_state *state, int collective, const rw_plan *plan) {
  static const char *names[] = {"neighbor allgather", "neighbor alltoall"};
  if (!rw_wants_report() || plan->calls == 0 || line_count == LINES) return;
  char *line = lines[line_count++];
  int used = snprintf(line, LENGTH, "communicator %d, %d ranks: %u calls of %s, %u by the plan (%s), planned in %.3f ms",
                      state->number, state->lists.ranks, plan->calls, names[collective], plan->planned_calls,
                      rw_plan_exists(plan) ? plan->name : "none is cheaper", plan->making_us / 1e3);
  double low, middle, high;
  unsigned calls = plan->planned_calls;
  if (calls > 0 && used < LENGTH && rw_trial_saving(&plan->trial, &low, &middle, &high))
    snprintf(line + used, (size_t)(LENGTH - used), "; a call by the plan saved %.1f us (95%%: %.1f to %.1f), all of them "
             "%.3f ms (95%%: %.3f to %.3f)",
             middle, low, high, calls * middle / 1e3, calls * low / 1e3, calls * high / 1e3);
}

void rw_report_refused(const char *path, const char *reason) {
  fprintf(stderr, "rankweave shim: %s is not used on a communicator: %s\n", path, reason);
}

void rw_report_print(void) {
  for (int i = 0; i < line_count; i++) fprintf(stderr, "rankweave shim: %s\n", lines[i]);
  for (int i = 0; i < REASONS && reasons[i] != NULL; i++)
    fprintf(stderr, "rankweave shim: %u calls fell through: %s\n", falls[i], reasons[i]);
}
