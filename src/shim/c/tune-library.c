/*
 * Sets control variables of the MPI library by a setting. Open MPI's component `tuned` reads its variables when a
 * communicator is made, except for the radix of trees; MPICH reads them in every call.
 */
#include "shim.h"
#include "variables.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The kinds of variables of a function, by the words of a setting. */
enum { ALGORITHM, SEGMENT, CHAIN, TREE, REQUESTS, RADIX, DEVICE, KINDS };
/* The most bytes of a block that are cut: their counts are integers. */
enum { MOST_CUT = 1 << 30 };
/* The greatest radix: Open MPI multiplies it by ranks, as an int. */
enum { GREATEST_RADIX = 1024 };

typedef struct {
  rw_variable of;
  int before;
} variable;

static const char *const functions[RW_TUNE_FUNCTIONS] = {
    "barrier", "bcast", "scatter", "gather", "allgather", "reduce", "allreduce", "reduce_scatter", "alltoall",
    "scan", "exscan", "reduce_scatter_block",
};
static variable variables[RW_TUNE_FUNCTIONS][KINDS];
/*
 * The numbers of every setting: of its algorithm for its collective, and of reduce-scatter for equal blocks; -1:
 * none.
 */
static int (*numbers)[2];
static const rw_tune_setting *settings;
static int setting_count, is_threaded;

void rw_tune_library_name(char *name, size_t room) {
  static char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  const char *from = PMPI_Get_library_version(version, &length) == MPI_SUCCESS ? version : "";
  const char *number = strpbrk(from, "0123456789");
  int digits = number == NULL ? 0 : (int)strcspn(number, ", \t\n");
  snprintf(name, room, "%s %.*s", RW_IS_OPEN_MPI ? "Open MPI" : "MPICH", digits, number == NULL ? "" : number);
}

static void find_function(int function) {
  static const char *const parts[] = {"", "_segmentsize", "_chain_fanout", "_tree_fanout", "_max_requests", "_knomial_radix"};
  char name[2 * RW_VARIABLE_NAME];
  variable *own = variables[function];
  if (RW_IS_OPEN_MPI) {
    for (int kind = ALGORITHM; kind <= RADIX; kind++) {
      snprintf(name, sizeof name, "coll_tuned_%s_algorithm%s", functions[function], parts[kind]);
      rw_variable_find(&own[kind].of, name);
    }
    return;
  }
  char upper[RW_VARIABLE_NAME] = "";
  for (size_t i = 0; functions[function][i] != '\0'; i++) upper[i] = (char)toupper(functions[function][i]);
  snprintf(name, sizeof name, "MPIR_CVAR_%s_INTRA_ALGORITHM", upper);
  rw_variable_find(&own[ALGORITHM].of, name);
  snprintf(name, sizeof name, "MPIR_CVAR_%s_DEVICE_COLLECTIVE", upper);
  rw_variable_find(&own[DEVICE].of, name);
}

/* A file of rules has precedence over variables. */
static int has_rules_file(void) {
  static char path[1 << 14];
  return rw_variable_text("coll_tuned_dynamic_rules_filename", path, sizeof path) > 0 && path[0] != '\0';
}

/* The program does not change this variable: it can be set before MPI_Init only. */
static int is_dynamic(void) {
  rw_variable rules;
  int is_set = 0;
  rw_variable_find(&rules, RW_DYNAMIC_RULES);
  if (!rules.is_there || !rw_variable_read(&rules, &is_set)) is_set = 0;
  rw_variable_release(&rules);
  return is_set != 0;
}

/*
 * Returns a variable of the environment that names a file of rules or an algorithm, and has an effect only where
 * rules are dynamic; NULL: there is none.
 */
static const char *waiting_variable(void) {
  static const char tuned[] = "OMPI_MCA_coll_tuned_", file[] = "dynamic_rules_filename=";
  for (char **at = environ; at != NULL && *at != NULL; at++) {
    const char *name = *at + sizeof tuned - 1, *value = strchr(*at, '=');
    if (strncmp(*at, tuned, sizeof tuned - 1) != 0 || value == NULL || value[1] == '\0') continue;
    const char *algorithm = strstr(name, "_algorithm");
    if (strncmp(name, file, sizeof file - 1) == 0 || (algorithm != NULL && algorithm < value)) return *at;
  }
  return NULL;
}

static const char dynamic_rules[] = "OMPI_MCA_" RW_DYNAMIC_RULES;
static int is_set_here;

/*
 * Where rules become dynamic, variables take effect that did not before. Processes that name no tuning file would
 * choose other algorithms for the same calls, and wait forever.
 */
