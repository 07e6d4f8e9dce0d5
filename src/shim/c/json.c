/* This file reads strict JSON (RFC 8259) of bounded length and depth. Its users compare the names of members. */
#include "shim.h"

#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
  rw_json *json;
  size_t at;
} reader;

static const char *const NO_MEMORY = "there is no memory for it", *const CUT_OFF = "it is cut off";

char *rw_json_text(const char *path, size_t *length, const char **wrong) {
  struct stat status;
  /* A pipe without a writer would block the open. */
  int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  int is_regular = file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  FILE *opened = is_regular ? fdopen(file, "rb") : NULL;
  *wrong = file >= 0 && !is_regular ? "it is not a regular file" : "it cannot be opened";
  if (opened == NULL) {
    if (file >= 0) close(file);
    return NULL;
  }
  char *text = malloc(RW_JSON_LONGEST + 1);
  *length = text == NULL ? 0 : fread(text, 1, RW_JSON_LONGEST + 1, opened);
  int is_read = !ferror(opened);
  fclose(opened);
  if (text != NULL && is_read && *length <= RW_JSON_LONGEST) return text;
  *wrong = text == NULL ? NO_MEMORY : is_read ? "it is longer than 16777216 bytes" : "it cannot be read";
  free(text);
  return NULL;
}

static int is_end(const reader *r) { return r->at >= r->json->length; }
static char here(const reader *r) { return is_end(r) ? '\0' : r->json->text[r->at]; }

static void skip_space(reader *r) {
  while (!is_end(r) && memchr(" \t\n\r", here(r), 4) != NULL) r->at++;
}

/* Adds a value and returns its number; 0 is the first one, UINT32_MAX means no memory. */
static uint32_t add(reader *r, rw_json_kind kind) {
  rw_json *json = r->json;
  if (json->count == json->room) {
    uint32_t room = json->room == 0 ? 1024 : 2 * json->room;
    rw_json_value *values = realloc(json->values, room * sizeof *values);
    if (values == NULL) return UINT32_MAX;
    json->values = values;
    json->room = room;
  }
  json->values[json->count] = (rw_json_value){(uint32_t)r->at, 0, 0, kind};
  return json->count++;
}

static const char *hexadecimal(reader *r) {
  for (int i = 0; i < 4; i++, r->at++) {
    if (is_end(r)) return CUT_OFF;
    if (strchr("0123456789abcdefABCDEF", here(r)) == NULL || here(r) == '\0') return "an escape is wrong";
  }
  return NULL;
}

static const char *string(reader *r) {
  r->at++;
  uint32_t value = add(r, RW_JSON_STRING);
  if (value == UINT32_MAX) return NO_MEMORY;
  for (; !is_end(r) && here(r) != '"'; ) {
    if ((unsigned char)here(r) < 0x20) return "a string has a control character";
    if (here(r) != '\\') {
      r->at++;
      continue;
    }
    r->at++;
    if (is_end(r)) return CUT_OFF;
    if (here(r) == 'u') {
      r->at++;
      const char *wrong = hexadecimal(r);
      if (wrong != NULL) return wrong;
    } else if (here(r) == '\0' || strchr("\"\\/bfnrt", here(r)) == NULL) return "an escape is wrong";
    else r->at++;
  }
  if (is_end(r)) return CUT_OFF;
  r->json->values[value].to = (uint32_t)r->at++;
  r->json->values[value].after = r->json->count;
  return NULL;
}

static int digits(reader *r) {
  size_t from = r->at;
  while (here(r) >= '0' && here(r) <= '9') r->at++;
  return r->at > from;
}

static const char *number(reader *r) {
  uint32_t value = add(r, RW_JSON_NUMBER);
  if (value == UINT32_MAX) return NO_MEMORY;
  if (here(r) == '-') r->at++;
  int is_zero = here(r) == '0';
  size_t from = r->at;
  int is_right = digits(r) && !(is_zero && r->at - from > 1);
  if (is_right && here(r) == '.') r->at++, is_right = digits(r);
  if (is_right && (here(r) == 'e' || here(r) == 'E')) {
    r->at++;
    if (here(r) == '+' || here(r) == '-') r->at++;
    is_right = digits(r);
  }
  r->json->values[value].to = (uint32_t)r->at;
  r->json->values[value].after = r->json->count;
  return is_right ? NULL : is_end(r) ? CUT_OFF : "a value is wrong";
}

static const char *word(reader *r) {
  static const char *const words[] = {"true", "false", "null"};
  for (int i = 0; i < 3; i++) {
    size_t length = strlen(words[i]);
    if (r->json->length - r->at < length || memcmp(r->json->text + r->at, words[i], length) != 0) continue;
    uint32_t value = add(r, RW_JSON_OTHER);
    if (value == UINT32_MAX) return NO_MEMORY;
    r->at += length;
    r->json->values[value].to = (uint32_t)r->at;
    r->json->values[value].after = r->json->count;
    return NULL;
  }
  return is_end(r) ? CUT_OFF : "a value is wrong";
}

