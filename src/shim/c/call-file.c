/*
 * A file of calls while it is written: under another name, so that it appears whole or not at all, and two runs
 * never write one file. Its checksum is FNV-1a, as src/tuning/models/tuning-file.ts computes it.
 */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATH = 4096, ROOM = 1 << 16 };

struct rw_call_file {
  int descriptor, error; /* first error of the system */
  uint64_t sum;
  size_t used;
  struct sigaction before;
  char path[PATH], part[PATH + 8], room[ROOM];
};

/* Names a file by the time and eight digits that another run of this second does not have. */
static void name(char *path, const char *folder) {
  struct timespec now;
  struct tm parts;
  char text[32];
  clock_gettime(CLOCK_REALTIME, &now);
  gmtime_r(&now.tv_sec, &parts);
  strftime(text, sizeof text, "%Y-%m-%dT%H-%M-%S", &parts);
  uint64_t mixed = ((uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 32) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ mixed >> 29) * 0x94d049bb133111ebu;
  snprintf(path, PATH, "%s/run-%s-%03dZ-%08x.calls", folder, text, (int)(now.tv_nsec / 1000000), (unsigned)(mixed >> 32));
}

rw_call_file *rw_call_file_open(const char *folder) {
  rw_call_file *file = malloc(sizeof *file);
  if (file == NULL) return NULL;
  file->error = 0;
  file->sum = 14695981039346656037u;
  file->used = 0;
  name(file->path, folder);
  snprintf(file->part, sizeof file->part, "%s.part", file->path);
  /* A file that grows beyond a limit would end the process, so the signal is ignored. */
  struct sigaction ignoring = {.sa_handler = SIG_IGN};
  sigaction(SIGXFSZ, &ignoring, &file->before);
  file->descriptor = open(file->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file->descriptor >= 0) return file;
  int error = errno;
  sigaction(SIGXFSZ, &file->before, NULL);
  free(file);
  errno = error;
  return NULL;
}

static void flush(rw_call_file *file) {
  for (size_t at = 0; at < file->used && file->error == 0;) {
    ssize_t written = write(file->descriptor, file->room + at, file->used - at);
    if (written >= 0) at += (size_t)written;
    else if (errno != EINTR) file->error = errno;
  }
  file->used = 0;
}

void rw_call_file_put(rw_call_file *file, const void *bytes, size_t count) {
  const unsigned char *from = bytes;
  for (size_t i = 0; i < count; i++) {
    file->sum = (file->sum ^ from[i]) * 1099511628211u;
    file->room[file->used++] = (char)from[i];
    if (file->used == ROOM) flush(file);
  }
}

/* Flushes the folder, so that the name survives a crash of the machine. */
static void flush_folder(const char *path) {
  char folder[PATH];
  snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
  int descriptor = open(folder[0] == '\0' ? "/" : folder, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

int rw_call_file_close(rw_call_file *file, int is_whole) {
  char sum[17];
  snprintf(sum, sizeof sum, "%016" PRIx64, file->sum);
  rw_call_file_put(file, sum, 16);
  flush(file);
  if (file->error == 0 && fsync(file->descriptor) != 0 && errno != EINVAL) file->error = errno;
  if (close(file->descriptor) != 0 && file->error == 0) file->error = errno;
  if (is_whole && file->error == 0 && rename(file->part, file->path) != 0) file->error = errno;
  if (!is_whole || file->error != 0) unlink(file->part);
  else flush_folder(file->path);
  int error = file->error;
  sigaction(SIGXFSZ, &file->before, NULL);
  free(file);
  return error;
}
