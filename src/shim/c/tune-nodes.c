/* Reads the tree of a collective in a tuning file. */
#include "tune-file.h"

#include <string.h>

/* The limits are treeLimits of src/tuning. */
enum { DEEPEST = 24, MOST_NODES = 1 << 16, MOST_SETTINGS = 4096, MOST_WORDS = 256, MOST_CASES = 1 << 20 };

static int node(rw_file *f, uint32_t value, const rw_tree *tree, int depth, int32_t *packed);

static int leaf(rw_file *f, uint32_t object, const rw_tree *tree, int32_t *packed) {
  static const char *const names[] = {"kind", "setting", "cases", "errors"};
  uint32_t values[4];
  double setting, cases, errors;
  if (!RW_FILE_MEMBERS(f, object, names, values) || !rw_file_integer(f, values[1], names[1], tree->settings - 1, &setting) ||
      !rw_file_integer(f, values[2], names[2], MOST_CASES, &cases) || !rw_file_integer(f, values[3], names[3], cases, &errors))
    return 0;
  *packed = ~(int32_t)setting;
  return 1;
}

/* Returns an attribute of this kind, or -1. */
static int attribute(rw_file *f, uint32_t value, int are_words) {
  char name[RW_TUNE_PARAMETER];
  int found = rw_json_string(&f->json, value, name, sizeof name) ? rw_tune_attribute(name) : -1;
  if (found >= 0 && (found >= RW_TEST_COLLECTIVE) == are_words) return found;
  rw_file_enter(f, ".attribute");
  rw_file_fail(f, "expected an attribute that is a %s", are_words ? "word" : "number");
  return -1;
}

static int threshold(rw_file *f, uint32_t object, const rw_tree *tree, int depth, int32_t *packed) {
  static const char *const names[] = {"kind", "attribute", "atMost", "below", "above"};
  uint32_t values[5];
  double most;
  int32_t below, above;
  if (!RW_FILE_MEMBERS(f, object, names, values)) return 0;
  int tested = attribute(f, values[1], 0);
  if (tested < 0) return 0;
  if (!rw_json_number(&f->json, values[2], &most) || most < 0 || most > 1e308) {
    rw_file_enter(f, ".atMost");
    return rw_file_fail(f, "expected a number of at least 0");
  }
  size_t before = rw_file_enter(f, ".below");
  if (!node(f, values[3], tree, depth + 1, &below)) return 0;
  rw_file_leave(f, before);
  rw_file_enter(f, ".above");
  if (!node(f, values[4], tree, depth + 1, &above)) return 0;
  rw_file_leave(f, before);
  *packed = rw_file_test(f, tree, tested, most, below, above);
  return *packed >= 0 || rw_file_fail(f, "there is no memory for it");
}

/* Returns whether the text may be a word of the attribute. */
static int is_word(int tested, const char *text) {
  if (tested >= RW_TEST_SHARED) return (tested == RW_TEST_SHARED || text[0] != '\0') && rw_tune_word(tested, text) >= 0;
  return text[0] == '\0' || (text[0] >= 'a' && rw_file_is_name(text, "-"));
}

