/*
 * A tuning file, as src/tuning/tuning-file.ts defines it. What is wrong with one is said with the member. Only
 * one process of a job reads it.
 */
#include "shim.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As treeLimits and settingLimits of src/tuning. */
enum { DEEPEST = 24, MOST_NODES = 1 << 16, MOST_SETTINGS = 4096, MOST_WORDS = 256, MOST_CASES = 1 << 20, SOURCE = 801 };
static const double GREATEST = 1099511627776.0; /* 2^40 */

/* What is read so far. */
typedef struct {
  rw_json json;
  char path[RW_JSON_PATH]; /* the member that is read */
  char *wrong;
  size_t room;
  rw_tuning head;
  rw_tune_test *tests;
  rw_tune_setting *settings;
  int32_t test_room, setting_room, nodes;
} file;

/* 0, with what is wrong. */
__attribute__((format(printf, 2, 3))) static int fail(file *f, const char *format, ...) {
  char text[RW_JSON_PATH];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  snprintf(f->wrong, f->room, "%s%s%s", f->path, f->path[0] == '\0' ? "" : ": ", text);
  return 0;
}

/* The member that is read; the length of the path before, for `leave`. */
__attribute__((format(printf, 2, 3))) static size_t enter(file *f, const char *format, ...) {
  size_t before = strlen(f->path);
  va_list values;
  va_start(values, format);
  vsnprintf(f->path + before, sizeof f->path - before, format, values);
  va_end(values);
  return before;
}

static void leave(file *f, size_t before) { f->path[before] = '\0'; }

static const rw_json_value *value_of(const file *f, uint32_t value) { return &f->json.values[value]; }

/* The values of the members with these names, all of them and no others; 0 if that is not so. */
static int members(file *f, uint32_t object, int count, const char *const *names, uint32_t *values) {
  const rw_json_value *whole = value_of(f, object);
  if (whole->kind != RW_JSON_OBJECT) return fail(f, "expected an object");
  for (int i = 0; i < count; i++) values[i] = UINT32_MAX;
  for (uint32_t at = object + 1; at < whole->after; at = value_of(f, at + 1)->after) {
    int i = 0;
    while (i < count && !rw_json_is(&f->json, at, names[i])) i++;
    if (i == count) {
      const rw_json_value *name = value_of(f, at);
      int length = name->to - name->from < 40 ? (int)(name->to - name->from) : 40;
      return fail(f, "unknown member %.*s", length, f->json.text + name->from);
    }
    if (values[i] != UINT32_MAX) return fail(f, "member %s occurs twice", names[i]);
    values[i] = at + 1;
  }
  for (int i = 0; i < count; i++)
    if (values[i] == UINT32_MAX) return fail(f, "expected a member %s", names[i]);
  return 1;
}

#define MEMBERS(f, object, names, values) members(f, object, sizeof names / sizeof *names, names, values)

static int integer_from(file *f, uint32_t value, const char *name, double least, double most, double *read) {
  if (!rw_json_number(&f->json, value, read) || *read < least || *read > most || *read != (double)(int64_t)*read) {
    enter(f, ".%s", name);
    return fail(f, "expected an integer from %.0f to %.0f", least, most);
  }
  return 1;
}

static int integer(file *f, uint32_t value, const char *name, double most, double *read) {
  return integer_from(f, value, name, 0, most, read);
}

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* Letters, digits and `others`, a letter first. */
static int is_name(const char *text, const char *others) {
  if (!is_letter(text[0])) return 0;
  for (; *text != '\0'; text++)
    if (!is_letter(*text) && !is_digit(*text) && strchr(others, *text) == NULL) return 0;
  return 1;
}

