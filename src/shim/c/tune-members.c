/* The members of a tuning file, with the settings and tests read so far. */
#include "tune-file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The limit is that of settingLimits in src/tuning. */
static const double greatest = 1099511627776.0; /* 2^40 */

/* Returns 0, with the error. */
int rw_file_fail(rw_file *f, const char *format, ...) {
  char text[RW_JSON_PATH];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  snprintf(f->wrong, f->room, "%s%s%s", f->path, f->path[0] == '\0' ? "" : ": ", text);
  return 0;
}

/* Enters a member; returns the length of the path before, for `leave`. */
size_t rw_file_enter(rw_file *f, const char *format, ...) {
  size_t before = strlen(f->path);
  va_list values;
  va_start(values, format);
  vsnprintf(f->path + before, sizeof f->path - before, format, values);
  va_end(values);
  return before;
}

void rw_file_leave(rw_file *f, size_t before) { f->path[before] = '\0'; }

const rw_json_value *rw_file_value(const rw_file *f, uint32_t value) { return &f->json.values[value]; }

int rw_file_members(rw_file *f, uint32_t object, int count, int required, const char *const *names, uint32_t *values) {
  const rw_json_value *whole = rw_file_value(f, object);
  if (whole->kind != RW_JSON_OBJECT) return rw_file_fail(f, "expected an object");
  for (int i = 0; i < count; i++) values[i] = UINT32_MAX;
  for (uint32_t at = object + 1; at < whole->after; at = rw_file_value(f, at + 1)->after) {
    int i = 0;
    while (i < count && !rw_json_is(&f->json, at, names[i])) i++;
    if (i == count) {
      const rw_json_value *name = rw_file_value(f, at);
      int length = name->to - name->from < 40 ? (int)(name->to - name->from) : 40;
      return rw_file_fail(f, "unknown member %.*s", length, f->json.text + name->from);
    }
    if (values[i] != UINT32_MAX) return rw_file_fail(f, "member %s occurs twice", names[i]);
    values[i] = at + 1;
  }
  for (int i = 0; i < required; i++)
    if (values[i] == UINT32_MAX) return rw_file_fail(f, "expected a member %s", names[i]);
  return 1;
}

int rw_file_integer_from(rw_file *f, uint32_t value, const char *name, double least, double most, double *read) {
  if (!rw_json_number(&f->json, value, read) || *read < least || *read > most || *read != (double)(int64_t)*read) {
    rw_file_enter(f, ".%s", name);
    return rw_file_fail(f, "expected an integer from %.0f to %.0f", least, most);
  }
  return 1;
}

int rw_file_integer(rw_file *f, uint32_t value, const char *name, double most, double *read) {
  return rw_file_integer_from(f, value, name, 0, most, read);
}

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static int is_digit(char c) { return c >= '0' && c <= '9'; }

int rw_file_is_name(const char *text, const char *others) {
  if (!is_letter(text[0])) return 0;
  for (; *text != '\0'; text++)
    if (!is_letter(*text) && !is_digit(*text) && strchr(others, *text) == NULL) return 0;
  return 1;
}

static int parameters(rw_file *f, uint32_t object, rw_tune_setting *setting) {
  const rw_json_value *whole = rw_file_value(f, object);
  if (whole->kind != RW_JSON_OBJECT) return rw_file_fail(f, "expected an object");
  for (uint32_t at = object + 1; at < whole->after; at = rw_file_value(f, at + 1)->after) {
    if (setting->parameters == RW_TUNE_PARAMETERS) return rw_file_fail(f, "expected at most %d", RW_TUNE_PARAMETERS);
    char *name = setting->names[setting->parameters];
    double value = 0;
    if (!rw_json_string(&f->json, at, name, RW_TUNE_PARAMETER) || !rw_file_is_name(name, "_") || name[0] < 'a')
      return rw_file_fail(f, "expected names of parameters in camel case");
    for (int i = 0; i < setting->parameters; i++)
      if (strcmp(name, setting->names[i]) == 0) return rw_file_fail(f, "member %s occurs twice", name);
    if (!rw_file_integer_from(f, at + 1, name, strcmp(name, "radix") == 0 ? 2 : 0, greatest, &value)) return 0;
    setting->values[setting->parameters++] = (int64_t)value;
  }
  return 1;
}

rw_tune_setting *rw_file_place(rw_file *f, int collective) {
  if (f->head.settings == f->setting_room) {
    int32_t room = f->setting_room == 0 ? 64 : 2 * f->setting_room;
    rw_tune_setting *more = realloc(f->settings, (size_t)room * sizeof *more);
    if (more == NULL) return NULL;
    f->settings = more;
    f->setting_room = room;
  }
  rw_tune_setting *setting = &f->settings[f->head.settings];
  memset(setting, 0, sizeof *setting);
  setting->collective = collective;
  return setting;
}

static int add_setting(rw_file *f, uint32_t object, int collective) {
  static const char *const names[] = {"collective", "algorithm", "parameters"};
  uint32_t values[3];
  if (!RW_FILE_MEMBERS(f, object, names, values)) return 0;
  rw_tune_setting *setting = rw_file_place(f, collective);
  if (setting == NULL) return rw_file_fail(f, "there is no memory for it");
  if (!rw_json_is(&f->json, values[0], rw_tune_collective_name(collective))) {
    rw_file_enter(f, ".collective");
    return rw_file_fail(f, "expected %s", rw_tune_collective_name(collective));
  }
  if (!rw_json_string(&f->json, values[1], setting->algorithm, RW_TUNE_NAME) || !rw_file_is_name(setting->algorithm, "-_")) {
    rw_file_enter(f, ".algorithm");
    return rw_file_fail(f, "expected a name of at most %d characters", RW_TUNE_NAME - 1);
  }
  size_t before = rw_file_enter(f, ".parameters");
  if (!parameters(f, values[2], setting)) return 0;
  rw_file_leave(f, before);
  f->head.settings++;
  return 1;
}

int rw_file_settings(rw_file *f, uint32_t list, int collective, int most) {
  const rw_json_value *whole = rw_file_value(f, list);
  rw_tree *tree = &f->head.trees[collective];
  tree->first_setting = f->head.settings;
  if (whole->kind != RW_JSON_LIST) return rw_file_fail(f, "expected a list");
  for (uint32_t at = list + 1; at < whole->after; at = rw_file_value(f, at)->after, tree->settings++) {
    if (tree->settings == most) return rw_file_fail(f, "expected a list of 1 to %d", most);
    size_t before = rw_file_enter(f, "[%d]", tree->settings);
    if (!add_setting(f, at, collective)) return 0;
    rw_file_leave(f, before);
  }
  return tree->settings > 0 || rw_file_fail(f, "expected a list of 1 to %d", most);
}

int32_t rw_file_test(rw_file *f, const rw_tree *tree, int attribute, double value, int32_t yes, int32_t no) {
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