static const char *any(reader *r, int depth);

static const char *member(reader *r) {
  if (here(r) != '"') return is_end(r) ? CUT_OFF : "a name is missing";
  const char *wrong = string(r);
  if (wrong != NULL) return wrong;
  skip_space(r);
  if (here(r) != ':') return is_end(r) ? CUT_OFF : "a colon is missing";
  r->at++;
  return NULL;
}

static const char *inside(reader *r, rw_json_kind kind, int depth) {
  char end = kind == RW_JSON_OBJECT ? '}' : ']';
  if (depth == RW_JSON_DEEPEST) return "it nests too deep";
  uint32_t value = add(r, kind);
  if (value == UINT32_MAX) return NO_MEMORY;
  r->at++;
  skip_space(r);
  if (here(r) != end) {
    for (;; r->at++) {
      skip_space(r);
      const char *wrong = kind == RW_JSON_OBJECT ? member(r) : NULL;
      if (wrong == NULL) wrong = any(r, depth + 1);
      if (wrong != NULL) return wrong;
      skip_space(r);
      if (here(r) == end) break;
      if (here(r) != ',') return is_end(r) ? CUT_OFF : "a comma is missing";
    }
  }
  r->at++;
  r->json->values[value].to = (uint32_t)r->at;
  r->json->values[value].after = r->json->count;
  return NULL;
}

static const char *any(reader *r, int depth) {
  skip_space(r);
  char first = here(r);
  if (first == '{') return inside(r, RW_JSON_OBJECT, depth);
  if (first == '[') return inside(r, RW_JSON_LIST, depth);
  if (first == '"') return string(r);
  if (first == '-' || (first >= '0' && first <= '9')) return number(r);
  return word(r);
}

const char *rw_json_parse(rw_json *json, const char *text, size_t length, size_t *at) {
  reader r = {json, 0};
  *json = (rw_json){.text = text, .length = length};
  const char *wrong = any(&r, 0);
  if (wrong == NULL) {
    skip_space(&r);
    if (!is_end(&r)) wrong = "more text follows its value";
  }
  *at = r.at;
  return wrong;
}

void rw_json_free(rw_json *json) { free(json->values); }

static unsigned code_unit(const char *at) {
  unsigned unit = 0;
  for (int i = 0; i < 4; i++) {
    char c = at[i];
    unit = 16 * unit + (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return unit;
}

/* Writes a character in UTF-8. */
static size_t put(unsigned point, char out[4]) {
  if (point < 0x80) return out[0] = (char)point, 1;
  size_t more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  for (size_t i = more; i > 0; i--, point >>= 6) out[i] = (char)(0x80 | (point & 0x3f));
  out[0] = (char)((0xff00 >> (more + 1) & 0xff) | point);
  return more + 1;
}

int rw_json_string(const rw_json *json, uint32_t value, char *text, size_t room) {
  const rw_json_value *v = &json->values[value];
  size_t used = 0;
  if (v->kind != RW_JSON_STRING) return 0;
  for (const char *at = json->text + v->from, *end = json->text + v->to; at < end;) {
    char out[4] = {*at};
    size_t count = 1;
    if (*at++ == '\\') {
      static const char names[] = "bfnrt", meant[] = "\b\f\n\r\t";
      const char *name = strchr(names, *at);
      out[0] = name == NULL ? *at : meant[name - names];
      if (*at++ == 'u') {
        unsigned point = code_unit(at);
        at += 4;
        if (point >= 0xd800 && point < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
          point = 0x10000 + ((point - 0xd800) << 10) + (code_unit(at + 2) - 0xdc00);
          at += 6;
        }
        if (point == 0 || point > 0x10ffff) return 0;
        count = put(point, out);
      }
    }
    if (used + count >= room) return 0;
    memcpy(text + used, out, count);
    used += count;
  }
  text[used] = '\0';
  return 1;
}

int rw_json_is(const rw_json *json, uint32_t value, const char *text) {
  char own[RW_JSON_PATH];
  return rw_json_string(json, value, own, sizeof own) && strcmp(own, text) == 0;
}

/* The number is read in the same way whatever the program's locale is. */
int rw_json_number(const rw_json *json, uint32_t value, double *read) {
  const rw_json_value *v = &json->values[value];
  char text[64];
  size_t length = v->to - v->from;
  if (v->kind != RW_JSON_NUMBER || length >= sizeof text) return 0;
  memcpy(text, json->text + v->from, length);
  text[length] = '\0';
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (plain == (locale_t)0) return 0;
  *read = strtod_l(text, NULL, plain);
  freelocale(plain);
  return 1;
}