static int parameters(file *f, uint32_t object, rw_tune_setting *setting) {
  const rw_json_value *whole = value_of(f, object);
  if (whole->kind != RW_JSON_OBJECT) return fail(f, "expected an object");
  for (uint32_t at = object + 1; at < whole->after; at = value_of(f, at + 1)->after) {
    if (setting->parameters == RW_TUNE_PARAMETERS) return fail(f, "expected at most %d", RW_TUNE_PARAMETERS);
    char *name = setting->names[setting->parameters];
    double value = 0;
    if (!rw_json_string(&f->json, at, name, RW_TUNE_PARAMETER) || !is_name(name, "_") || name[0] < 'a')
      return fail(f, "expected names of parameters in camel case");
    for (int i = 0; i < setting->parameters; i++)
      if (strcmp(name, setting->names[i]) == 0) return fail(f, "member %s occurs twice", name);
    if (!integer_from(f, at + 1, name, strcmp(name, "radix") == 0 ? 2 : 0, GREATEST, &value)) return 0;
    setting->values[setting->parameters++] = (int64_t)value;
  }
  return 1;
}

static int add_setting(file *f, uint32_t object, int collective) {
  static const char *const names[] = {"collective", "algorithm", "parameters"};
  uint32_t values[3];
  if (!MEMBERS(f, object, names, values)) return 0;
  if (f->head.settings == f->setting_room) {
    int32_t room = f->setting_room == 0 ? 64 : 2 * f->setting_room;
    rw_tune_setting *more = realloc(f->settings, (size_t)room * sizeof *more);
    if (more == NULL) return fail(f, "there is no memory for it");
    f->settings = more;
    f->setting_room = room;
  }
  rw_tune_setting *setting = &f->settings[f->head.settings];
  memset(setting, 0, sizeof *setting);
  setting->collective = collective;
  if (!rw_json_is(&f->json, values[0], rw_tune_collective_name(collective))) {
    enter(f, ".collective");
    return fail(f, "expected %s", rw_tune_collective_name(collective));
  }
  if (!rw_json_string(&f->json, values[1], setting->algorithm, RW_TUNE_NAME) || !is_name(setting->algorithm, "-_")) {
    enter(f, ".algorithm");
    return fail(f, "expected a name of at most %d characters", RW_TUNE_NAME - 1);
  }
  size_t before = enter(f, ".parameters");
  if (!parameters(f, values[2], setting)) return 0;
  leave(f, before);
  f->head.settings++;
  return 1;
}

static int settings(file *f, uint32_t list, int collective) {
  const rw_json_value *whole = value_of(f, list);
  rw_tree *tree = &f->head.trees[collective];
  tree->first_setting = f->head.settings;
  if (whole->kind != RW_JSON_LIST) return fail(f, "expected a list");
  for (uint32_t at = list + 1; at < whole->after; at = value_of(f, at)->after, tree->settings++) {
    if (tree->settings == MOST_SETTINGS) return fail(f, "expected a list of 1 to %d", MOST_SETTINGS);
    size_t before = enter(f, "[%d]", tree->settings);
    if (!add_setting(f, at, collective)) return 0;
    leave(f, before);
  }
  return tree->settings > 0 || fail(f, "expected a list of 1 to %d", MOST_SETTINGS);
}

/* Its place among those of the tree; -1: no memory. */
static int32_t add_test(file *f, const rw_tree *tree, int attribute, double value, int32_t yes, int32_t no) {
  if (f->head.tests == f->test_room) {
    int32_t room = f->test_room == 0 ? 256 : 2 * f->test_room;
    rw_tune_test *more = realloc(f->tests, (size_t)room * sizeof *more);
    if (more == NULL) return -1;
    f->tests = more;
    f->test_room = room;
  }
  f->tests[f->head.tests] = (rw_tune_test){value, attribute, yes, no};
  return f->head.tests++ - tree->first;
}

static int node(file *f, uint32_t value, const rw_tree *tree, int depth, int32_t *packed);