void rw_tune_library_before(void) {
  if (!RW_IS_OPEN_MPI || (rw_tune_path() == NULL && rw_online_folder() == NULL) || rw_own_settings()->enabled < 1) return;
  if (waiting_variable() == NULL && getenv(dynamic_rules) == NULL) is_set_here = setenv(dynamic_rules, "1", 0) == 0;
}

/* Open MPI has read the variable. Processes that the program starts must not get it. */
void rw_tune_library_after(void) {
  if (is_set_here) unsetenv(dynamic_rules);
  is_set_here = 0;
}

static const char *why_not_dynamic(void) {
  static char why[256];
  const char *waiting = waiting_variable();
  if (waiting == NULL)
    return RW_DYNAMIC_RULES " of Open MPI is not 1 on all processes: name the file or folder in RANKWEAVE_SHIM of all";
  snprintf(why, sizeof why, "%.*s is set: unset it, or set OMPI_MCA_" RW_DYNAMIC_RULES " to 1 on all processes",
           (int)strcspn(waiting, "="), waiting);
  return why;
}

static const char *begin(int threads) {
  is_threaded = threads;
  if (!RW_IS_OPEN_MPI && threads) return "MPICH takes a setting in every call, so calls of several threads would mix them";
  if (!rw_variables_begin()) return "the library has no control variables";
  for (int function = 0; function < RW_TUNE_FUNCTIONS; function++) find_function(function);
  if (!RW_IS_OPEN_MPI) return NULL;
  if (has_rules_file()) return "coll_tuned_dynamic_rules_filename names a file of rules, which has precedence";
  return is_dynamic() ? NULL : why_not_dynamic();
}

const char *rw_tune_library_begin(int threads) {
  static int is_begun;
  static const char *wrong;
  if (!is_begun) wrong = begin(threads);
  is_begun = 1;
  return wrong;
}

/* Returns the number of a named value; -1: there is none of this name. */
static int number_of(const variable *v, const char *wanted) {
  static rw_variable_value values[RW_VARIABLE_VALUES];
  int count = rw_variable_values(&v->of, values);
  for (int i = 0; i < count; i++)
    if (strcmp(values[i].name, wanted) == 0) return values[i].number;
  return -1;
}

int rw_tune_library_algorithm(int collective, int i, char *name, size_t room) {
  static rw_variable_value values[RW_VARIABLE_VALUES];
  int count = rw_variable_values(&variables[collective][ALGORITHM].of, values), seen = 0;
  for (int at = 0; at < count; at++) {
    if (values[at].number == 0 || values[at].name[0] == '\0' || seen++ < i) continue;
    return snprintf(name, room, "%s", values[at].name) > 0;
  }
  return 0;
}

static int64_t parameter(const rw_tune_setting *setting, const char *name, int64_t otherwise) {
  for (int i = 0; i < setting->parameters; i++)
    if (strcmp(setting->names[i], name) == 0) return setting->values[i];
  return otherwise;
}

/* Returns whether the function has the variables that the parameters name. */
static int has_parameters(const rw_tune_setting *setting, const variable *own) {
  for (int i = 0; i < setting->parameters; i++) {
    const char *name = setting->names[i];
    int kind = strcmp(name, "segment") == 0    ? SEGMENT
               : strcmp(name, "fanout") == 0   ? CHAIN
               : strcmp(name, "requests") == 0 ? REQUESTS
               : strcmp(name, "radix") == 0    ? RADIX
                                               : KINDS;
    if (kind == KINDS || !own[kind].of.is_there || setting->values[i] > INT32_MAX) return 0;
    if (kind == RADIX && (is_threaded || setting->values[i] > GREATEST_RADIX)) return 0;
  }
  return 1;
}

static int number_for(const rw_tune_setting *setting, int function) {
  const variable *own = variables[function];
  return has_parameters(setting, own) ? number_of(&own[ALGORITHM], setting->algorithm) : -1;
}

int rw_tune_library_has(const rw_tune_setting *setting) { return number_for(setting, setting->collective) >= 0; }

int rw_tune_library_resolve(const rw_tuning *tuning) {
  settings = rw_tuning_settings(tuning);
  setting_count = tuning->settings;
  numbers = malloc(((size_t)setting_count + 1) * sizeof *numbers);
  if (numbers == NULL) return 0;
  for (int i = 0; i < setting_count; i++) {
    numbers[i][0] = number_for(&settings[i], settings[i].collective);
    numbers[i][1] =
        settings[i].collective == RW_TUNE_REDUCE_SCATTER ? number_for(&settings[i], RW_TUNE_REDUCE_SCATTER_BLOCK) : -1;
  }
  return 1;
}

