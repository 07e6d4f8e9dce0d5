/*
 * Reads the grid of a collective in a tuning file, as src/tuning/models/check-decision-grid.ts defines it. Its best
 * settings become tests, as src/tuning/models/grid-tree.ts makes them: calls are decided alike.
 */
#include "tune-file.h"

#include <stdlib.h>
#include <string.h>

/* The limits are gridLimits and callLimits of src/tuning. */
enum { MOST_SETTINGS = 4095, MOST_EDGES = 64, MOST_CELLS = 1 << 16 };
static const char *const axis_names[RW_GRID_AXES] = {"bytes", "nodes", "processesPerNode"};
static const double first_edges[RW_GRID_AXES] = {0, 1, 1};
static const double last_edges[RW_GRID_AXES] = {1099511627776.0, 4194304, 4194304};

int rw_file_is_grid(const rw_file *f, uint32_t object) {
  const rw_json_value *whole = rw_file_value(f, object);
  int is_grid = 0;
  if (whole->kind != RW_JSON_OBJECT) return 0;
  for (uint32_t at = object + 1; at < whole->after; at = rw_file_value(f, at + 1)->after)
    if (rw_json_is(&f->json, at, "kind")) is_grid = rw_json_is(&f->json, at + 1, "grid");
  return is_grid;
}

static int no_edges(rw_file *f, int axis) {
  rw_file_enter(f, ".%s", axis_names[axis]);
  return rw_file_fail(f, "expected 1 to %d ascending integers from %.0f to %.0f", MOST_EDGES, first_edges[axis],
                      last_edges[axis]);
}

/* Returns the number of edges; 0: they are wrong. */
static int edges_of(rw_file *f, uint32_t list, int axis, double edges[MOST_EDGES]) {
  const rw_json_value *whole = rw_file_value(f, list);
  int count = 0;
  if (whole->kind != RW_JSON_LIST) return no_edges(f, axis);
  for (uint32_t at = list + 1; at < whole->after; at = rw_file_value(f, at)->after) {
    double edge;
    if (count == MOST_EDGES || !rw_json_number(&f->json, at, &edge) || !(edge <= last_edges[axis])) return no_edges(f, axis);
    int is_next = count == 0 ? edge == first_edges[axis] : edge > edges[count - 1];
    if (!is_next || edge != (double)(int64_t)edge) return no_edges(f, axis);
    edges[count++] = edge;
  }
  return count > 0 ? count : no_edges(f, axis);
}

/* Makes the grid of its axes, with room for all it has. NULL, with the error. */
static rw_grid *grid_of(rw_file *f, uint32_t object, int settings, int has_performances) {
  double edges[RW_GRID_AXES][MOST_EDGES];
  rw_grid head = {.settings = settings, .has_performances = has_performances};
  uint32_t values[RW_GRID_AXES];
  if (!RW_FILE_MEMBERS(f, object, axis_names, values)) return NULL;
  for (int axis = 0; axis < RW_GRID_AXES; axis++) {
    head.edges[axis] = edges_of(f, values[axis], axis, edges[axis]);
    if (head.edges[axis] == 0) return NULL;
  }
  if (rw_grid_cells(&head) > MOST_CELLS) return rw_file_fail(f, "expected at most %d cells", MOST_CELLS), NULL;
  rw_grid *grid = calloc(rw_grid_bytes(&head), 1);
  if (grid == NULL) return rw_file_fail(f, "there is no memory for it"), NULL;
  *grid = head;
  for (int axis = 0; axis < RW_GRID_AXES; axis++)
    memcpy((double *)rw_grid_edges(grid, axis), edges[axis], (size_t)head.edges[axis] * sizeof(double));
  return grid;
}

static int sextet(char c) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *found = c == '\0' ? NULL : strchr(letters, c);
  return found == NULL ? -1 : (int)(found - letters);
}