static int leaf(file *f, uint32_t object, const rw_tree *tree, int32_t *packed) {
  static const char *const names[] = {"kind", "setting", "cases", "errors"};
  uint32_t values[4];
  double setting, cases, errors;
  if (!MEMBERS(f, object, names, values) || !integer(f, values[1], names[1], tree->settings - 1, &setting) ||
      !integer(f, values[2], names[2], MOST_CASES, &cases) || !integer(f, values[3], names[3], cases, &errors))
    return 0;
  *packed = ~(int32_t)setting;
  return 1;
}

/* An attribute of this kind, or -1. */
static int attribute(file *f, uint32_t value, int are_words) {
  char name[RW_TUNE_PARAMETER];
  int found = rw_json_string(&f->json, value, name, sizeof name) ? rw_tune_attribute(name) : -1;
  if (found >= 0 && (found >= RW_TEST_COLLECTIVE) == are_words) return found;
  enter(f, ".attribute");
  fail(f, "expected an attribute that is a %s", are_words ? "word" : "number");
  return -1;
}

static int threshold(file *f, uint32_t object, const rw_tree *tree, int depth, int32_t *packed) {
  static const char *const names[] = {"kind", "attribute", "atMost", "below", "above"};
  uint32_t values[5];
  double most;
  int32_t below, above;
  if (!MEMBERS(f, object, names, values)) return 0;
  int tested = attribute(f, values[1], 0);
  if (tested < 0) return 0;
  if (!rw_json_number(&f->json, values[2], &most) || most < 0 || most > 1e308) {
    enter(f, ".atMost");
    return fail(f, "expected a number of at least 0");
  }
  size_t before = enter(f, ".below");
  if (!node(f, values[3], tree, depth + 1, &below)) return 0;
  leave(f, before);
  enter(f, ".above");
  if (!node(f, values[4], tree, depth + 1, &above)) return 0;
  leave(f, before);
  *packed = add_test(f, tree, tested, most, below, above);
  return *packed >= 0 || fail(f, "there is no memory for it");
}

/* Whether the text may be a word of the attribute. */
static int is_word(int tested, const char *text) {
  if (tested >= RW_TEST_SHARED) return (tested == RW_TEST_SHARED || text[0] != '\0') && rw_tune_word(tested, text) >= 0;
  return text[0] == '\0' || (text[0] >= 'a' && is_name(text, "-"));
}

static int branches(file *f, uint32_t list, const rw_tree *tree, int tested, int depth, int32_t otherwise,
                    int32_t *packed) {
  static const char *const names[] = {"word", "node"};
  char known[MOST_WORDS][RW_TUNE_PARAMETER];
  int32_t nodes[MOST_WORDS];
  int count = 0;
  const rw_json_value *whole = value_of(f, list);
  if (whole->kind != RW_JSON_LIST) return fail(f, "expected a list");
  for (uint32_t at = list + 1; at < whole->after; at = value_of(f, at)->after, count++) {
    uint32_t values[2];
    if (count == MOST_WORDS) return fail(f, "expected a list of 1 to %d", MOST_WORDS);
    size_t before = enter(f, "[%d]", count);
    if (!MEMBERS(f, at, names, values)) return 0;
    int is_new = rw_json_string(&f->json, values[0], known[count], sizeof known[count]) && is_word(tested, known[count]);
    for (int i = 0; is_new && i < count; i++) is_new = strcmp(known[i], known[count]) != 0;
    if (!is_new) {
      enter(f, ".word");
      return fail(f, "expected a word of the attribute that is new");
    }
    enter(f, ".node");
    if (!node(f, values[1], tree, depth + 1, &nodes[count])) return 0;
    leave(f, before);
  }
  if (count == 0) return fail(f, "expected a list of 1 to %d", MOST_WORDS);
  *packed = otherwise;
  for (int i = count - 1; i >= 0; i--) {
    *packed = add_test(f, tree, tested, rw_tune_word(tested, known[i]), nodes[i], *packed);
    if (*packed < 0) return fail(f, "there is no memory for it");
  }
  return 1;
}

