// A conventional split, and one that merges at every stage, in plain C++
// (docs/split-algorithms.md#measuring-splits-of-millions): 12-byte entries, random keys, one communicator. Data moves
// by memcpy. Prints one JSON object with seconds, one per run.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

struct Entry {
  int32_t color, key, rank;
  bool operator<(const Entry &other) const {
    if (color != other.color) return color < other.color;
    if (key != other.key) return key < other.key;
    return rank < other.rank;
  }
};

static double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

static uint32_t state = 12345;
static int32_t draw() {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return (int32_t)state;
}

// Allgather by doubling, scan for the own color, sort what matches.
static double conventional(const std::vector<Entry> &all) {
  const size_t n = all.size();
  std::vector<Entry> table(n), matches(n);
  memset((void *)table.data(), 1, n * sizeof(Entry));
  memset((void *)matches.data(), 1, n * sizeof(Entry));
  const double begin = now();
  memcpy((void *)table.data(), all.data(), sizeof(Entry));
  for (size_t h = 1; h < n; h *= 2) {
    const size_t count = std::min(h, n - h);
    memcpy((void *)(table.data() + h), all.data() + h, count * sizeof(Entry));
  }
  size_t found = 0;
  for (size_t i = 0; i < n; i++)
    if (table[i].color == all[0].color) matches[found++] = table[i];
  std::sort(matches.begin(), matches.begin() + found);
  const double took = now() - begin;
  for (size_t i = 1; i < found; i++)
    if (matches[i] < matches[i - 1]) exit(1);
  return took;
}

// Stage h moves h entries and merges them with its own h; the peer's halves are sorted before timing.
static double merging(const std::vector<Entry> &own, const std::vector<Entry> &peer) {
  const size_t half = own.size();
  std::vector<Entry> received(half), merged(2 * half);
  memset((void *)received.data(), 1, half * sizeof(Entry));
  memset((void *)merged.data(), 1, 2 * half * sizeof(Entry));
  const double begin = now();
  for (size_t h = 1; h <= half; h *= 2) {
    memcpy((void *)received.data(), peer.data(), h * sizeof(Entry));
    std::merge(own.begin(), own.begin() + h, received.begin(), received.begin() + h, merged.begin());
  }
  const double took = now() - begin;
  for (size_t i = 1; i < merged.size(); i++)
    if (merged[i] < merged[i - 1]) exit(1);
  return took;
}

// The entries of many colors, sorted.
static double sorting(std::vector<Entry> entries) {
  const double begin = now();
  std::sort(entries.begin(), entries.end());
  const double took = now() - begin;
  for (size_t i = 1; i < entries.size(); i++)
    if (entries[i] < entries[i - 1]) exit(1);
  return took;
}

int main(int argc, char **argv) {
  const size_t n = strtoull(argv[2], nullptr, 10);
  const int runs = atoi(argv[3]);
  printf("[");
  if (strcmp(argv[1], "conventional") == 0) {
    std::vector<Entry> all(n);
    for (size_t i = 0; i < n; i++) all[i] = {0, draw(), (int32_t)i};
    for (int run = 0; run < runs; run++) printf("%s%.6f", run ? "," : "", conventional(all));
  } else if (strcmp(argv[1], "sort") == 0) {
    std::vector<Entry> all(n);
    for (size_t i = 0; i < n; i++) all[i] = {(int32_t)(i % 1000), draw(), (int32_t)i};
    for (int run = 0; run < runs; run++) printf("%s%.6f", run ? "," : "", sorting(all));
  } else {
    std::vector<Entry> own(n / 2), peer(n / 2);
    for (size_t i = 0; i < n / 2; i++) own[i] = {0, draw(), (int32_t)i};
    for (size_t i = 0; i < n / 2; i++) peer[i] = {0, draw(), (int32_t)(n / 2 + i)};
    std::sort(own.begin(), own.end());
    std::sort(peer.begin(), peer.end());
    for (int run = 0; run < runs; run++) printf("%s%.6f", run ? "," : "", merging(own, peer));
  }
  printf("]\n");
}
