/* The outcomes of calls of tuned collectives, for the report. */
#include "shim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *outcomes[RW_TUNE_OUTCOMES] = {
    "in the setting",
    "left to MPI: the file chooses so",
    "left to MPI: too few calls yet",
    "left to MPI: it does not know the setting, or not for such calls",
    "left to MPI: more settings in use than shadow communicators",
    "left to MPI: no shadow communicator could be made",
};
static const char *const reasons[RW_LEFT_REASONS] = {
    "arguments that MPI refuses",
    "in place",
    "unequal counts",
    "no data",
    "an operation that is not commutative",
    "a communicator of one rank, of two groups, or of another world",
    "MPI_THREAD_MULTIPLE on another communicator than MPI_COMM_WORLD",
};

static const rw_tuning *tuning;
static uint64_t (*by_setting)[RW_TUNE_OUTCOMES], left[RW_TUNE_FUNCTIONS][RW_LEFT_REASONS];

int rw_tune_report_begin(const rw_tuning *given, int is_online) {
  tuning = given;
  if (is_online) outcomes[RW_TUNE_BY_DEFAULT] = "left to MPI: that is chosen";
  by_setting = calloc((size_t)tuning->settings + 1, sizeof *by_setting);
  return by_setting != NULL;
}

static void count(uint64_t *counter) { __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); }

void rw_tune_count(int setting, rw_tune_outcome outcome) { count(&by_setting[setting][outcome]); }

void rw_tune_count_left(int function, rw_tune_reason reason) { count(&left[function][reason]); }

static void report_setting(int setting) {
  char line[512];
  uint64_t calls = 0;
  for (int o = 0; o < RW_TUNE_OUTCOMES; o++) calls += by_setting[setting][o];
  if (calls == 0) return;
  rw_tune_setting_name(&rw_tuning_settings(tuning)[setting], line, sizeof line);
  size_t used = strlen(line);
  used += (size_t)snprintf(line + used, sizeof line - used, ": %" PRIu64 " call%s", calls, calls == 1 ? "" : "s");
  const char *between = ": ";
  for (int o = 0; o < RW_TUNE_OUTCOMES && used < sizeof line; o++) {
    if (by_setting[setting][o] == 0) continue;
    used += (size_t)snprintf(line + used, sizeof line - used, "%s%" PRIu64 " %s", between, by_setting[setting][o], outcomes[o]);
    between = "; ";
  }
  rw_report_line(line);
}

void rw_tune_report(void) {
  char line[512];
  if (!rw_tune_is_used()) return;
  for (int i = 0; i < tuning->settings; i++) report_setting(i);
  for (int f = 0; f < RW_TUNE_FUNCTIONS; f++)
    for (int r = 0; r < RW_LEFT_REASONS; r++) {
      if (left[f][r] == 0) continue;
      snprintf(line, sizeof line, "%s: %" PRIu64 " call%s left to MPI: %s",
               f == RW_TUNE_REDUCE_SCATTER_BLOCK ? "reduce-scatter of equal blocks" : rw_tune_collective_name(f),
               left[f][r], left[f][r] == 1 ? "" : "s", reasons[r]);
      rw_report_line(line);
    }
}
