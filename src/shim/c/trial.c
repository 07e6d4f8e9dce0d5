/*
 * Whether a plan is faster than the library is measured, in the calls themselves: pairs of turns, one of the
 * plan and one of the library, which take turns in coming first. Only ratios within a pair count, so a machine
 * that becomes slower disturbs both sides; and their order, not their size, so that outliers count once.
 */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

/* The plan has to be faster by this; it is worth nothing otherwise. */
static const double MARGIN = 0.97;

/* Fewer pairs have no interval. */
enum { LEAST = 6 };

void rw_trial_begin(rw_trial *trial) {
  trial->pairs = 0;
  rw_trial_batch(trial, RW_BATCH);
}

void rw_trial_batch(rw_trial *trial, int pairs) {
  trial->tried = 0;
  trial->wanted = pairs;
  trial->is_odd = trial->pairs % 2;
}

/* Plan, library, library, plan, plan, ... */
int rw_trial_runs_plan(const rw_trial *trial) {
  int turn = trial->tried / RW_TURN, pair = turn / 2 + trial->is_odd;
  return turn % 2 == pair % 2;
}

static int compare(const void *left, const void *right) {
  const double *a = left, *b = right;
  return *a < *b ? -1 : *a > *b;
}

/*
 * The first call of a turn is not counted. It opens connections; and it waits for ranks that are still in the
 * call before, in which a library may poll until its time slice ends, so that what the library costs would be
 * counted as the plan's.
 */
void rw_trial_note(rw_trial *trial, double us) {
  int call = trial->tried % RW_TURN, pair = trial->tried / RW_PAIR, is_library = !rw_trial_runs_plan(trial);
  if (call > 0) trial->turn[call - 1] = us;
  trial->tried++;
  if (call < RW_TURN - 1 || pair >= RW_BATCH) return;
  qsort(trial->turn, RW_TURN - 1, sizeof *trial->turn, compare);
  trial->own[pair][is_library] = trial->turn[(RW_TURN - 1) / 2];
}

void rw_trial_agree(rw_trial *trial, double batch[RW_BATCH][2]) {
  for (int i = 0; i < trial->wanted; i++) {
    trial->plan[trial->pairs % RW_PAIRS] = batch[i][0];
    trial->library[trial->pairs++ % RW_PAIRS] = batch[i][1];
  }
}

static int count_of(const rw_trial *trial) { return trial->pairs < RW_PAIRS ? trial->pairs : RW_PAIRS; }

/*
 * Median and interval: between the k-th lowest and the k-th highest of n values the median of their
 * distribution is with a probability of at least 95%, for k = n / 3 - 1 and n = 6, 9, ..., 24 (sign test).
 */
static void find_interval(double *values, int count, double *low, double *middle, double *high) {
  int k = count / 3 - 1;
  qsort(values, (size_t)count, sizeof *values, compare);
  *low = values[k - 1];
  *middle = (values[(count - 1) / 2] + values[count / 2]) / 2;
  *high = values[count - k];
}

static double ratio(const rw_trial *trial, int pair) {
  return trial->library[pair] > 0 ? trial->plan[pair] / trial->library[pair] : 1;
}

int rw_trial_verdict(const rw_trial *trial, int is_incumbent, double affordable) {
  double ratios[RW_PAIRS], low, middle, high, cost = 0;
  int count = count_of(trial);
  for (int i = 0; i < count; i++) {
    ratios[i] = ratio(trial, i);
    if (trial->plan[i] > trial->library[i]) cost += RW_TURN * (trial->plan[i] - trial->library[i]);
  }
  if (count < LEAST) return !is_incumbent && cost > affordable ? RW_LOST : RW_MORE;
  find_interval(ratios, count, &low, &middle, &high);
  if (high < MARGIN) return RW_WON;
  if (low > MARGIN) return RW_LOST;
  if (is_incumbent && count == RW_PAIRS) return middle < MARGIN ? RW_WON : RW_LOST;
  return count == RW_PAIRS || cost > affordable ? RW_LOST : RW_MORE;
}

int rw_trial_lost_last(const rw_trial *trial) { return ratio(trial, (trial->pairs - 1) % RW_PAIRS) > MARGIN; }

int rw_trial_saving(const rw_trial *trial, double *low, double *middle, double *high) {
  double saved[RW_PAIRS];
  int count = count_of(trial);
  for (int i = 0; i < count; i++) saved[i] = trial->library[i] - trial->plan[i];
  if (count < LEAST) return 0;
  find_interval(saved, count, low, middle, high);
  return 1;
}
