/*
 * The knowledge of rank 0 before the first call: settings that the library may take, and what `rankweave learn`
 * learned of them. Settings of the model keep their numbers; those that it lacks follow.
 */
#include "shim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 4096, MOST_SETTINGS = 4095 };

/* The settings of all collectives so far. */
typedef struct {
  rw_tuning head;
  rw_tune_setting *items;
  int room;
} table;

/*
 * An algorithm of Open MPI with the values at which it is tried: lengths of segments, or values of a parameter. -1:
 * without.
 */
typedef struct {
  int collective;
  const char *algorithm, *parameter;
  int64_t values[4];
  int count, is_cut; /* is_cut: by segments too */
} variants;

static const int64_t segments[] = {0, 1 << 10, 1 << 16, 1 << 20};
static const variants tried[] = {
    {RW_TUNE_ALLREDUCE, "segmented_ring", "segment", {1 << 10, 1 << 16, 1 << 20}, 3, 0},
    {RW_TUNE_BCAST, "chain", "fanout", {4}, 1, 1},
    {RW_TUNE_BCAST, "pipeline", NULL, {-1}, 1, 1},
    {RW_TUNE_BCAST, "split_binary_tree", NULL, {-1}, 1, 1},
    {RW_TUNE_BCAST, "binary_tree", NULL, {-1}, 1, 1},
    {RW_TUNE_BCAST, "binomial", "segment", {0, 1 << 16}, 2, 0},
    {RW_TUNE_BCAST, "knomial", "radix", {4, 8}, 2, 0},
    {RW_TUNE_ALLTOALL, "linear_sync", "requests", {2, 8}, 2, 0},
};

static int add(table *t, const rw_tune_setting *setting) {
  rw_tree *tree = &t->head.trees[setting->collective];
  for (int i = 0; i < tree->settings; i++)
    if (rw_tune_is_same(&t->items[tree->first_setting + i], setting)) return 1;
  if (tree->settings == MOST_SETTINGS) return 1;
  if (t->head.settings == t->room) {
    int room = t->room == 0 ? 64 : 2 * t->room;
    rw_tune_setting *more = realloc(t->items, (size_t)room * sizeof *more);
    if (more == NULL) return 0;
    t->items = more;
    t->room = room;
  }
  t->items[t->head.settings++] = *setting;
  tree->settings++;
  return 1;
}

static void set(rw_tune_setting *setting, const char *name, int64_t value) {
  int i = setting->parameters++;
  snprintf(setting->names[i], RW_TUNE_PARAMETER, "%s", name);
  setting->values[i] = value;
}

/* Adds a variant; a segment of 0 bytes means no segment. */
static int add_variant(table *t, const rw_tune_setting *plain, const variants *v, int64_t value, int64_t segment) {
  rw_tune_setting setting = *plain;
  int is_segment = v->parameter != NULL && strcmp(v->parameter, "segment") == 0;
  if (v->parameter != NULL && !(is_segment && value == 0)) set(&setting, v->parameter, value);
  if (segment > 0) set(&setting, "segment", segment);
  /* MPICH's algorithms have no parameters. */
  return !rw_tune_library_has(&setting) || add(t, &setting);
}

static int add_algorithm(table *t, int collective, const char *algorithm) {
  rw_tune_setting plain = {.collective = collective};
  int is_added = 1;
  snprintf(plain.algorithm, RW_TUNE_NAME, "%s", algorithm);
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    const variants *v = &tried[i];
    if (v->collective != collective || strcmp(v->algorithm, algorithm) != 0) continue;
    for (int value = 0; value < v->count; value++)
      for (int s = 0; s < (v->is_cut ? 4 : 1); s++) is_added &= add_variant(t, &plain, v, v->values[value], segments[s]);
    return is_added;
  }
  return add(t, &plain);
}

/* Fills the table; 0: no memory. */
static int fill(table *t, const rw_tuning *read, const rw_tune_model *model) {
  char algorithm[RW_TUNE_NAME];
  for (int place = 0; place < RW_ONLINE_FUNCTIONS; place++) {
    int collective = rw_online_function(place);
    const rw_grid *grid = model->grids[collective];
    t->head.trees[collective].first_setting = t->head.settings;
    for (int i = 0; grid != NULL && i < grid->settings; i++)
      if (!add(t, rw_tuning_settings(read) + read->trees[collective].first_setting + i)) return 0;
    if (!add_algorithm(t, collective, "default")) return 0;
    for (int i = 0; rw_tune_library_algorithm(collective, i, algorithm, sizeof algorithm); i++)
      if (!add_algorithm(t, collective, algorithm)) return 0;
  }
  return 1;
}

