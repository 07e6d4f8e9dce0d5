/*
 * The common declarations of the readers of a tuning file. Functions return 0 with the error, and the member, in
 * the file's text.
 */
#ifndef RANKWEAVE_TUNE_FILE_H
#define RANKWEAVE_TUNE_FILE_H

#include "shim.h"

/* The state of reading. */
typedef struct {
  rw_json json;
  char path[RW_JSON_PATH]; /* the member that is read */
  char *wrong;
  size_t room;
  rw_tuning head;
  rw_tune_test *tests;
  rw_tune_setting *settings;
  rw_tune_model model;
  int32_t test_room, setting_room, nodes;
} rw_file;

__attribute__((format(printf, 2, 3))) int rw_file_fail(rw_file *f, const char *format, ...);
/* Enters a member; returns the length of the path before, for `rw_file_leave`. */
__attribute__((format(printf, 2, 3))) size_t rw_file_enter(rw_file *f, const char *format, ...);
void rw_file_leave(rw_file *f, size_t before);
const rw_json_value *rw_file_value(const rw_file *f, uint32_t value);
/*
 * Finds the values of the members with these names and no others. Those behind the required ones may be missing:
 * UINT32_MAX.
 */
int rw_file_members(rw_file *f, uint32_t object, int count, int required, const char *const *names, uint32_t *values);
#define RW_FILE_MEMBERS(f, object, names, values) \
  rw_file_members(f, object, sizeof names / sizeof *names, sizeof names / sizeof *names, names, values)
int rw_file_integer_from(rw_file *f, uint32_t value, const char *name, double least, double most, double *read);
int rw_file_integer(rw_file *f, uint32_t value, const char *name, double most, double *read);
/* Returns whether a text consists of letters, digits and `others`, a letter first. */
int rw_file_is_name(const char *text, const char *others);
int rw_file_settings(rw_file *f, uint32_t list, int collective, int most);
/* Returns the place of the next setting, which is counted when it is read. NULL: no memory. */
rw_tune_setting *rw_file_place(rw_file *f, int collective);
/* Returns a test's place among those of its tree; -1: no memory. */
int32_t rw_file_test(rw_file *f, const rw_tree *tree, int attribute, double value, int32_t yes, int32_t no);
int rw_file_tree(rw_file *f, uint32_t object, int collective);
int rw_file_is_grid(const rw_file *f, uint32_t object);
int rw_file_grid(rw_file *f, uint32_t object, int collective);

#endif
