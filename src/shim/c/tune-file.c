/*
 * A tuning file, as src/tuning/models/tuning-file.ts defines it. Errors name the member. Only one process of a job
 * reads it.
 */
#include "tune-file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int decisions(rw_file *f, uint32_t object) {
  const rw_json_value *whole = rw_file_value(f, object);
  if (whole->kind != RW_JSON_OBJECT) return rw_file_fail(f, "expected an object");
  for (uint32_t at = object + 1; at < whole->after; at = rw_file_value(f, at + 1)->after) {
    char name[RW_TUNE_PARAMETER];
    int collective = rw_json_string(&f->json, at, name, sizeof name) ? rw_tune_collective(name) : -1;
    if (collective < 0) return rw_file_fail(f, "expected names of collectives");
    if (f->head.trees[collective].settings > 0) return rw_file_fail(f, "member %s occurs twice", name);
    size_t before = rw_file_enter(f, ".%s", name);
    int is_read = rw_file_is_grid(f, at + 1) ? rw_file_grid(f, at + 1, collective) : rw_file_tree(f, at + 1, collective);
    if (!is_read) return 0;
    rw_file_leave(f, before);
  }
  return 1;
}

static int source(rw_file *f, uint32_t object) {
  static const char *const names[] = {"kind", "name", "machine"};
  uint32_t values[3];
  char name[RW_TUNE_MACHINE], running[RW_TUNE_MACHINE];
  if (!RW_FILE_MEMBERS(f, object, names, values)) return 0;
  size_t before = rw_file_enter(f, ".kind");
  if (!rw_json_is(&f->json, values[0], "mpi")) return rw_file_fail(f, "expected mpi: other settings are not MPI's");
  rw_file_leave(f, before);
  rw_file_enter(f, ".name");
  if (!rw_json_string(&f->json, values[1], name, sizeof name)) return rw_file_fail(f, "expected a string");
  rw_tune_library_name(running, sizeof running);
  if (strcmp(name, running) != 0) return rw_file_fail(f, "the file is for %.80s, and this program uses %.80s", name, running);
  rw_file_leave(f, before);
  rw_file_enter(f, ".machine");
  char *machine = f->model.machine;
  if (!rw_json_string(&f->json, values[2], machine, sizeof f->model.machine) || machine[0] == '\0')
    return rw_file_fail(f, "expected a string");
  rw_file_leave(f, before);
  return 1;
}

/* Computes FNV-1a of the text before the last member, without space outside of strings. */
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

static int is_whole(rw_file *f, uint32_t value) {
  char own[RW_TUNE_CHECKSUM], *given = f->model.checksum;
  size_t before = rw_file_enter(f, "checksum");
  if (rw_file_value(f, value)->after != f->json.count) return rw_file_fail(f, "expected to be the last member");
  /* The name begins one character behind its quote. */
  size_t end = rw_file_value(f, value - 1)->from - 1;
  while (end > 0 && f->json.text[end] != ',') end--;
  snprintf(own, sizeof own, "%016" PRIx64, checksum(f->json.text, end));
  if (!rw_json_string(&f->json, value, given, RW_TUNE_CHECKSUM) || strcmp(own, given) != 0)
    return rw_file_fail(f, "expected %s: the file was damaged, or edited by hand", own);
  rw_file_leave(f, before);
  return 1;
}

static int whole(rw_file *f) {
  static const char *const names[] = {"format", "version", "source", "decisions", "checksum"};
  uint32_t values[5];
  double version;
  if (!RW_FILE_MEMBERS(f, 0, names, values)) return 0;
  if (!rw_json_is(&f->json, values[0], "rankweave-tuning")) return rw_file_fail(f, "format: expected rankweave-tuning");
  if (!rw_json_number(&f->json, values[1], &version) || version != 1) return rw_file_fail(f, "version: expected 1");
  if (!is_whole(f, values[4])) return 0;
  size_t before = rw_file_enter(f, "source");
  if (!source(f, values[2])) return 0;
  rw_file_leave(f, before);
  rw_file_enter(f, "decisions");
  if (!decisions(f, values[3])) return 0;
  rw_file_leave(f, before);
  return 1;
}

static rw_tuning *packed(const rw_file *f) {
  rw_tuning *tuning = malloc(rw_tuning_bytes(&f->head));
  if (tuning == NULL) return NULL;
  *tuning = f->head;
  if (f->head.tests > 0) memcpy(tuning + 1, f->tests, (size_t)f->head.tests * sizeof *f->tests);
  if (f->head.settings > 0)
    memcpy((rw_tune_test *)(tuning + 1) + f->head.tests, f->settings, (size_t)f->head.settings * sizeof *f->settings);
  return tuning;
}

void rw_tune_model_free(rw_tune_model *model) {
  for (int c = 0; c < RW_TUNE_COLLECTIVES; c++) {
    free(model->grids[c]);
    model->grids[c] = NULL;
  }
}

rw_tuning *rw_tune_read(const char *path, rw_tune_model *model, char *wrong, size_t room) {
  rw_file f = {.wrong = wrong, .room = room};
  size_t length, at;
  rw_tuning *tuning = NULL;
  const char *problem;
  char *text = rw_json_text(path, &length, &problem);
  if (text == NULL) return rw_file_fail(&f, "%s", problem), NULL;
  problem = rw_json_parse(&f.json, text, length, &at);
  if (problem != NULL) rw_file_fail(&f, "at byte %zu %s", at, problem);
  else if (whole(&f)) {
    tuning = packed(&f);
    if (tuning == NULL) rw_file_fail(&f, "there is no memory for it");
  }
  rw_json_free(&f.json);
  free(f.tests);
  free(f.settings);
  free(text);
  if (tuning != NULL && model != NULL) *model = f.model;
  else rw_tune_model_free(&f.model);
  return tuning;
}