static rw_tuning *packed(const table *t) {
  rw_tuning *tuning = malloc(rw_tuning_bytes(&t->head));
  if (tuning == NULL) return NULL;
  *tuning = t->head;
  memcpy((rw_tune_setting *)rw_tuning_settings(tuning), t->items, (size_t)t->head.settings * sizeof *t->items);
  return tuning;
}

/* Makes a folder with those above it. Returns 0, or an error of the system. */
static int make_folder(const char *folder) {
  char path[PATH];
  struct stat status;
  if ((size_t)snprintf(path, sizeof path, "%s", folder) >= sizeof path) return ENAMETOOLONG;
  for (char *at = path + 1; *at != '\0'; at++) {
    if (*at != '/') continue;
    *at = '\0';
    mkdir(path, 0777);
    *at = '/';
  }
  if (mkdir(path, 0777) != 0 && errno != EEXIST) return errno;
  if (stat(path, &status) != 0) return errno;
  if (!S_ISDIR(status.st_mode)) return ENOTDIR;
  return access(path, W_OK | X_OK) == 0 ? 0 : errno;
}

void rw_online_machine(char *name, size_t room) {
  char line[256], model[160] = "unknown processor";
  FILE *opened = fopen("/proc/cpuinfo", "r");
  while (opened != NULL && fgets(line, sizeof line, opened) != NULL) {
    char *value = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || value == NULL) continue;
    value += 1 + strspn(value + 1, " \t");
    size_t length = strcspn(value, "\n");
    while (length > 0 && value[length - 1] == ' ') length--;
    if (length > 0) snprintf(model, sizeof model, "%.*s", (int)length, value);
    break;
  }
  if (opened != NULL) fclose(opened);
  snprintf(name, room, "%ld x %s", sysconf(_SC_NPROCESSORS_ONLN), model);
  for (char *at = name; *at != '\0'; at++)
    if (*at < ' ' || *at > '~') *at = '?';
}

/* Reads the model of the folder; 1: it is valid, or there is none. */
static int read_model(const char *folder, int mode, rw_tuning **read, rw_tune_model *model, char *wrong, size_t room) {
  char path[PATH], why[512] = "", machine[RW_TUNE_MACHINE];
  if ((size_t)snprintf(path, sizeof path, "%s/model.json", folder) >= sizeof path) return 1;
  if (access(path, F_OK) != 0 && errno == ENOENT) return 1;
  *read = rw_tune_read(path, model, why, sizeof why);
  rw_online_machine(machine, sizeof machine);
  if (*read != NULL && strcmp(model->machine, machine) != 0)
    snprintf(why, sizeof why, "source.machine: the model is of %.120s, and this run is on %.120s: use another folder",
             model->machine, machine);
  for (int c = 0; why[0] == '\0' && mode == RW_ONLINE_TUNING && c < RW_TUNE_COLLECTIVES; c++) {
    const rw_grid *grid = model->grids[c];
    if (grid != NULL && grid->is_trained && !grid->has_performances)
      snprintf(why, sizeof why, "decisions.%s has no performances, by which runs explore: mode=tuned, or learn without --best-only",
               rw_tune_collective_name(c));
  }
  if (why[0] == '\0') return 1;
  snprintf(wrong, room, "model.json: %s", why);
  return 0;
}

rw_tuning *rw_online_prepare(const char *folder, int mode, rw_tune_model *model, char *wrong, size_t room) {
  rw_tuning *read = NULL, *tuning = NULL;
  table t = {.items = NULL};
  int error = make_folder(folder);
  *model = (rw_tune_model){.checksum = ""};
  rw_online_resolve();
  if (error != 0) snprintf(wrong, room, "files cannot be written there: %s", strerror(error));
  else if (read_model(folder, mode, &read, model, wrong, room)) {
    tuning = fill(&t, read, model) ? packed(&t) : NULL;
    if (tuning == NULL) snprintf(wrong, room, "there is no memory for it");
  }
  free(t.items);
  free(read);
  if (tuning == NULL) rw_tune_model_free(model);
  return tuning;
}
