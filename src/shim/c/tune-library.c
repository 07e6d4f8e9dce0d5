/*
 * Sets control variables of the MPI library by a setting. Open MPI's component `tuned` reads its variables when a
 * communicator is made, except for the radix of trees; MPICH reads them in every call.
 */
#include "shim.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef OPEN_MPI
enum { IS_OPEN_MPI = 1 };
#else
enum { IS_OPEN_MPI = 0 };
#endif

/* The variable makes the component follow settings. With it and no setting it decides as without. */
#define DYNAMIC "coll_tuned_use_dynamic_rules"

/* The kinds of variables of a function, by the words of a setting. */
enum { ALGORITHM, SEGMENT, CHAIN, TREE, REQUESTS, RADIX, DEVICE, KINDS };
/* The bytes of a description and of a name. */
enum { LONGEST = 1 << 14, NAME = 128 };
/* The most bytes of a block that are cut: their counts are integers. */
enum { MOST_CUT = 1 << 30 };
/* The greatest radix: Open MPI multiplies it by ranks, as an int. */
enum { GREATEST_RADIX = 1024 };

/* An integer of the library. */
typedef struct {
  int is_there, index, before;
  MPI_T_cvar_handle handle;
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
  snprintf(name, room, "%s %.*s", IS_OPEN_MPI ? "Open MPI" : "MPICH", digits, number == NULL ? "" : number);
}

static void find(variable *v, const char *name) {
  int count = 0, index;
  memset(v, 0, sizeof *v);
  if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS) return;
  v->index = index;
  v->is_there = MPI_T_cvar_handle_alloc(index, NULL, &v->handle, &count) == MPI_SUCCESS && count == 1;
}

static void find_function(int function) {
  static const char *const parts[] = {"", "_segmentsize", "_chain_fanout", "_tree_fanout", "_max_requests", "_knomial_radix"};
  char name[2 * NAME];
  variable *own = variables[function];
  if (IS_OPEN_MPI) {
    for (int kind = ALGORITHM; kind <= RADIX; kind++) {
      snprintf(name, sizeof name, "coll_tuned_%s_algorithm%s", functions[function], parts[kind]);
      find(&own[kind], name);
    }
    return;
  }
  char upper[NAME] = "";
  for (size_t i = 0; functions[function][i] != '\0'; i++) upper[i] = (char)toupper(functions[function][i]);
  snprintf(name, sizeof name, "MPIR_CVAR_%s_INTRA_ALGORITHM", upper);
  find(&own[ALGORITHM], name);
  snprintf(name, sizeof name, "MPIR_CVAR_%s_DEVICE_COLLECTIVE", upper);
  find(&own[DEVICE], name);
}

/* A file of rules has precedence over variables. */
static int has_rules_file(void) {
  static char path[LONGEST];
  int index, count = 0;
  MPI_T_cvar_handle handle;
  if (MPI_T_cvar_get_index("coll_tuned_dynamic_rules_filename", &index) != MPI_SUCCESS) return 0;
  if (MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS) return 0;
  int is_there = count < LONGEST && MPI_T_cvar_read(handle, path) == MPI_SUCCESS && path[0] != '\0';
  MPI_T_cvar_handle_free(&handle);
  return is_there;
}

