/* A tuning file in its packed form (src/shim/packed-files.ts). Only one process of a job reads it. */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The beginning of the file; the decisions follow, then the grids. The word of the head has a bit for each grid. */
typedef struct {
  rw_packed head;
  char checksum[24], library[RW_TUNE_TEXT], machine[RW_TUNE_TEXT];
  rw_tuning tuning;
} packed_tuning;

/* Sizes that src/shim/packed-files.ts writes. */
typedef char sizes_are_right[sizeof(rw_packed) == 32 && sizeof(rw_tuning) == 216 && sizeof(rw_tune_test) == 24 &&
                                     sizeof(rw_tune_setting) == 408 && sizeof(rw_grid) == 24 &&
                                     offsetof(rw_tune_setting, algorithm) == 72
                                 ? 1
                                 : -1];

/* Returns whether the tests of a tree end: each goes to one before it, or to a setting. */
static int is_tree(const rw_tuning *tuning, const rw_tree *tree, int tests_before, int settings_before) {
  const rw_tune_test *tests = rw_tuning_tests(tuning) + tests_before;
  int count = 0;
  if (tree->first != tests_before || tree->first_setting != settings_before) return 0;
  if (tree->root < -tree->settings || tree->root >= tuning->tests - tests_before) return 0;
  for (; count <= tree->root; count++) {
    const rw_tune_test *test = &tests[count];
    if (test->attribute < 0 || test->attribute >= RW_TESTS || test->yes >= count || test->no >= count) return 0;
    if (test->yes < -tree->settings || test->no < -tree->settings) return 0;
  }
  return 1;
}

static int is_setting(const rw_tune_setting *setting) {
  int is_right = setting->parameters >= 0 && setting->parameters <= RW_TUNE_PARAMETERS &&
                 memchr(setting->algorithm, '\0', RW_TUNE_NAME) != NULL;
  for (int i = 0; is_right && i < setting->parameters; i++)
    is_right = memchr(setting->names[i], '\0', RW_TUNE_PARAMETER) != NULL;
  return is_right;
}

/* Returns whether the decisions, which `room` bytes follow the head of, are consistent. */
static int is_consistent(const rw_tuning *tuning, size_t room) {
  int tests = 0, settings = 0;
  if (tuning->tests < 0 || tuning->settings < 0 || rw_tuning_bytes(tuning) > room) return 0;
  for (int c = 0; c < RW_TUNE_COLLECTIVES; c++) {
    const rw_tree *tree = &tuning->trees[c];
    if (tree->settings == 0) continue;
    if (tree->settings < 0 || tree->settings > tuning->settings - settings || !is_tree(tuning, tree, tests, settings)) return 0;
    for (int i = settings; i < settings + tree->settings; i++)
      if (rw_tuning_settings(tuning)[i].collective != c || !is_setting(&rw_tuning_settings(tuning)[i])) return 0;
    tests += tree->root + 1 > 0 ? tree->root + 1 : 0;
    settings += tree->settings;
  }
  return tests == tuning->tests && settings == tuning->settings;
}

/* Returns the bytes of a grid in the file; 0: they are not consistent. */
static size_t grid_bytes(const rw_grid *grid, const rw_tree *tree, size_t room) {
  size_t cells = 1;
  if (room < sizeof *grid || grid->settings < 1 || grid->settings > tree->settings) return 0;
  for (int axis = 0; axis < RW_GRID_AXES; axis++) {
    if (grid->edges[axis] < 1 || grid->edges[axis] > 64) return 0;
    cells *= (size_t)grid->edges[axis];
  }
  size_t bytes = (rw_grid_bytes(grid) + 7) / 8 * 8;
  if (bytes > room) return 0;
  for (size_t cell = 0; cell < cells; cell++)
    if (rw_grid_best(grid)[cell] < 0 || rw_grid_best(grid)[cell] > grid->settings) return 0;
  return bytes;
}

static void *copy_of(const void *from, size_t bytes) {
  void *copy = malloc(bytes);
  return copy == NULL ? NULL : memcpy(copy, from, bytes);
}

/* Copies the grids, which begin at `at`. Returns NULL, or what is wrong. */
static const char *copy_grids(const packed_tuning *file, const char *at, rw_tune_model *model) {
  const char *end = (const char *)file + file->head.bytes;
  for (int c = 0; c < RW_TUNE_COLLECTIVES; c++) {
    if ((file->head.word >> c & 1) == 0) continue;
    const rw_grid *grid = (const rw_grid *)at;
    size_t bytes = grid_bytes(grid, &file->tuning.trees[c], (size_t)(end - at));
    if (bytes == 0) return "has inconsistent grids";
    model->grids[c] = copy_of(grid, rw_grid_bytes(grid));
    if (model->grids[c] == NULL) return "is too long for the memory";
    at += bytes;
  }
  return NULL;
}

void rw_tune_model_free(rw_tune_model *model) {
  for (int c = 0; c < RW_TUNE_COLLECTIVES; c++) {
    free(model->grids[c]);
    model->grids[c] = NULL;
  }
}

rw_tuning *rw_tune_read(const char *path, rw_tune_model *model, char *wrong, size_t room) {
  char running[RW_TUNE_TEXT];
  rw_tune_model own = {.checksum = ""};
  packed_tuning *file = (packed_tuning *)rw_packed_read(path, "rwtuning", sizeof *file, wrong, room);
  if (file == NULL) return NULL;
  file->checksum[sizeof file->checksum - 1] = file->library[RW_TUNE_TEXT - 1] = file->machine[RW_TUNE_TEXT - 1] = '\0';
  rw_tune_library_name(running, sizeof running);
  rw_tuning *tuning = NULL;
  const char *why = NULL;
  size_t left = file->head.bytes - offsetof(packed_tuning, tuning);
  if (strcmp(file->library, running) != 0)
    snprintf(wrong, room, "the file is for %.80s, and this program uses %.80s", file->library, running);
  else if (!is_consistent(&file->tuning, left)) why = "has inconsistent decisions";
  else if ((why = copy_grids(file, (const char *)&file->tuning + rw_tuning_bytes(&file->tuning), &own)) == NULL) {
    tuning = copy_of(&file->tuning, rw_tuning_bytes(&file->tuning));
    if (tuning == NULL) why = "is too long for the memory";
  }
  if (why != NULL) rw_packed_refuse(why, wrong, room);
  snprintf(own.checksum, sizeof own.checksum, "%.16s", file->checksum);
  snprintf(own.machine, sizeof own.machine, "%.800s", file->machine);
  free(file);
  if (tuning != NULL && model != NULL) *model = own;
  else rw_tune_model_free(&own);
  return tuning;
}
