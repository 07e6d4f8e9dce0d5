/*
 * Draws alike on all ranks of a call without a message, and computes how probable each setting is: bit by bit as
 * src/tuning/online/grid-selection.ts and probabilities.ts.
 */
#include "shim.h"


static const int functions[RW_ONLINE_FUNCTIONS] = {RW_TUNE_ALLREDUCE, RW_TUNE_BCAST, RW_TUNE_ALLGATHER, RW_TUNE_ALLTOALL};
/* The names in files of calls, in the order of src/schedule/specification.ts. */
static const char *const names[] = {"neighbor-allgather", "barrier", "bcast", "scatter", "gather", "allgather", "reduce",
                                    "allreduce", "reduce-scatter", "scan", "exscan", "alltoall", "neighbor-alltoall",
                                    "neighbor-reduce"};
static const int places[RW_TUNE_COLLECTIVES] = {1, 2, 3, 4, 5, 6, 7, 8, 11, 9, 10};

int rw_online_place_of(int function) {
  for (int i = 0; i < RW_ONLINE_FUNCTIONS; i++)
    if (functions[i] == function) return i;
  return -1;
}

int rw_online_function(int place) { return functions[place]; }

int rw_online_collective(int collective) { return places[collective]; }

const char *rw_online_collective_name(int place) {
  return place < (int)(sizeof names / sizeof *names) ? names[place] : NULL;
}

/* Applies the finalizer of MurmurHash3. */
static uint32_t mixed(uint32_t hash) {
  hash = (hash ^ hash >> 16) * 0x85ebca6bu;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
  return hash ^ hash >> 16;
}

double rw_online_draw(uint32_t seed, uint32_t communicator, uint32_t call, int collective) {
  uint32_t hash = mixed(seed ^ 0x9e3779b9u);
  hash = mixed(hash ^ communicator);
  hash = mixed((hash + 0x7f4a7c15u) ^ call);
  hash = mixed((hash + 0x2545f491u) ^ (uint32_t)rw_online_collective(collective));
  return hash / 4294967296.0;
}

static double bounded(double share, double scale, double low, double high) {
  double scaled = scale * share;
  if (scaled < low) scaled = low;
  return scaled > high ? high : scaled;
}

static double sum_of(const double *shares, int count, double scale, double low, double high) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += bounded(shares[i], scale, low, high);
  return sum;
}

/* Returns the scale at which shares within bounds have sum 1. */
static double scale_of_sum_one(const double *shares, int count, double least, double most) {
  double low = 0, high = 1;
  while (sum_of(shares, count, high, least, most) < 1 && high < 1152921504606846976.0) high *= 2;
  for (int i = 0; i < 120; i++) {
    double middle = (low + high) / 2;
    if (middle == low || middle == high) break;
    if (sum_of(shares, count, middle, least, most) < 1) low = middle;
    else high = middle;
  }
  return high;
}

void rw_online_sums(const double *weights, int count, double *sums) {
  double sum = 0, least = 1.0 / count < 0.03 ? 1.0 / count : 0.03, most = 1.0 / count > 0.5 ? 1.0 / count : 0.5;
  for (int i = 0; i < count; i++) sum += weights[i];
  for (int i = 0; i < count; i++) sums[i] = weights[i] / sum;
  double scale = scale_of_sum_one(sums, count, least, most);
  for (int i = 0; i < count; i++) sums[i] = bounded(sums[i], scale, least, most);
  sum = 0;
  for (int i = 0; i < count; i++) sum += sums[i];
  for (int i = 0; i < count; i++) sums[i] /= sum;
  for (int i = 1; i < count; i++) sums[i] += sums[i - 1];
  sums[count - 1] = 1;
}

int rw_online_place_of_draw(const double *sums, int count, double drawn) {
  int place = 0;
  while (place < count - 1 && sums[place] < drawn) place++;
  return place;
}
