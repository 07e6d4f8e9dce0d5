/*
 * What a plan and its trials choose, if the times of calls are written in a script: one rank, and MPI is not
 * started. Every case is run with many seeds of its noise.
 */
#define _GNU_SOURCE
#include "trial.c"
#define compare compare_watched
#include "pace.c"
#include "report.c"

#include <stdio.h>

int PMPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  (void)from, (void)to, (void)count, (void)type, (void)op, (void)comm;
  return MPI_SUCCESS;
}

static const rw_settings settings = {.block_limit = 1024, .patience = 16};
const rw_settings *rw_own_settings(void) { return &settings; }

static rw_part part;
static unsigned plans_made, direct;

int rw_state_plan(rw_state *state, int collective) {
  state->plans[collective].part = &part;
  state->plans[collective].runner = (rw_runner *)(void *)&direct;
  state->plans[collective].most = 1024;
  state->plans[collective].making_us = 64;
  plans_made++;
  return MPI_SUCCESS;
}

int rw_state_limit(rw_state *state, int collective, double longest) {
  state->plans[collective].limit = longest;
  return MPI_SUCCESS;
}

/* Ranks that do not share memory plan messages. */
rw_publisher *rw_state_publisher(const rw_state *state, int collective) {
  (void)state;
  (void)collective;
  return NULL;
}

unsigned rw_direct_calls(rw_runner *runner) {
  unsigned calls = direct;
  (void)runner;
  direct = 0;
  return calls;
}

double rw_graph_find(rw_state *state) { return state->id; }
double rw_graph_propose(void) { return 0; }
void rw_graph_number(rw_state *state, double id) { state->id = id; }
void rw_graph_take(rw_state *state, double id) { state->id = id; }

int rw_wants_report(void) { return 1; }
int rw_watch_end(void) { return 1; }
void rw_tune_report(void) {}
void rw_reorder_report(void) {}
void rw_repair_report(void) {}
void rw_reproduce_report(void) {}
void rw_report_tools(void) {}

static unsigned seed;

static double uniform(void) {
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 8) / (double)(1 << 24);
}

/* Times in us: of a call of the plan or the library, and what it takes longer after the other one. */
typedef struct {
  const char *name;
  double planned, library, planned_after, library_after;
  double noise;    /* a time is up to this part longer */
  double outliers; /* part of the calls that take 50 times as long */
  double drift;    /* calls after which everything takes twice as long */
  double most;     /* part of the calls by the plan, at most; and at least */
  double least;
  int changes_at;  /* from this call on the plan takes as long as the library, and that one as the plan */
  double bytes;    /* of a block after 4,000 calls */
} script;

enum { CALLS = 20000, SEEDS = 50 };

/* The part of the last half of the calls that ran the plan. */
static double run(const script *s) {
  rw_state state = {.lists.ranks = 1};
  rw_plan *plan = &state.plans[RW_ALLGATHER];
  int before = 0, planned = 0;
  double disturbed = 0;
  planning_us = 0;
  rw_pace_begin(plan, 0);
  for (int call = 0; call < CALLS; call++) {
    double bytes = call < 4000 || s->bytes == 0 ? 8 : s->bytes;
    if (rw_pace_call(&state, RW_ALLGATHER, plan->left <= RW_WATCH ? bytes : 0) != MPI_SUCCESS) return -1;
    int is_watched = rw_pace_watches(plan), is_planned = rw_pace_runs_plan(plan);
    int is_swapped = s->changes_at > 0 && call >= s->changes_at;
    double us = is_planned != is_swapped ? s->planned : s->library;
    if (before != is_planned) us += is_planned ? s->planned_after : s->library_after;
    us *= 1 + s->noise * uniform();
    /* What disturbs stays for a while. */
    if (disturbed > 0) disturbed--, us *= 50;
    else if (uniform() < s->outliers) disturbed = 5;
    if (s->drift > 0) us *= 1 + call / s->drift;
    before = is_planned;
    direct += is_planned && bytes > plan->limit;
    plan->calls++;
    if (call >= CALLS / 2) planned += is_planned;
    if (is_watched) rw_pace_note(plan, us, plan->left < RW_WATCH ? bytes : 0);
  }
  return (double)planned / (CALLS - CALLS / 2);
}

