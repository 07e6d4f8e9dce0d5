/* The job: see measure.h. */
#include "measure.h"
#include "variables.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { VARIABLES = 16 };

/* The control variables to be set, of any integer type. */
typedef struct {
  struct {
    char name[RW_VARIABLE_NAME];
    int value;
  } list[VARIABLES];
  int count;
} wanted_values;

typedef struct setting_slot {
  long id;
  MPI_Comm comm;
  wanted_values wanted;
  struct setting_slot *next;
} setting_slot;

static int process, processes;
static MPI_Comm members = MPI_COMM_NULL; /* the ranks of the spread */
static MPI_Comm control = MPI_COMM_NULL; /* a duplicate, for barriers that no setting changes */
static rw_measured_call call;
static int has_call;
static setting_slot *slots;

void rw_measure_fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  printf("failed ");
  vprintf(format, arguments);
  printf("\n");
  fflush(stdout);
  va_end(arguments);
  /* Launchers may drop pending output when a job is aborted. */
  sleep(1);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Completes a request without keeping a core busy: processes that make no calls wait here while others are measured. */
static void wait_asleep(MPI_Request *request) {
  struct timespec pause = {0, 100000};
  for (;;) {
    int is_done;
    MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
    if (is_done) return;
    if (process > 0) nanosleep(&pause, NULL);
  }
}

