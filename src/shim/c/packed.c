/* Reads files in packed form: src/shim/packed-files.ts defines them. */
#include "shim.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION = 1 };
static const size_t longest = (size_t)1 << 26;

/* Opens a regular file; a pipe without a writer would block the open. Returns NULL, or why not. */
static const char *open_regular(const char *path, FILE **opened, size_t *length) {
  struct stat status;
  int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return "cannot be opened";
  const char *wrong = fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ? "is not a regular file" : NULL;
  if (wrong == NULL && (size_t)status.st_size > longest) wrong = "is longer than 67108864 bytes";
  *length = (size_t)status.st_size;
  *opened = wrong == NULL ? fdopen(file, "rb") : NULL;
  if (*opened == NULL) close(file);
  return *opened == NULL && wrong == NULL ? "cannot be opened" : wrong;
}

static uint64_t sum_of(const unsigned char *bytes, size_t count) {
  uint64_t sum = 14695981039346656037u;
  for (size_t i = 0; i < count; i++) sum = (sum ^ bytes[i]) * 1099511628211u;
  return sum;
}

static const char *check(const rw_packed *head, const char *kind, size_t least, size_t length) {
  if (length < sizeof *head || memcmp(head->kind, kind, sizeof head->kind) != 0) return "is of another kind";
  if (head->version != VERSION) return "is of another version: write it again";
  if (head->bytes != length || length < least) return "is cut off";
  const unsigned char *rest = (const unsigned char *)(head + 1);
  return head->sum == sum_of(rest, length - sizeof *head) ? NULL : "was damaged";
}

void rw_packed_refuse(const char *why, char *wrong, size_t room) {
  snprintf(wrong, room, "the file beside it that ends with .packed %s", why);
}

rw_packed *rw_packed_read(const char *path, const char *kind, size_t least, char *wrong, size_t room) {
  static const char ending[] = ".packed";
  char *name = malloc(strlen(path) + sizeof ending);
  FILE *opened = NULL;
  size_t length = 0;
  rw_packed *read = NULL;
  const char *why = name == NULL ? "is too long for the memory" : NULL;
  if (why == NULL) {
    strcat(strcpy(name, path), ending);
    why = open_regular(name, &opened, &length);
  }
  if (why == NULL) {
    read = malloc(length + 1);
    if (read == NULL) why = "is too long for the memory";
    else if (fread(read, 1, length, opened) != length) why = "cannot be read";
    else why = check(read, kind, least, length);
    fclose(opened);
  }
  if (why != NULL) rw_packed_refuse(why, wrong, room);
  free(name);
  if (why == NULL) return read;
  free(read);
  return NULL;
}