static int words(file *f, uint32_t object, const rw_tree *tree, int depth, int32_t *packed) {
  static const char *const names[] = {"kind", "attribute", "branches", "otherwise"};
  uint32_t values[4];
  int32_t otherwise = 0;
  if (!MEMBERS(f, object, names, values)) return 0;
  int tested = attribute(f, values[1], 1);
  if (tested < 0) return 0;
  size_t before = enter(f, ".otherwise");
  if (!node(f, values[3], tree, depth + 1, &otherwise)) return 0;
  if (otherwise >= 0) return fail(f, "expected a leaf");
  leave(f, before);
  enter(f, ".branches");
  if (!branches(f, values[2], tree, tested, depth, otherwise, packed)) return 0;
  leave(f, before);
  return 1;
}

/* Its kind may follow its other members. */
static int node(file *f, uint32_t value, const rw_tree *tree, int depth, int32_t *packed) {
  const rw_json_value *whole = value_of(f, value);
  uint32_t kind = UINT32_MAX;
  if (++f->nodes > MOST_NODES) return fail(f, "expected at most %d nodes", MOST_NODES);
  if (whole->kind == RW_JSON_OBJECT)
    for (uint32_t at = value + 1; at < whole->after; at = value_of(f, at + 1)->after)
      if (rw_json_is(&f->json, at, "kind")) kind = at + 1;
  if (kind != UINT32_MAX && rw_json_is(&f->json, kind, "leaf")) return leaf(f, value, tree, packed);
  int is_threshold = kind != UINT32_MAX && rw_json_is(&f->json, kind, "threshold");
  if (!is_threshold && (kind == UINT32_MAX || !rw_json_is(&f->json, kind, "words"))) {
    enter(f, ".kind");
    return fail(f, "expected leaf, threshold or words");
  }
  if (depth == DEEPEST) return fail(f, "expected at most %d tests on a path", DEEPEST);
  return is_threshold ? threshold(f, value, tree, depth, packed) : words(f, value, tree, depth, packed);
}

static int tree(file *f, uint32_t object, int collective) {
  static const char *const names[] = {"settings", "root"};
  uint32_t values[2];
  rw_tree *made = &f->head.trees[collective];
  if (!MEMBERS(f, object, names, values)) return 0;
  size_t before = enter(f, ".settings");
  if (!settings(f, values[0], collective)) return 0;
  leave(f, before);
  enter(f, ".root");
  made->first = f->head.tests;
  f->nodes = 0;
  if (!node(f, values[1], made, 0, &made->root)) return 0;
  leave(f, before);
  return 1;
}

static int decisions(file *f, uint32_t object) {
  const rw_json_value *whole = value_of(f, object);
  if (whole->kind != RW_JSON_OBJECT) return fail(f, "expected an object");
  for (uint32_t at = object + 1; at < whole->after; at = value_of(f, at + 1)->after) {
    char name[RW_TUNE_PARAMETER];
    int collective = rw_json_string(&f->json, at, name, sizeof name) ? rw_tune_collective(name) : -1;
    if (collective < 0) return fail(f, "expected names of collectives");
    if (f->head.trees[collective].settings > 0) return fail(f, "member %s occurs twice", name);
    size_t before = enter(f, ".%s", name);
    if (!tree(f, at + 1, collective)) return 0;
    leave(f, before);
  }
  return 1;
}

