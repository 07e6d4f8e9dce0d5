/* The settings that a user makes by environment variables. */
#include "shim.h"

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rw_settings own, world;
static int is_shared;
static pthread_once_t once = PTHREAD_ONCE_INIT, paths_once = PTHREAD_ONCE_INIT;
static int wants_report;
static const char *record_path, *tune_path, *reorder_path, *matching_path;

/* The complaints: as many lines as there is room for. */
static char complaints[2048];
static size_t complained;

void rw_complain(const char *format, ...) {
  va_list values;
  size_t room = sizeof complaints - complained;
  va_start(values, format);
  int length = vsnprintf(complaints + complained, room, format, values);
  va_end(values);
  if (length >= 0 && (size_t)length < room) complained += (size_t)length;
  else complaints[complained] = '\0';
}

static double figure(const char *name, double otherwise) {
  const char *text = getenv(name);
  char *end;
  if (text == NULL || *text == '\0') return otherwise;
  double value = strtod(text, &end);
  if (*end == '\0' && value >= 0 && value <= 1e9) return value;
  rw_complain("rankweave shim: %s=%.80s: expected a number from 0 to 1e9; using %g\n", name, text, otherwise);
  return otherwise;
}

/* Reads a word of RANKWEAVE_SHIM. */
static void read_mode(char *word) {
  if (strcmp(word, "off") == 0) own.enabled = 0;
  else if (strcmp(word, "always") == 0) own.always = 1;
  else if (strcmp(word, "report") == 0) wants_report = 1;
  else if (strcmp(word, "repair") == 0) own.repairs = 1;
  else if (strcmp(word, "reproducible") == 0) own.reproduces = 1;
  else if (strncmp(word, "record:", 7) == 0 && word[7] != '\0') record_path = word + 7, own.records = 1;
  else if (strncmp(word, "tune:", 5) == 0 && word[5] != '\0') tune_path = word + 5, own.tunes = 1;
  else if (strncmp(word, "reorder:", 8) == 0 && word[8] != '\0') reorder_path = word + 8, own.reorders = RW_REORDER_BY_FILE;
  else if (strncmp(word, "matching:", 9) == 0 && word[9] != '\0') matching_path = word + 9, own.matches = 1;
  else if (rw_online_word(word)) own.tunes = own.tunes || strchr(word, ':') != NULL;
  else if (strcmp(word, "reorder") == 0 && own.reorders < 1) own.reorders = RW_REORDER_BY_GRAPH;
  else if (strcmp(word, "on") != 0)
    rw_complain("rankweave shim: RANKWEAVE_SHIM: expected on, off, always, report, repair, reproducible, record:FILE, tune:FILE, online:FOLDER, "
                "mode=tuning, mode=tuned, calls=N, measured=N, seed=N, reorder, reorder:FILE or matching:FOLDER, got %.80s\n",
                word);
}

static void read_all(void) {
  static char modes[4096];
  const char *text = getenv("RANKWEAVE_SHIM");
  own.enabled = 1;
  if (text != NULL) {
    snprintf(modes, sizeof modes, "%s", text);
    char *rest;
    for (char *word = strtok_r(modes, ",;", &rest); word != NULL; word = strtok_r(NULL, ",;", &rest)) read_mode(word);
  }
  rw_online_end_of_words();
  /* Recorded calls are those that MPI performs for the program. */
  if (own.matches && !own.records && !own.tunes && !own.reorders && !own.always) own.enabled = 0;
  own.matching_operations = figure("RANKWEAVE_SHIM_MATCHING_OPERATIONS", 1e6);
  own.matching_sample_ms = figure("RANKWEAVE_SHIM_MATCHING_SAMPLE_MS", 10);
  own.matching_skew = figure("RANKWEAVE_SHIM_MATCHING_SKEW_US", 0);
  own.block_limit = figure("RANKWEAVE_SHIM_BLOCK_LIMIT", 1024);
  own.latency = figure("RANKWEAVE_SHIM_LATENCY_US", 1.0);
  own.overhead = figure("RANKWEAVE_SHIM_OVERHEAD_US", 0.5);
  own.gap = figure("RANKWEAVE_SHIM_GAP_US_PER_BYTE", 0.0005);
  own.patience = figure("RANKWEAVE_SHIM_PATIENCE", 16);
  own.cores = figure("RANKWEAVE_SHIM_CORES", 0);
  own.region = figure("RANKWEAVE_SHIM_REGION", 1 << 20);
  own.lends = figure("RANKWEAVE_SHIM_LENDS", 1);
  own.tune_after = figure("RANKWEAVE_SHIM_TUNE_AFTER", 8);
  own.tune_per_communicator = figure("RANKWEAVE_SHIM_TUNE_PER_COMMUNICATOR", 8);
  own.tune_per_process = figure("RANKWEAVE_SHIM_TUNE_PER_PROCESS", 64);
}

