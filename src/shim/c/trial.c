/*
 * This file measures whether a plan is faster than the library in the calls themselves: pairs of turns, one of the
 * plan and one of the library, which alternate in coming first. Only ratios within a pair count, so a machine that
 * becomes slower disturbs both sides. Their order counts, not their size, so that outliers count once. The average
 * over ranks is that of logarithms: a rank that loses its core in a call counts as one rank.
 */
#include "shim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The least number of pairs that have an interval. */
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

/* The order is plan, library, library, plan, plan, ... */
int rw_trial_runs_plan(const rw_trial *trial) {
  int turn = trial->tried / RW_TURN, pair = turn / 2 + trial->is_odd;
  return turn % 2 == pair % 2;
}

static int compare(const void *left, const void *right) {
  const double *a = left, *b = right;
  return *a < *b ? -1 : *a > *b;
}

/*
 * The first call of a turn is not counted. It opens connections. It also waits for ranks that are still in the call
 * before, where a library may poll until its time slice ends. Its cost would count as the plan's.
 */
void rw_trial_note(rw_trial *trial, double us) {
  int call = trial->tried % RW_TURN, pair = trial->tried / RW_PAIR, is_library = !rw_trial_runs_plan(trial);
  if (call > 0) trial->turn[call - 1] = us;
  trial->tried++;
  if (call < RW_TURN - 1 || pair >= RW_BATCH) return;
  qsort(trial->turn, RW_TURN - 1, sizeof *trial->turn, compare);
  double *own = trial->own[pair];
  own[is_library ? RW_BY_LIBRARY_US : RW_BY_PLAN_US] = trial->turn[(RW_TURN - 1) / 2];
  own[RW_LOG_RATIO] = own[RW_BY_PLAN_US] > 0 && own[RW_BY_LIBRARY_US] > 0 ? log(own[RW_BY_PLAN_US] / own[RW_BY_LIBRARY_US]) : 0;
}

void rw_trial_agree(rw_trial *trial, double batch[RW_BATCH][RW_FIGURES]) {
  for (int i = 0; i < trial->wanted; i++) memcpy(trial->pair[trial->pairs++ % RW_PAIRS], batch[i], sizeof batch[i]);
}

static int count_of(const rw_trial *trial) { return trial->pairs < RW_PAIRS ? trial->pairs : RW_PAIRS; }

/*
 * Finds median and interval. The median of the distribution of n values lies between the k-th lowest and the k-th
 * highest with a probability of at least 95%. This holds for k = n / 3 - 1 and n = 6, 9, ..., 24 (sign test).
 */
static void find_interval(double *values, int count, double *low, double *middle, double *high) {
  int k = count / 3 - 1;
  qsort(values, (size_t)count, sizeof *values, compare);
  *low = values[k - 1];
  *middle = (values[(count - 1) / 2] + values[count / 2]) / 2;
  *high = values[count - k];
}

static double saved_us(const rw_trial *trial, int pair) {
  return trial->pair[pair][RW_BY_LIBRARY_US] - trial->pair[pair][RW_BY_PLAN_US];
}

int rw_trial_verdict(const rw_trial *trial, int is_incumbent, double affordable) {
  double ratios[RW_PAIRS], saved[RW_PAIRS], low, middle, high, margin = log(RW_MARGIN);
  int count = count_of(trial);
  for (int i = 0; i < count; i++) {
    ratios[i] = trial->pair[i][RW_LOG_RATIO];
    saved[i] = saved_us(trial, i);
  }
  qsort(saved, (size_t)count, sizeof *saved, compare);
  int is_expensive = !is_incumbent && -saved[count / 2] * count * RW_TURN > affordable;
  if (count < LEAST) return is_expensive ? RW_LOST : RW_MORE;
  find_interval(ratios, count, &low, &middle, &high);
  if (high < margin) return RW_WON;
  if (low > margin || is_expensive) return RW_LOST;
  if (count < RW_PAIRS) return RW_MORE;
  return is_incumbent && middle < margin ? RW_WON : RW_LOST;
}

int rw_trial_lost_last(const rw_trial *trial) {
  return trial->pair[(trial->pairs - 1) % RW_PAIRS][RW_LOG_RATIO] > log(RW_MARGIN);
}

int rw_trial_ratio(const rw_trial *trial, double *low, double *middle, double *high) {
  double ratios[RW_PAIRS];
  int count = count_of(trial);
  for (int i = 0; i < count; i++) ratios[i] = exp(trial->pair[i][RW_LOG_RATIO]);
  if (count < LEAST) return 0;
  find_interval(ratios, count / 3 * 3, low, middle, high);
  return 1;
}

int rw_trial_saving(const rw_trial *trial, double *low, double *middle, double *high) {
  double saved[RW_PAIRS];
  int count = count_of(trial);
  for (int i = 0; i < count; i++) saved[i] = saved_us(trial, i);
  if (count < LEAST) return 0;
  find_interval(saved, count / 3 * 3, low, middle, high);
  return 1;
}