/* Reads words of 32 bits, the low byte first, from base64 with or without its padding; 0, with the error. */
static int words_of(rw_file *f, uint32_t value, uint32_t *words, size_t count) {
  const rw_json_value *text = rw_file_value(f, value);
  size_t bytes = 0, ends = 0;
  uint32_t held = 0;
  int bits = 0;
  if (text->kind != RW_JSON_STRING) return rw_file_fail(f, "expected base64");
  memset(words, 0, count * sizeof *words);
  for (uint32_t at = text->from; at < text->to; at++) {
    char c = f->json.text[at];
    /* JSON may escape a slash with a backslash. */
    if (c == '\\' && f->json.text[at + 1] == '/') continue;
    ends += c == '=';
    if (c == '=' && ends <= 2) continue;
    int six = sextet(c);
    if (six < 0 || ends > 0) return rw_file_fail(f, "expected base64");
    held = held << 6 | (uint32_t)six;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    if (bytes < 4 * count) words[bytes / 4] |= (held >> bits & 255) << 8 * (bytes % 4);
    bytes++;
  }
  if (bits == 6) return rw_file_fail(f, "expected base64");
  return bytes == 4 * count || rw_file_fail(f, "expected %zu bytes, got %zu", 4 * count, bytes);
}

static int best_of(rw_file *f, uint32_t value, const rw_grid *grid) {
  int32_t *best = (int32_t *)rw_grid_best(grid);
  int cells = rw_grid_cells(grid);
  if (!words_of(f, value, (uint32_t *)best, (size_t)cells)) return 0;
  for (int cell = 0; cell < cells; cell++)
    if (best[cell] < 0 || best[cell] > grid->settings) return rw_file_fail(f, "expected numbers from 0 to %d", grid->settings);
  for (int cell = 0; cell < cells; cell++)
    if (best[cell] > 0 && rw_grid_excluded(grid)[best[cell] - 1]) return rw_file_fail(f, "expected settings that are not excluded");
  return 1;
}

static int performances_of(rw_file *f, uint32_t value, const rw_grid *grid) {
  float *performances = (float *)rw_grid_performances(grid);
  size_t count = (size_t)rw_grid_cells(grid) * (size_t)grid->settings;
  uint32_t *words = malloc(count * sizeof *words);
  if (words == NULL) return rw_file_fail(f, "there is no memory for it");
  int is_read = words_of(f, value, words, count);
  if (is_read) memcpy(performances, words, count * sizeof *words);
  free(words);
  for (size_t i = 0; is_read && i < count; i++)
    if (!(performances[i] >= 0 && performances[i] <= 1)) return rw_file_fail(f, "expected numbers from 0 to 1");
  return is_read;
}

static int excluded_of(rw_file *f, uint32_t list, const rw_grid *grid) {
  char *excluded = (char *)rw_grid_excluded(grid);
  const rw_json_value *whole = rw_file_value(f, list);
  int is_right = whole->kind == RW_JSON_LIST;
  for (uint32_t at = list + 1; is_right && at < whole->after; at = rw_file_value(f, at)->after) {
    double number;
    is_right = rw_json_number(&f->json, at, &number) && number >= 1 && number <= grid->settings && number == (int)number &&
               !excluded[(int)number - 1];
    if (is_right) excluded[(int)number - 1] = 1;
  }
  return is_right || rw_file_fail(f, "expected numbers from 1 to %d, each once", grid->settings);
}

/* Reads 1 or 0; -1: it is neither true nor false. */
static int truth(const rw_file *f, uint32_t value) {
  const rw_json_value *v = rw_file_value(f, value);
  if (v->kind != RW_JSON_OTHER) return -1;
  char first = f->json.text[v->from];
  return first == 't' ? 1 : first == 'f' ? 0 : -1;
}

/* A range of cells from the first to before the last, along each axis. */
typedef struct {
  int from[RW_GRID_AXES], to[RW_GRID_AXES];
} range;

/* Returns what the leaf of a range takes, counted among the settings of the collective; -1: cells differ. */
static int setting_in(const rw_grid *grid, const range *r, int by_default) {
  const int32_t *best = rw_grid_best(grid);
  int found = -1;
  for (int per_node = r->from[RW_GRID_PER_NODE]; per_node < r->to[RW_GRID_PER_NODE]; per_node++)
    for (int nodes = r->from[RW_GRID_NODES]; nodes < r->to[RW_GRID_NODES]; nodes++)
      for (int bytes = r->from[RW_GRID_BYTES]; bytes < r->to[RW_GRID_BYTES]; bytes++) {
        int number = best[(per_node * grid->edges[RW_GRID_NODES] + nodes) * grid->edges[RW_GRID_BYTES] + bytes];
        int setting = number == 0 ? by_default : number - 1;
        if (found >= 0 && setting != found) return -1;
        found = setting;
      }
  return found;
}

