/*
 * Plans that were made before, one file each. A rank reads only its own part. The file consists of words of 32 bits
 * in the order of the machine: magic, version, ranks, name of the plan. Then come the beginnings of the parts of
 * all ranks and the end of the last one, in words (two words each, low one first). A part is its checksum, the
 * numbers of its sources and destinations, the sources by slot, the destinations, and the words of its program
 * (rankweave_program.h).
 */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC = 0x4e505752, VERSION = 1, HEADER = 4 };

/* Computes FNV-1a over words. */
static uint32_t checksum(const int32_t *words, size_t count) {
  uint32_t sum = 2166136261u;
  for (size_t i = 0; i < count; i++) sum = (sum ^ (uint32_t)words[i]) * 16777619u;
  return sum;
}

static int read_words(FILE *file, uint64_t at, int32_t *words, size_t count) {
  return fseeko(file, (off_t)(at * sizeof *words), SEEK_SET) == 0 && fread(words, sizeof *words, count, file) == count;
}

static int compare_ranks(const void *left, const void *right) {
  const int *a = left, *b = right;
  return *a < *b ? -1 : *a > *b;
}

/* Returns whether two lists have the same ranks, in any order. */
static int has_ranks(const int *list, int count, const int32_t *wanted, int wanted_count) {
  int *both = malloc(sizeof *both * (size_t)(count + wanted_count + 1)), found = 0;
  if (both == NULL) return 0;
  for (int i = 0; i < count; i++)
    if (list[i] != MPI_PROC_NULL) both[found++] = list[i];
  for (int i = 0; i < wanted_count; i++) both[found + i] = wanted[i];
  qsort(both, (size_t)found, sizeof *both, compare_ranks);
  qsort(both + found, (size_t)wanted_count, sizeof *both, compare_ranks);
  int same = found == wanted_count && memcmp(both, both + found, sizeof *both * (size_t)found) == 0;
  free(both);
  return same;
}

/* Reads the part of this rank into `words`. Returns NULL, or why the file does not fit. */
static const char *read_part(FILE *file, const rw_lists *lists, int32_t **words, size_t *count, uint32_t *name) {
  int32_t head[HEADER];
  uint32_t ends[4];
  if (!read_words(file, 0, head, HEADER) || head[0] != MAGIC) return "it is not a plan of rankweave shim";
  if (head[1] != VERSION) return "its version is not known";
  if (head[2] != lists->ranks) return "it is for another number of ranks";
  *name = (uint32_t)head[3];
  if (!read_words(file, HEADER + 2 * (uint64_t)lists->rank, (int32_t *)ends, 4)) return "it is cut off";
  uint64_t from = ends[0] | (uint64_t)ends[1] << 32, to = ends[2] | (uint64_t)ends[3] << 32;
  if (to < from + 3 || to - from > INT32_MAX) return "it is damaged";
  *count = (size_t)(to - from);
  *words = malloc(*count * sizeof **words);
  if (*words == NULL) return "there is no memory for it";
  if (!read_words(file, from, *words, *count)) return "it is cut off";
  const int32_t *part = *words;
  if ((uint32_t)part[0] != checksum(part + 1, *count - 1)) return "it is damaged";
  int64_t in = part[1], out = part[2];
  if (in < 0 || out < 0 || in + out > (int64_t)*count - 3) return "it is damaged";
  if (!has_ranks(lists->in, lists->in_count, part + 3, (int)in) ||
      !has_ranks(lists->out, lists->out_count, part + 3 + in, (int)out))
    return "it is for another graph";
  return NULL;
}

static const char *make_part(const rw_lists *lists, const int32_t *words, size_t count, rw_part **made) {
  struct rw_program program;
  size_t at = 3 + (size_t)words[1] + (size_t)words[2];
  const char *wrong = rw_program_of_words(words + at, count - at, &program);
  if (wrong == NULL && (program.ranks != lists->ranks || program.rank != lists->rank || program.own != 1 ||
                        program.slots != words[1] || program.combinations != 0 || program.gates != 0))
    wrong = "it is of another collective or rank";
  if (wrong != NULL) return wrong;
  *made = rw_part_of_program(lists, &program, words + 3);
  return *made == NULL ? "there is no memory for it" : NULL;
}

uint32_t rw_plan_file_read(const char *path, const rw_lists *lists, rw_part **part) {
  int32_t *words = NULL;
  size_t count = 0;
  uint32_t name = 0;
  FILE *file = fopen(path, "rb");
  const char *wrong = file == NULL ? "it cannot be opened" : read_part(file, lists, &words, &count, &name);
  if (wrong == NULL) wrong = make_part(lists, words, count, part);
  if (wrong != NULL && lists->rank == 0) rw_report_refused(path, wrong);
  if (file != NULL) fclose(file);
  free(words);
  return wrong == NULL ? name : 0;
}