uint32_t rw_tune_library_sum(void) {
  uint32_t sum = 2166136261u;
  for (int i = 0; i < 2 * setting_count; i++) sum = (sum ^ (uint32_t)numbers[i / 2][i % 2]) * 16777619u;
  return sum;
}

static int is_named(int setting, const char *algorithm) { return strcmp(settings[setting].algorithm, algorithm) == 0; }

/* MPICH's `noncommutative` ends the job unless the number of ranks is a power of two. */
int rw_tune_library_knows(int setting, int function, int ranks) {
  if (is_named(setting, "two_proc") && ranks != 2) return 0;
  if (is_named(setting, "noncommutative") && (ranks & (ranks - 1)) != 0) return 0;
  return numbers[setting][function == RW_TUNE_REDUCE_SCATTER_BLOCK] >= 0;
}

int rw_tune_library_cuts(int setting) {
  return RW_IS_OPEN_MPI && (parameter(&settings[setting], "segment", 0) > 0 || is_named(setting, "split_binary_tree") ||
                            is_named(setting, "scatter_allgather") || is_named(setting, "scatter_allgather_ring"));
}

/* MPICH's `noncommutative` takes elements for as long as their data, so those with a gap at their end overlap. */
int rw_tune_library_takes(int setting, int64_t bytes, MPI_Datatype type) {
  MPI_Count lower, extent, true_lower, true_extent;
  if (bytes > MOST_CUT && rw_tune_library_cuts(setting)) return 0;
  if (type == MPI_DATATYPE_NULL || !is_named(setting, "noncommutative")) return 1;
  return PMPI_Type_get_extent_x(type, &lower, &extent) == MPI_SUCCESS &&
         PMPI_Type_get_true_extent_x(type, &true_lower, &true_extent) == MPI_SUCCESS && extent == true_extent;
}

int rw_tune_library_needs_shadows(void) { return RW_IS_OPEN_MPI; }

/* Lists the variables of a setting when a communicator is made, with their values; returns how many. */
static int on_creation(int setting, variable *changed[], int values[]) {
  const rw_tune_setting *own = &settings[setting];
  int count = 0;
  for (int block = 0; block < 2; block++) {
    variable *of = variables[block ? RW_TUNE_REDUCE_SCATTER_BLOCK : own->collective];
    const int given[] = {numbers[setting][block], (int)parameter(own, "segment", 0), (int)parameter(own, "fanout", -1),
                         (int)parameter(own, "fanout", -1), (int)parameter(own, "requests", -1)};
    if (numbers[setting][block] < 0) continue;
    for (int kind = ALGORITHM; kind <= REQUESTS; kind++) {
      if (given[kind] < 0 || !of[kind].of.is_there) continue;
      changed[count] = &of[kind];
      values[count++] = given[kind];
    }
  }
  return count;
}

static int in_call(int setting, int function, variable *changed[], int values[]) {
  variable *of = variables[function];
  int count = 0, radix = (int)parameter(&settings[setting], "radix", -1);
  if (RW_IS_OPEN_MPI) {
    if (radix >= 0) changed[count] = &of[RADIX], values[count++] = radix;
    return count;
  }
  changed[count] = &of[ALGORITHM];
  values[count++] = numbers[setting][function == RW_TUNE_REDUCE_SCATTER_BLOCK];
  /* Otherwise an algorithm of the device may take the call. */
  if (of[DEVICE].of.is_there) changed[count] = &of[DEVICE], values[count++] = 0;
  return count;
}

enum { MOST_CHANGED = 2 * KINDS + 1 };

static int change_all(int count, variable *changed[], const int values[]) {
  int is_done = 1;
  for (int i = 0; i < count; i++) is_done &= rw_variable_exchange(&changed[i]->of, values[i], &changed[i]->before);
  return is_done;
}

static int restore_all(int count, variable *changed[]) {
  int is_done = 1;
  for (int i = count - 1; i >= 0; i--) is_done &= rw_variable_write(&changed[i]->of, changed[i]->before);
  return is_done;
}

int rw_tune_library_set(int setting) {
  variable *changed[MOST_CHANGED];
  int values[MOST_CHANGED];
  return change_all(on_creation(setting, changed, values), changed, values);
}

int rw_tune_library_reset(int setting) {
  variable *changed[MOST_CHANGED];
  int values[MOST_CHANGED];
  return restore_all(on_creation(setting, changed, values), changed);
}

int rw_tune_library_set_call(int setting, int function) {
  variable *changed[MOST_CHANGED];
  int values[MOST_CHANGED];
  return change_all(in_call(setting, function, changed, values), changed, values);
}

int rw_tune_library_reset_call(int setting, int function) {
  variable *changed[MOST_CHANGED];
  int values[MOST_CHANGED];
  return restore_all(in_call(setting, function, changed, values), changed);
}