static int check(const script *s) {
  int right = 0;
  double part_of_plan = 0;
  for (unsigned i = 0; i < SEEDS; i++) {
    seed = i * 7919 + 1;
    part_of_plan = run(s);
    right += part_of_plan <= s->most && part_of_plan >= s->least;
  }
  /* Of 20 intervals of 95% one may miss. */
  if (right >= SEEDS - SEEDS / 20) return 0;
  printf("%s: right in %d of %d, the plan runs %.3f of the calls\n", s->name, right, SEEDS, part_of_plan);
  return 1;
}

int main(void) {
  static const script scripts[] = {
      {.name = "a tie", .planned = 10, .library = 10, .noise = 0.3, .most = 0.05},
      {.name = "2% better", .planned = 9.8, .library = 10, .noise = 0.1, .most = 0.05},
      {.name = "20% better, with noise", .planned = 8, .library = 10, .noise = 0.3, .most = 1, .least = 0.9},
      {.name = "10% worse, with noise", .planned = 11, .library = 10, .noise = 0.3, .most = 0.02},
      {.name = "30% worse", .planned = 13, .library = 10, .most = 0.02},
      {.name = "30% better while the machine slows down", .planned = 7, .library = 10, .noise = 0.1, .drift = 2000,
       .most = 1, .least = 0.9},
      {.name = "10% worse while the machine slows down", .planned = 11, .library = 10, .noise = 0.1, .drift = 200,
       .most = 0.02},
      {.name = "30% better, with outliers", .planned = 7, .library = 10, .noise = 0.1, .outliers = 0.01, .most = 1,
       .least = 0.9},
      {.name = "10% worse, with outliers", .planned = 11, .library = 10, .noise = 0.1, .outliers = 0.01, .most = 0.02},
      {.name = "a faster plan that waits for ranks in the library", .planned = 7, .library = 36, .planned_after = 1000,
       .most = 1, .least = 0.9},
      {.name = "a faster library that waits for ranks in the plan", .planned = 36, .library = 7, .library_after = 1000,
       .most = 0.02},
      {.name = "a plan that becomes slower", .planned = 6, .library = 10, .noise = 0.1, .changes_at = 8000, .most = 0.05},
      {.name = "blocks that become too long", .planned = 6, .library = 10, .bytes = 4096, .most = 0.02},
      {.name = "blocks that become longer", .planned = 6, .library = 10, .bytes = 512, .most = 1, .least = 0.9},
  };
  int failures = 0;
  for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) failures += check(&scripts[i]);
  /* Calls of one rank in four take 1,000 us less by the plan, and those of the others a tenth longer. */
  rw_state lost = {.lists.ranks = 4};
  rw_plan *left = &lost.plans[RW_ALLGATHER];
  left->part = &part, left->calls = 400, left->planned_calls = 36, left->phase = RW_PHASE_LIBRARY;
  snprintf(left->name, sizeof left->name, "routed");
  for (int i = 0; i < 6; i++) {
    double pair[RW_BATCH][RW_FIGURES] = {{100 + i, 350, log(0.98 + i * 0.01)}};
    left->trial.wanted = 1;
    rw_trial_agree(&left->trial, pair);
  }
  failures += rw_trial_verdict(&left->trial, 0, 1e9) != RW_LOST;
  rw_report_state(&lost);
  static const char *reported =
      "communicator 0, 4 ranks: 400 calls of neighbor allgather, 36 by the plan (routed), planned in 0.000 ms; in the last "
      "trial a call took 1.00 times as long by the plan as by MPI (95%: 0.98 to 1.03), and is left to MPI";
  if (strcmp(lines[0], reported) != 0) failures++, printf("reported: %s\n", lines[0]);
  left->phase = RW_PHASE_PLAN;
  rw_report_state(&lost);
  if (strstr(lines[1], "(95%: 0.98 to 1.03); a call by the plan saved 247.5 us") == NULL) failures++, printf("%s\n", lines[1]);
  /* Few calls cost nothing. */
  rw_state state = {.lists.ranks = 1};
  plans_made = 0;
  planning_us = 0;
  rw_pace_begin(&state.plans[0], 0);
  for (int call = 0; call < 400; call++) {
    rw_pace_call(&state, RW_ALLGATHER, 8);
    if (rw_pace_watches(&state.plans[0])) rw_pace_note(&state.plans[0], 1, 8);
    state.plans[0].calls++;
  }
  failures += plans_made > 0;
  if (failures == 0) printf("right\n");
  return failures != 0;
}
