// A conventional split, and one that merges at every stage, in plain C++
// (docs/study/split-measurements.md): 12-byte entries, random keys, one communicator.
// Data moves by memcpy. Prints one JSON object with seconds, one per run.
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

static const uint32_t undefined_one_in = 20;

// The split of bench/programs/irregular.ts from the colors and keys of all ranks, on one core: new rank and
// size of every rank.
static void irregular(size_t n, uint32_t colors, int runs) {
  std::vector<int32_t> color(n), key(n), new_rank(n), size(n);
  for (size_t i = 0; i < n; i++) {
    const bool defined = (uint32_t)draw() % undefined_one_in != 0 || colors == 1;
    const int32_t drawn = (int32_t)((uint32_t)draw() % colors);
    color[i] = defined ? drawn : -1;
    key[i] = draw();
  }
  std::vector<Entry> entries(n);
  memset((void *)entries.data(), 1, n * sizeof(Entry));
  for (int run = 0; run < runs; run++) {
    const double begin = now();
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
      new_rank[i] = -1;
      size[i] = 0;
      if (color[i] >= 0) entries[count++] = {color[i], key[i], (int32_t)i};
    }
    std::sort(entries.begin(), entries.begin() + count);
    for (size_t from = 0, to = 0; from < count; from = to) {
      for (to = from; to < count && entries[to].color == entries[from].color; to++)
        new_rank[entries[to].rank] = (int32_t)(to - from);
      for (size_t i = from; i < to; i++) size[entries[i].rank] = (int32_t)(to - from);
    }
    printf("%s%.6f", run ? "," : "", now() - begin);
  }
  double digest = 0;
  for (size_t i = 0; i < n; i++) digest += (new_rank[i] + 1.0) * (i % 89 + 1) + size[i];
  // The last item is no time.
  printf(",%.0f", digest);
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
  } else if (strcmp(argv[1], "irregular") == 0) {
    irregular(n, (uint32_t)atoi(argv[4]), runs);
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