static int source(file *f, uint32_t object) {
  static const char *const names[] = {"kind", "name", "machine"};
  uint32_t values[3];
  char name[SOURCE], running[SOURCE];
  if (!MEMBERS(f, object, names, values)) return 0;
  size_t before = enter(f, ".kind");
  if (!rw_json_is(&f->json, values[0], "mpi")) return fail(f, "expected mpi: other settings are not MPI's");
  leave(f, before);
  enter(f, ".name");
  if (!rw_json_string(&f->json, values[1], name, sizeof name)) return fail(f, "expected a string");
  rw_tune_library_name(running, sizeof running);
  if (strcmp(name, running) != 0) return fail(f, "the file is for %.80s, and this program uses %.80s", name, running);
  leave(f, before);
  enter(f, ".machine");
  if (!rw_json_string(&f->json, values[2], name, sizeof name) || name[0] == '\0') return fail(f, "expected a string");
  leave(f, before);
  return 1;
}

/* FNV-1a of what is before the last member, without space outside of strings. */
static uint64_t checksum(const char *text, size_t length) {
  uint64_t sum = 14695981039346656037u;
  int is_string = 0;
  for (size_t i = 0; i < length; i++) {
    if (!is_string && memchr(" \t\n\r", text[i], 4) != NULL) continue;
    if (text[i] == '"') is_string = !is_string;
    sum = (sum ^ (unsigned char)text[i]) * 1099511628211u;
    if (is_string && text[i] == '\\' && i + 1 < length) sum = (sum ^ (unsigned char)text[++i]) * 1099511628211u;
  }
  return sum;
}

static int is_whole(file *f, uint32_t value) {
  char own[17], given[17];
  size_t before = enter(f, "checksum");
  if (value_of(f, value)->after != f->json.count) return fail(f, "expected to be the last member");
  /* The name begins one character behind its quote. */
  size_t end = value_of(f, value - 1)->from - 1;
  while (end > 0 && f->json.text[end] != ',') end--;
  snprintf(own, sizeof own, "%016" PRIx64, checksum(f->json.text, end));
  if (!rw_json_string(&f->json, value, given, sizeof given) || strcmp(own, given) != 0)
    return fail(f, "expected %s: the file was damaged, or edited by hand", own);
  leave(f, before);
  return 1;
}

static int whole(file *f) {
  static const char *const names[] = {"format", "version", "source", "decisions", "checksum"};
  uint32_t values[5];
  double version;
  if (!MEMBERS(f, 0, names, values)) return 0;
  if (!rw_json_is(&f->json, values[0], "rankweave-tuning")) return fail(f, "format: expected rankweave-tuning");
  if (!rw_json_number(&f->json, values[1], &version) || version != 1) return fail(f, "version: expected 1");
  if (!is_whole(f, values[4])) return 0;
  size_t before = enter(f, "source");
  if (!source(f, values[2])) return 0;
  leave(f, before);
  enter(f, "decisions");
  if (!decisions(f, values[3])) return 0;
  leave(f, before);
  return 1;
}

static rw_tuning *packed(const file *f) {
  rw_tuning *tuning = malloc(rw_tuning_bytes(&f->head));
  if (tuning == NULL) return NULL;
  *tuning = f->head;
  if (f->head.tests > 0) memcpy(tuning + 1, f->tests, (size_t)f->head.tests * sizeof *f->tests);
  if (f->head.settings > 0)
    memcpy((rw_tune_test *)(tuning + 1) + f->head.tests, f->settings, (size_t)f->head.settings * sizeof *f->settings);
  return tuning;
}

rw_tuning *rw_tune_read(const char *path, char *wrong, size_t room) {
  file f = {.wrong = wrong, .room = room};
  size_t length, at;
  rw_tuning *tuning = NULL;
  const char *problem;
  char *text = rw_json_text(path, &length, &problem);
  if (text == NULL) return fail(&f, "%s", problem), NULL;
  problem = rw_json_parse(&f.json, text, length, &at);
  if (problem != NULL) fail(&f, "at byte %zu %s", at, problem);
  else if (whole(&f)) {
    tuning = packed(&f);
    if (tuning == NULL) fail(&f, "there is no memory for it");
  }
  rw_json_free(&f.json);
  free(f.tests);
  free(f.settings);
  free(text);
  return tuning;
}