/* The program does not change this variable: it can be set before MPI_Init only. */
static int is_dynamic(void) {
  variable rules;
  int is_set = 0;
  find(&rules, DYNAMIC);
  if (!rules.is_there) return 0;
  if (MPI_T_cvar_read(rules.handle, &is_set) != MPI_SUCCESS) is_set = 0;
  MPI_T_cvar_handle_free(&rules.handle);
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

/*
 * Where rules become dynamic, variables take effect that did not before. Processes that name no tuning file would
 * choose other algorithms for the same calls, and wait forever.
 */
void rw_tune_library_before(void) {
  if (!IS_OPEN_MPI || (rw_tune_path() == NULL && rw_online_folder() == NULL) || rw_own_settings()->enabled < 1) return;
  if (waiting_variable() == NULL) setenv("OMPI_MCA_" DYNAMIC, "1", 0);
}

static const char *why_not_dynamic(void) {
  static char why[256];
  const char *waiting = waiting_variable();
  if (waiting == NULL) return DYNAMIC " of Open MPI is not 1 on all processes: name the file or folder in RANKWEAVE_SHIM of all";
  snprintf(why, sizeof why, "%.*s is set: unset it, or set OMPI_MCA_" DYNAMIC " to 1 on all processes",
           (int)strcspn(waiting, "="), waiting);
  return why;
}

static const char *begin(int threads) {
  int provided;
  is_threaded = threads;
  if (!IS_OPEN_MPI && threads) return "MPICH takes a setting in every call, so calls of several threads would mix them";
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return "the library has no control variables";
  for (int function = 0; function < RW_TUNE_FUNCTIONS; function++) find_function(function);
  if (!IS_OPEN_MPI) return NULL;
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

/* The names of MPICH's algorithms, so that they are found in descriptions. */
static const char *const mpich_names[] = {
    "auto", "binomial", "brucks", "dissemination", "nb", "noncommutative", "pairwise", "pairwise_sendrecv_replace",
    "recursive_doubling", "recursive_halving", "reduce_scatter_allgather", "reduce_scatter_gather", "ring", "scattered",
    "scatter_recursive_doubling_allgather", "scatter_ring_allgather", "smp",
};

/* Returns the longest of the names with which the text ends; NULL: none. */
static const char *name_at_end(const char *text, size_t length) {
  const char *found = NULL;
  for (size_t i = 0; i < sizeof mpich_names / sizeof *mpich_names; i++) {
    size_t own = strlen(mpich_names[i]);
    if (own <= length && strncmp(text + length - own, mpich_names[i], own) == 0 &&
        (found == NULL || own > strlen(found)))
      found = mpich_names[i];
  }
  return found;
}

/*
 * Parses a description. MPICH's variables are integers. Their descriptions name all values in order, without a
 * space between: `algorithmauto - Internal selectionbinomial - Force binomial algorithm`.
 */
static int described(const char *description, const char *wanted) {
  int count = 0;
  for (const char *at = description; (at = strstr(at, " - ")) != NULL; at += 3, count++) {
    size_t length = (size_t)(at - description);
    while (length > 0 && description[length - 1] == ' ') length--;
    const char *name = name_at_end(description, length);
    if (name != NULL && strcmp(name, wanted) == 0) return count;
  }
  return -1;
}

/* Reads the information on a variable's values: a list of names, or a description. 0: neither. */
static int information(const variable *v, MPI_T_enum *values, char description[LONGEST]) {
  static char name[LONGEST];
  int name_length = sizeof name, length = LONGEST, verbosity, binding, scope;
  MPI_Datatype type;
  *values = MPI_T_ENUM_NULL;
  return v->is_there && MPI_T_cvar_get_info(v->index, name, &name_length, &verbosity, &type, values, description, &length,
                                            &binding, &scope) == MPI_SUCCESS;
}

/* Returns the value of a name. */
static int number_of(const variable *v, const char *wanted) {
  static char name[LONGEST], description[LONGEST];
  int name_length = sizeof name, count = 0;
  MPI_T_enum values;
  if (!information(v, &values, description)) return -1;
  if (values == MPI_T_ENUM_NULL) return IS_OPEN_MPI ? -1 : described(description, wanted);
  if (MPI_T_enum_get_info(values, &count, name, &name_length) != MPI_SUCCESS) return -1;
  for (int i = 0; i < count; i++) {
    int value;
    name_length = sizeof name;
    if (MPI_T_enum_get_item(values, i, &value, name, &name_length) == MPI_SUCCESS && strcmp(name, wanted) == 0)
      return value;
  }
  return -1;
}

/* Number 0 of Open MPI, and `auto` of MPICH, leave the choice to the library. */
int rw_tune_library_algorithm(int collective, int i, char *name, size_t room) {
  static char item[LONGEST], description[LONGEST];
  int length = sizeof item, count = 0, value, seen = 0;
  MPI_T_enum values;
  if (!information(&variables[collective][ALGORITHM], &values, description)) return 0;
  if (values == MPI_T_ENUM_NULL) {
    for (size_t at = 0; !IS_OPEN_MPI && at < sizeof mpich_names / sizeof *mpich_names; at++) {
      if (strcmp(mpich_names[at], "auto") == 0 || described(description, mpich_names[at]) < 0 || seen++ < i) continue;
      return snprintf(name, room, "%s", mpich_names[at]) > 0;
    }
    return 0;
  }
  if (MPI_T_enum_get_info(values, &count, item, &length) != MPI_SUCCESS) return 0;
  for (int at = 0; at < count; at++) {
    length = sizeof item;
    if (MPI_T_enum_get_item(values, at, &value, item, &length) != MPI_SUCCESS || value == 0 || seen++ < i) continue;
    return snprintf(name, room, "%s", item) > 0;
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
    if (kind == KINDS || !own[kind].is_there || setting->values[i] > INT32_MAX) return 0;
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
  return IS_OPEN_MPI && (parameter(&settings[setting], "segment", 0) > 0 || is_named(setting, "split_binary_tree") ||
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

int rw_tune_library_needs_shadows(void) { return IS_OPEN_MPI; }

static int change(variable *v, int value) {
  v->before = 0;
  return MPI_T_cvar_read(v->handle, &v->before) == MPI_SUCCESS && MPI_T_cvar_write(v->handle, &value) == MPI_SUCCESS;
}

static int restore(variable *v) { return MPI_T_cvar_write(v->handle, &v->before) == MPI_SUCCESS; }

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
      if (given[kind] < 0 || !of[kind].is_there) continue;
      changed[count] = &of[kind];
      values[count++] = given[kind];
    }
  }
  return count;
}

static int in_call(int setting, int function, variable *changed[], int values[]) {
  variable *of = variables[function];
  int count = 0, radix = (int)parameter(&settings[setting], "radix", -1);
  if (IS_OPEN_MPI) {
    if (radix >= 0) changed[count] = &of[RADIX], values[count++] = radix;
    return count;
  }
  changed[count] = &of[ALGORITHM];
  values[count++] = numbers[setting][function == RW_TUNE_REDUCE_SCATTER_BLOCK];
  /* Otherwise an algorithm of the device may take the call. */
  if (of[DEVICE].is_there) changed[count] = &of[DEVICE], values[count++] = 0;
  return count;
}

enum { MOST_CHANGED = 2 * KINDS + 1 };

static int change_all(int count, variable *changed[], const int values[]) {
  int is_done = 1;
  for (int i = 0; i < count; i++) is_done &= change(changed[i], values[i]);
  return is_done;
}

static int restore_all(int count, variable *changed[]) {
  int is_done = 1;
  for (int i = count - 1; i >= 0; i--) is_done &= restore(changed[i]);
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