/* Makes tests by halving the axis that varies least often first. Sizes are integers: at most one less than an edge. */
static int tests_of(rw_file *f, const rw_tree *tree, const rw_grid *grid, const range *r, int by_default, int32_t *packed) {
  static const int attributes[RW_GRID_AXES] = {RW_TEST_BYTES, RW_TEST_NODES, RW_TEST_PER_NODE};
  int setting = setting_in(grid, r, by_default), axis = RW_GRID_PER_NODE;
  int32_t below, above;
  *packed = ~setting;
  if (setting >= 0) return 1;
  while (r->to[axis] - r->from[axis] == 1) axis--;
  int middle = (r->from[axis] + r->to[axis]) / 2;
  range low = *r, high = *r;
  low.to[axis] = high.from[axis] = middle;
  if (!tests_of(f, tree, grid, &low, by_default, &below) || !tests_of(f, tree, grid, &high, by_default, &above)) return 0;
  *packed = rw_file_test(f, tree, attributes[axis], rw_grid_edges(grid, axis)[middle] - 1, below, above);
  return *packed >= 0 || rw_file_fail(f, "there is no memory for it");
}

/* Returns the setting that leaves a call to MPI, which may be a further one; -1: no memory. */
static int default_of(rw_file *f, int collective) {
  rw_tree *tree = &f->head.trees[collective];
  for (int i = 0; i < tree->settings; i++)
    if (strcmp(f->settings[tree->first_setting + i].algorithm, "default") == 0) return i;
  rw_tune_setting *more = rw_file_place(f, collective);
  if (more == NULL) return -1;
  strcpy(more->algorithm, "default");
  f->head.settings++;
  return tree->settings++;
}

int rw_file_grid(rw_file *f, uint32_t object, int collective) {
  static const char *const names[] = {"kind", "settings", "axes", "isTrained", "best", "performances", "excluded"};
  enum { KIND, SETTINGS, AXES, IS_TRAINED, BEST, PERFORMANCES, EXCLUDED, MEMBERS };
  uint32_t values[MEMBERS];
  rw_tree *tree = &f->head.trees[collective];
  if (!rw_file_members(f, object, MEMBERS, PERFORMANCES, names, values)) return 0;
  size_t before = rw_file_enter(f, ".settings");
  if (!rw_file_settings(f, values[SETTINGS], collective, MOST_SETTINGS)) return 0;
  rw_file_leave(f, before);
  rw_file_enter(f, ".axes");
  rw_grid *grid = grid_of(f, values[AXES], tree->settings, values[PERFORMANCES] != UINT32_MAX);
  if (grid == NULL) return 0;
  f->model.grids[collective] = grid;
  rw_file_leave(f, before);
  rw_file_enter(f, ".isTrained");
  grid->is_trained = truth(f, values[IS_TRAINED]);
  if (grid->is_trained < 0) return rw_file_fail(f, "expected true or false");
  rw_file_leave(f, before);
  rw_file_enter(f, ".excluded");
  if (values[EXCLUDED] != UINT32_MAX && !excluded_of(f, values[EXCLUDED], grid)) return 0;
  rw_file_leave(f, before);
  rw_file_enter(f, ".best");
  if (!best_of(f, values[BEST], grid)) return 0;
  rw_file_leave(f, before);
  rw_file_enter(f, ".performances");
  if (grid->has_performances && !performances_of(f, values[PERFORMANCES], grid)) return 0;
  rw_file_leave(f, before);
  range all = {{0, 0, 0}, {grid->edges[0], grid->edges[1], grid->edges[2]}};
  int by_default = default_of(f, collective);
  if (by_default < 0) return rw_file_fail(f, "there is no memory for it");
  tree->first = f->head.tests;
  return tests_of(f, tree, grid, &all, by_default, &tree->root);
}