const rw_settings *rw_own_settings(void) {
  pthread_once(&once, read_all);
  return &own;
}

void rw_settings_share(void) {
  static int is_done;
  if (is_done) return;
  is_done = 1;
  world = *rw_own_settings();
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double least[] = {world.enabled, world.always, world.records, -world.tunes, world.reorders, world.cores, world.matches,
                    world.repairs, world.reproduces, complained > 0 ? rank : INT_MAX};
  enum { SHARED = sizeof least / sizeof *least, COMPLAINER = SHARED - 1 };
  if (PMPI_Allreduce(MPI_IN_PLACE, least, SHARED, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD) != MPI_SUCCESS) return;
  if (least[COMPLAINER] == rank) fputs(complaints, stderr);
  world.enabled = least[0];
  world.always = least[1];
  world.records = least[2];
  world.tunes = -least[3];
  world.reorders = least[4];
  world.cores = least[5];
  world.matches = least[6];
  world.repairs = least[7];
  world.reproduces = least[8];
  is_shared = 1;
}

const rw_settings *rw_world_settings(void) { return is_shared ? &world : NULL; }

int rw_wants_report(void) {
  rw_own_settings();
  return wants_report;
}

const char *rw_record_path(void) {
  rw_own_settings();
  return record_path;
}

const char *rw_tune_path(void) {
  rw_own_settings();
  return tune_path;
}

const char *rw_reorder_path(void) {
  rw_own_settings();
  return reorder_path;
}

const char *rw_matching_path(void) {
  rw_own_settings();
  return matching_path;
}

static char *plan_path[RW_FILES];

static void cut_plan_paths(void) {
  static char paths[8192];
  const char *text = getenv("RANKWEAVE_SHIM_PLAN");
  snprintf(paths, sizeof paths, "%s", text == NULL ? "" : text);
  char *rest, *next = strtok_r(paths, ":", &rest);
  for (int i = 0; i < RW_FILES; i++, next = next == NULL ? NULL : strtok_r(NULL, ":", &rest)) plan_path[i] = next;
}

const char *rw_plan_path(int file) {
  pthread_once(&paths_once, cut_plan_paths);
  return plan_path[file];
}

const char *rw_strategy(void) {
  const char *text = getenv("RANKWEAVE_SHIM_STRATEGY");
  return text == NULL || *text == '\0' ? NULL : text;
}

int rw_agree(MPI_Comm comm, rw_settings *settings, double *is_ready, double names[RW_FILES]) {
  enum { SETTINGS = sizeof *settings / sizeof(double) };
  double least[SETTINGS + 1 + 2 * RW_FILES], *name = least + SETTINGS + 1;
  memcpy(least, settings, sizeof *settings);
  least[SETTINGS] = *is_ready;
  for (int i = 0; i < RW_FILES; i++) {
    name[2 * i] = names[i];
    name[2 * i + 1] = -names[i];
  }
  int code = PMPI_Allreduce(MPI_IN_PLACE, least, SETTINGS + 1 + 2 * RW_FILES, MPI_DOUBLE, MPI_MIN, comm);
  if (code != MPI_SUCCESS) return code;
  memcpy(settings, least, sizeof *settings);
  *is_ready = least[SETTINGS];
  for (int i = 0; i < RW_FILES; i++) names[i] = name[2 * i] == -name[2 * i + 1] ? name[2 * i] : 0;
  return MPI_SUCCESS;
}

int rw_agree_on_memory(MPI_Comm comm, int has_memory) {
  int code = PMPI_Allreduce(MPI_IN_PLACE, &has_memory, 1, MPI_INT, MPI_MIN, comm);
  return code == MPI_SUCCESS && !has_memory ? MPI_ERR_NO_MEM : code;
}