/* Returns the next order, the same in every process, or NULL at the end of the input. */
static char *next_order(void) {
  static char *line;
  static size_t room;
  long length = 0;
  MPI_Request request;
  if (process == 0) {
    length = getline(&line, &room, stdin);
    while (length > 0 && line[length - 1] == '\n') line[--length] = '\0';
  }
  MPI_Ibcast(&length, 1, MPI_LONG, 0, MPI_COMM_WORLD, &request);
  wait_asleep(&request);
  if (length < 0) return NULL;
  if (process > 0 && room < (size_t)length + 1) {
    room = (size_t)length + 1;
    line = realloc(line, room);
    if (line == NULL) rw_measure_fail("memory is exhausted");
  }
  MPI_Ibcast(line, (int)length, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
  wait_asleep(&request);
  line[length] = '\0';
  return line;
}

static void answer(const char *text) {
  if (process > 0) return;
  printf("%s\n", text);
  fflush(stdout);
}

/* Sets variables and keeps their former values in the same list. Ends the job if the library does not take a value. */
static void exchange_variables(wanted_values *wanted) {
  for (int i = 0; i < wanted->count; i++) {
    const char *name = wanted->list[i].name;
    rw_variable variable;
    int value = wanted->list[i].value, taken;
    if (!rw_variable_is_known(name)) rw_measure_fail("the library has no control variable %s", name);
    rw_variable_find(&variable, name);
    if (!variable.is_there) rw_measure_fail("control variable %s is not a number of the library", name);
    if (variable.bytes < (int)sizeof(int)) rw_measure_fail("control variable %s is not an integer", name);
    if (!rw_variable_exchange(&variable, value, &wanted->list[i].value) || !rw_variable_read(&variable, &taken) ||
        taken != value)
      rw_measure_fail("control variable %s cannot be set to %d", name, value);
    rw_variable_release(&variable);
  }
}

/* Lists the values with names. If a name is unknown or there twice, others may be wrong: then there is none. */
static void describe_variable(const char *name, char *answer, size_t room) {
  static rw_variable_value values[RW_VARIABLE_VALUES];
  rw_variable variable;
  rw_variable_find(&variable, name);
  int count = rw_variable_values(&variable, values), is_sure = count > 0;
  size_t length = (size_t)snprintf(answer, room, "enum");
  for (int i = 0; i < count && length < room; i++) {
    length += (size_t)snprintf(answer + length, room - length, " %d=%s", values[i].number, values[i].name);
    for (int other = 0; other < i; other++) is_sure &= strcmp(values[other].name, values[i].name) != 0;
    is_sure &= values[i].name[0] != '\0';
  }
  if (!is_sure) snprintf(answer, room, "none");
  rw_variable_release(&variable);
}

/* Writes `none`, or `value ` and the value. */
static void read_variable(const char *name, char *answer, size_t room) {
  static const char value[] = "value ";
  int is_read = rw_variable_text(name, answer + sizeof value - 1, room - sizeof value + 1);
  if (is_read < 0) snprintf(answer, room, "%sunreadable", value);
  else if (is_read > 0) memcpy(answer, value, sizeof value - 1);
  else snprintf(answer, room, "none");
}

/* Checks that a variable has one value: a command or a file may have set it for some processes only. */
static void answer_value(const char *name) {
  enum { VALUE = 4096 };
  char own[VALUE], first[VALUE];
  int ignored = 0, sum;
  read_variable(name, own, VALUE);
  memcpy(first, own, VALUE);
  MPI_Bcast(first, VALUE, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (strcmp(own, first) != 0)
    rw_measure_fail("control variable %s differs between processes: '%s' in process 0, '%s' in process %d", name, first, own,
                    process);
  /* Process 0 answers when all have agreed. */
  MPI_Reduce(&ignored, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  answer(own);
}

static void free_settings(void) {
  while (slots != NULL) {
    setting_slot *slot = slots;
    slots = slot->next;
    if (slot->comm != MPI_COMM_NULL) MPI_Comm_free(&slot->comm);
    free(slot);
  }
  if (has_call) rw_measured_free(&call);
  has_call = 0;
}

static void spread_over(char *ranks) {
  int place = MPI_UNDEFINED, count = 0;
  for (char *word = strtok(ranks, " "); word != NULL; word = strtok(NULL, " "), count++)
    if (atoi(word) == process) place = count;
  free_settings();
  if (members != MPI_COMM_NULL) MPI_Comm_free(&members);
  if (control != MPI_COMM_NULL) MPI_Comm_free(&control);
  MPI_Comm_split(MPI_COMM_WORLD, place == MPI_UNDEFINED ? MPI_UNDEFINED : 0, place == MPI_UNDEFINED ? 0 : place, &members);
  if (members != MPI_COMM_NULL) MPI_Comm_dup(members, &control);
}

static void begin_call(char *words) {
  char *collective = strtok(words, " "), *type = strtok(NULL, " "), *bytes = strtok(NULL, " ");
  int rank, size;
  if (bytes == NULL) rw_measure_fail("expected a call");
  free_settings();
  if (members == MPI_COMM_NULL) return;
  MPI_Comm_rank(members, &rank);
  MPI_Comm_size(members, &size);
  has_call = rw_measured_make(&call, collective, type, atol(bytes), rank, size);
  if (!has_call) rw_measure_fail("expected a call, got %s of %s bytes as %s", collective, bytes, type);
}

static void add_setting(char *words) {
  setting_slot *slot = calloc(1, sizeof *slot);
  char *word = strtok(words, " ");
  if (slot == NULL || word == NULL) rw_measure_fail("expected a setting");
  slot->id = atol(word);
  slot->comm = MPI_COMM_NULL;
  while ((word = strtok(NULL, " ")) != NULL) {
    wanted_values *wanted = &slot->wanted;
    char *value = strchr(word, '=');
    if (value == NULL || wanted->count == VARIABLES || value - word >= RW_VARIABLE_NAME)
      rw_measure_fail("expected NAME=VALUE, got %s", word);
    memcpy(wanted->list[wanted->count].name, word, (size_t)(value - word));
    wanted->list[wanted->count++].value = atoi(value + 1);
  }
  slot->next = slots;
  slots = slot;
  if (members == MPI_COMM_NULL) return;
  exchange_variables(&slot->wanted);
  MPI_Comm_dup(members, &slot->comm);
  MPI_Comm_set_errhandler(slot->comm, MPI_ERRORS_RETURN);
  exchange_variables(&slot->wanted);
}

static setting_slot *slot_of(const char *word) {
  for (setting_slot *slot = slots; slot != NULL && word != NULL; slot = slot->next)
    if (slot->id == atol(word)) return slot;
  rw_measure_fail("expected a setting of the call, got %s", word == NULL ? "none" : word);
  return NULL;
}

/* If one rank refuses a call, every rank refuses it; if one has a wrong result, all report the call as wrong. */
static void verify(char *words) {
  static const char *const verdicts[] = {"right", "wrong", "refused"};
  setting_slot *slot = slot_of(strtok(words, " "));
  int verdict = 0, worst;
  if (members != MPI_COMM_NULL) {
    exchange_variables(&slot->wanted);
    rw_measured_clear(&call);
    verdict = rw_measured_run(&call, slot->comm) != MPI_SUCCESS ? 2 : rw_measured_is_right(&call) ? 0 : 1;
    exchange_variables(&slot->wanted);
  }
  MPI_Reduce(&verdict, &worst, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  if (process == 0) answer(verdicts[worst]);
}

static void dissemination(void) {
  for (int distance = 1; distance < call.size; distance *= 2) {
    int to = (call.rank + distance) % call.size, from = (call.rank - distance + call.size) % call.size;
    MPI_Sendrecv(NULL, 0, MPI_BYTE, to, 1, NULL, 0, MPI_BYTE, from, 1, control, MPI_STATUS_IGNORE);
  }
}

static void time_calls(char *words) {
  setting_slot *slot = slot_of(strtok(words, " "));
  const char *word = strtok(NULL, " ");
  int repetitions = word == NULL ? 0 : atoi(word);
  if (repetitions < 1) rw_measure_fail("expected repetitions");
  double *own = calloc(4 * (size_t)repetitions, sizeof *own), *longest = own + 2 * repetitions;
  if (own == NULL) rw_measure_fail("memory is exhausted");
  if (members != MPI_COMM_NULL) {
    exchange_variables(&slot->wanted);
    dissemination();
    for (int i = 0; i < repetitions; i++) {
      double before = MPI_Wtime(), entered;
      dissemination();
      entered = MPI_Wtime();
      if (rw_measured_run(&call, slot->comm) != MPI_SUCCESS) rw_measure_fail("a call that was right before fails");
      dissemination();
      own[i] = MPI_Wtime() - entered;
      own[repetitions + i] = entered - before;
    }
    exchange_variables(&slot->wanted);
  }
  MPI_Reduce(own, longest, 2 * repetitions, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (process == 0) {
    printf("times");
    for (int i = 0; i < 2 * repetitions; i++) printf(" %.3f", longest[i] * 1e6);
    answer("");
  }
  free(own);
}

static void answer_figures(const char *kind, const double *figures, int count) {
  if (process == 0) {
    printf("%s", kind);
    for (int i = 0; i < count; i++) printf(" %.4f", figures[i]);
  }
  answer("");
}

static int other_process(const char *word) {
  int second = word == NULL ? 0 : atoi(word);
  if (second < 1 || second >= processes) rw_measure_fail("expected another process");
  return second;
}

static void find_eager_limit(const char *words) {
  char text[64];
  snprintf(text, sizeof text, "eager %ld", rw_measured_eager_limit(process, other_process(words)));
  answer(text);
}

static void time_messages(char *words) {
  int second = other_process(strtok(words, " "));
  const char *times = strtok(NULL, " ");
  int runs = times == NULL ? 0 : atoi(times);
  if (runs < 1) rw_measure_fail("expected runs");
  double *figures = calloc((size_t)runs * RW_MESSAGE_FIGURES, sizeof *figures);
  if (figures == NULL) rw_measure_fail("memory is exhausted");
  rw_measured_messages(process, second, runs, figures);
  answer_figures("messages", figures, runs * RW_MESSAGE_FIGURES);
  free(figures);
}

static void time_memory(const char *words) {
  int runs = atoi(words);
  if (runs < 1) rw_measure_fail("expected runs");
  double *figures = calloc((size_t)runs * RW_MEMORY_FIGURES, sizeof *figures);
  if (figures == NULL) rw_measure_fail("memory is exhausted");
  if (process == 0) rw_measured_memory(runs, figures);
  answer_figures("memory", figures, runs * RW_MEMORY_FIGURES);
  free(figures);
}

static void follow(const char *kind, char *words) {
  static char text[16384];
  if (strcmp(kind, "describe") == 0) {
    if (process == 0) describe_variable(words, text, sizeof text);
    answer(text);
    return;
  }
  if (strcmp(kind, "read") == 0) {
    answer_value(words);
    return;
  }
  if (strcmp(kind, "verify") == 0) {
    verify(words);
    return;
  }
  if (strcmp(kind, "time") == 0) {
    time_calls(words);
    return;
  }
  if (strcmp(kind, "eager") == 0) {
    find_eager_limit(words);
    return;
  }
  if (strcmp(kind, "messages") == 0) {
    time_messages(words);
    return;
  }
  if (strcmp(kind, "memory") == 0) {
    time_memory(words);
    return;
  }
  if (strcmp(kind, "spread") == 0) spread_over(words);
  else if (strcmp(kind, "call") == 0) begin_call(words);
  else if (strcmp(kind, "setting") == 0) add_setting(words);
  else if (strcmp(kind, "done") == 0) free_settings();
  else rw_measure_fail("expected an order, got %s", kind);
  answer("ok");
}

/* Prints the name of the library, and the node of every process as the lowest process there. */
static void introduce(void) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length, lowest = process, *nodes = NULL;
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, process, MPI_INFO_NULL, &node);
  MPI_Bcast(&lowest, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  if (process == 0) nodes = calloc((size_t)processes, sizeof *nodes);
  MPI_Gather(&lowest, 1, MPI_INT, nodes, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (process > 0) return;
  MPI_Get_library_version(version, &length);
  version[strcspn(version, "\n")] = '\0';
  printf("rankweave-measure %s\nnodes", version);
  for (int i = 0; i < processes; i++) printf(" %d", nodes[i]);
  answer("");
  free(nodes);
}

int main(int argc, char **argv) {
  /* Open MPI reads the variables of its component `tuned` only if its rules may change. */
  setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 0);
  MPI_Init(&argc, &argv);
  if (!rw_variables_begin()) rw_measure_fail("the tool interface of MPI does not start");
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  introduce();
  for (char *line = next_order(); line != NULL && strcmp(line, "end") != 0; line = next_order()) {
    char *words = strchr(line, ' ');
    if (words != NULL) *words++ = '\0';
    follow(line, words == NULL ? line + strlen(line) : words);
  }
  free_settings();
  if (members != MPI_COMM_NULL) MPI_Comm_free(&members);
  if (control != MPI_COMM_NULL) MPI_Comm_free(&control);
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}