static int branches(rw_file *f, uint32_t list, const rw_tree *tree, int tested, int depth, int32_t otherwise,
                    int32_t *packed) {
  static const char *const names[] = {"word", "node"};
  char known[MOST_WORDS][RW_TUNE_PARAMETER];
  int32_t nodes[MOST_WORDS];
  int count = 0;
  const rw_json_value *whole = rw_file_value(f, list);
  if (whole->kind != RW_JSON_LIST) return rw_file_fail(f, "expected a list");
  for (uint32_t at = list + 1; at < whole->after; at = rw_file_value(f, at)->after, count++) {
    uint32_t values[2];
    if (count == MOST_WORDS) return rw_file_fail(f, "expected a list of 1 to %d", MOST_WORDS);
    size_t before = rw_file_enter(f, "[%d]", count);
    if (!RW_FILE_MEMBERS(f, at, names, values)) return 0;
    int is_new = rw_json_string(&f->json, values[0], known[count], sizeof known[count]) && is_word(tested, known[count]);
    for (int i = 0; is_new && i < count; i++) is_new = strcmp(known[i], known[count]) != 0;
    if (!is_new) {
      rw_file_enter(f, ".word");
      return rw_file_fail(f, "expected a word of the attribute that is new");
    }
    rw_file_enter(f, ".node");
    if (!node(f, values[1], tree, depth + 1, &nodes[count])) return 0;
    rw_file_leave(f, before);
  }
  if (count == 0) return rw_file_fail(f, "expected a list of 1 to %d", MOST_WORDS);
  *packed = otherwise;
  for (int i = count - 1; i >= 0; i--) {
    *packed = rw_file_test(f, tree, tested, rw_tune_word(tested, known[i]), nodes[i], *packed);
    if (*packed < 0) return rw_file_fail(f, "there is no memory for it");
  }
  return 1;
}

static int words(rw_file *f, uint32_t object, const rw_tree *tree, int depth, int32_t *packed) {
  static const char *const names[] = {"kind", "attribute", "branches", "otherwise"};
  uint32_t values[4];
  int32_t otherwise = 0;
  if (!RW_FILE_MEMBERS(f, object, names, values)) return 0;
  int tested = attribute(f, values[1], 1);
  if (tested < 0) return 0;
  size_t before = rw_file_enter(f, ".otherwise");
  if (!node(f, values[3], tree, depth + 1, &otherwise)) return 0;
  if (otherwise >= 0) return rw_file_fail(f, "expected a leaf");
  rw_file_leave(f, before);
  rw_file_enter(f, ".branches");
  if (!branches(f, values[2], tree, tested, depth, otherwise, packed)) return 0;
  rw_file_leave(f, before);
  return 1;
}

/* The kind of a node may follow its other members. */
static int node(rw_file *f, uint32_t value, const rw_tree *tree, int depth, int32_t *packed) {
  const rw_json_value *whole = rw_file_value(f, value);
  uint32_t kind = UINT32_MAX;
  if (++f->nodes > MOST_NODES) return rw_file_fail(f, "expected at most %d nodes", MOST_NODES);
  if (whole->kind == RW_JSON_OBJECT)
    for (uint32_t at = value + 1; at < whole->after; at = rw_file_value(f, at + 1)->after)
      if (rw_json_is(&f->json, at, "kind")) kind = at + 1;
  if (kind != UINT32_MAX && rw_json_is(&f->json, kind, "leaf")) return leaf(f, value, tree, packed);
  int is_threshold = kind != UINT32_MAX && rw_json_is(&f->json, kind, "threshold");
  if (!is_threshold && (kind == UINT32_MAX || !rw_json_is(&f->json, kind, "words"))) {
    rw_file_enter(f, ".kind");
    return rw_file_fail(f, "expected leaf, threshold or words");
  }
  if (depth == DEEPEST) return rw_file_fail(f, "expected at most %d tests on a path", DEEPEST);
  return is_threshold ? threshold(f, value, tree, depth, packed) : words(f, value, tree, depth, packed);
}

int rw_file_tree(rw_file *f, uint32_t object, int collective) {
  static const char *const names[] = {"settings", "root"};
  uint32_t values[2];
  rw_tree *made = &f->head.trees[collective];
  if (!RW_FILE_MEMBERS(f, object, names, values)) return 0;
  size_t before = rw_file_enter(f, ".settings");
  if (!rw_file_settings(f, values[0], collective, MOST_SETTINGS)) return 0;
  rw_file_leave(f, before);
  rw_file_enter(f, ".root");
  made->first = f->head.tests;
  f->nodes = 0;
  if (!node(f, values[1], made, 0, &made->root)) return 0;
  rw_file_leave(f, before);
  return 1;
}
