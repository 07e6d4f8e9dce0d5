/* The report of what the library did and what it left to MPI, printed at the end by the first rank of the world. */
#include "shim.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINES = 256, LENGTH = 480 };

static char lines[LINES][LENGTH];
static int line_count, missing_lines;
/* The calls on communicators that have no state; several threads may add to it. */
static uint64_t others[RW_FUNCTIONS][RW_OUTCOMES];

#define TEXT_OF(outcome, text) text,
static const char *const texts[RW_OUTCOMES] = {RW_ALL_OUTCOMES(TEXT_OF)};

static const char *const names[RW_FUNCTIONS] = {
    "MPI_Neighbor_allgather",      "MPI_Neighbor_allgatherv",      "MPI_Neighbor_alltoall",
    "MPI_Neighbor_alltoallv",      "MPI_Neighbor_alltoallw",       "MPI_Ineighbor_allgather",
    "MPI_Ineighbor_allgatherv",    "MPI_Ineighbor_alltoall",       "MPI_Ineighbor_alltoallv",
    "MPI_Ineighbor_alltoallw",     "MPI_Neighbor_allgather_init",  "MPI_Neighbor_allgatherv_init",
    "MPI_Neighbor_alltoall_init",  "MPI_Neighbor_alltoallv_init",  "MPI_Neighbor_alltoallw_init",
    "MPI_Alltoallv",               "MPI_Alltoallw",                "MPI_Ialltoallv",
};

const char *rw_function_name(rw_function function) { return names[function]; }

/* Counts a call. Calls on one communicator do not overlap: MPI orders collective calls. */
void rw_count(rw_state *state, rw_function function, rw_outcome outcome) {
  if (state != NULL) state->counts[function][outcome]++;
  else if (__atomic_fetch_add(&others[function][outcome], 1, __ATOMIC_RELAXED) == 0) rw_watch_end();
}

rw_outcome rw_why_left(const rw_state *state) {
  if (state != NULL) return (rw_outcome)state->left;
  return rw_own_settings()->enabled > 0 ? RW_UNKNOWN : RW_OFF;
}

__attribute__((format(printf, 2, 3))) static void append(char *line, const char *format, ...) {
  size_t used = strlen(line);
  va_list values;
  va_start(values, format);
  vsnprintf(line + used, LENGTH - used, format, values);
  va_end(values);
}

static char *add_line(void) {
  static char left_out[LENGTH];
  if (line_count < LINES) return lines[line_count++];
  missing_lines++;
  left_out[0] = '\0';
  return left_out;
}

void rw_report_line(const char *text) { append(add_line(), "%s", text); }

void rw_report_functions(const char *communicator, const uint64_t counts[RW_FUNCTIONS][RW_OUTCOMES]) {
  for (int f = 0; f < RW_FUNCTIONS; f++) {
    uint64_t calls = 0;
    for (int o = 0; o < RW_OUTCOMES; o++) calls += counts[f][o];
    if (calls == 0) continue;
    char *line = add_line();
    append(line, "%s: %s: %" PRIu64 " call%s", communicator, names[f], calls, calls == 1 ? "" : "s");
    const char *between = ": ";
    for (int o = 0; o < RW_OUTCOMES; o++) {
      if (counts[f][o] == 0) continue;
      append(line, "%s%" PRIu64 " %s%s", between, counts[f][o], o < RW_SERVED ? "" : "left to MPI: ", texts[o]);
      between = "; ";
    }
  }
}

void rw_report_plan(const char *communicator, const char *collective, const char *name, const rw_plan *plan) {
  if (plan->calls == 0) return;
  char *line = add_line();
  append(line, "%s: %u calls of %s, %u by the plan (%s), planned in %.3f ms", communicator, plan->calls, collective,
         plan->planned_calls, name, plan->making_us / 1e3);
  double low, middle, high;
  unsigned calls = plan->planned_calls;
  int is_lost = plan->phase == RW_PHASE_LIBRARY;
  if (rw_trial_ratio(&plan->trial, &low, &middle, &high))
    append(line, "; in the last trial a call took %.2f times as long by the plan as by MPI (95%%: %.2f to %.2f)%s", middle,
           low, high, is_lost ? ", and is left to MPI" : "");
  /*
   * The verdict depends on ratios, in which a rank that lost its core counts once: the mean of the times may
   * differ.
   */
  if (calls > 0 && !is_lost && rw_trial_saving(&plan->trial, &low, &middle, &high))
    append(line, "; a call by the plan saved %.1f us (95%%: %.1f to %.1f), all of them %.3f ms (95%%: %.3f to %.3f)", middle,
           low, high, calls * middle / 1e3, calls * low / 1e3, calls * high / 1e3);
}

void rw_report_state(const rw_state *state) {
  static const char *collectives[] = {"neighbor allgather", "neighbor alltoall"};
  char communicator[64];
  if (!rw_wants_report()) return;
  snprintf(communicator, sizeof communicator, "communicator %d, %d ranks", state->number, state->lists.ranks);
  for (int c = 0; c < RW_COLLECTIVES; c++) {
    const rw_plan *plan = &state->plans[c];
    rw_report_plan(communicator, collectives[c], rw_plan_exists(plan) ? plan->name : texts[plan->why], plan);
  }
  rw_report_functions(communicator, state->counts);
}

void rw_report_refused(const char *path, const char *reason) {
  fprintf(stderr, "rankweave shim: %s is not used on a communicator: %s\n", path, reason);
}

void rw_report_print(void) {
  rw_report_functions("communicators whose creation was not intercepted", others);
  rw_tune_report();
  rw_repair_report();
  rw_reproduce_report();
  rw_reorder_report();
  if (line_count == 0) append(add_line(), "no neighborhood collective was called on this rank");
  for (int i = 0; i < line_count; i++) fprintf(stderr, "rankweave shim: %s\n", lines[i]);
  if (missing_lines > 0) fprintf(stderr, "rankweave shim: %d more lines are left out\n", missing_lines);
  rw_report_tools();
}
