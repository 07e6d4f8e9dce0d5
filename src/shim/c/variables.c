/* See variables.h. */
#include "variables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of a description. */
enum { LONGEST = 1 << 14 };

/* Open MPI 4.1 takes the level that the tool interface asks for as that of the whole process. */
int rw_variables_begin(void) {
  int level = MPI_THREAD_SINGLE, provided;
  PMPI_Query_thread(&level);
  return MPI_T_init_thread(level, &provided) == MPI_SUCCESS;
}

int rw_variable_is_known(const char *name) {
  int index;
  return MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS;
}

/* Opens a variable that belongs to no object; returns the number of its elements, 0: it is not there. */
static int open_variable(const char *name, rw_variable *variable, MPI_Datatype *type) {
  int name_length = 0, length = 0, verbosity, binding, scope, count = 0;
  MPI_T_enum values;
  if (MPI_T_cvar_get_index(name, &variable->index) != MPI_SUCCESS ||
      MPI_T_cvar_get_info(variable->index, NULL, &name_length, &verbosity, type, &values, NULL, &length, &binding, &scope) !=
          MPI_SUCCESS ||
      binding != MPI_T_BIND_NO_OBJECT ||
      MPI_T_cvar_handle_alloc(variable->index, NULL, &variable->handle, &count) != MPI_SUCCESS)
    return 0;
  PMPI_Type_size(*type, &variable->bytes);
  return count;
}

void rw_variable_find(rw_variable *variable, const char *name) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  memset(variable, 0, sizeof *variable);
  int count = open_variable(name, variable, &type), bytes = variable->bytes;
  variable->is_there =
      count == 1 && type != MPI_DOUBLE && (bytes == 1 || bytes == (int)sizeof(int) || bytes == (int)sizeof(long long));
  if (count > 0 && !variable->is_there) MPI_T_cvar_handle_free(&variable->handle);
}

void rw_variable_release(rw_variable *variable) {
  if (variable->is_there) MPI_T_cvar_handle_free(&variable->handle);
  variable->is_there = 0;
}

int rw_variable_read(const rw_variable *variable, int *value) {
  union {
    unsigned char small;
    int usual;
    long long wide;
  } room;
  room.wide = 0;
  if (MPI_T_cvar_read(variable->handle, &room) != MPI_SUCCESS) return 0;
  *value = variable->bytes == 1 ? room.small : variable->bytes == (int)sizeof(int) ? room.usual : (int)room.wide;
  return 1;
}

int rw_variable_write(const rw_variable *variable, int value) {
  long long wide = value;
  unsigned char small = (unsigned char)value;
  const void *from = variable->bytes == 1                  ? (void *)&small
                     : variable->bytes == (int)sizeof(int) ? (void *)&value
                                                           : (void *)&wide;
  return MPI_T_cvar_write(variable->handle, (void *)from) == MPI_SUCCESS;
}

int rw_variable_exchange(const rw_variable *variable, int value, int *before) {
  return rw_variable_read(variable, before) && rw_variable_write(variable, value);
}

/* The names of MPICH's algorithms, so that they are found in descriptions. */
static const char *const mpich_names[] = {
    "auto",
    "binomial",
    "brucks",
    "dissemination",
    "linear",
    "nb",
    "noncommutative",
    "pairwise",
    "pairwise_sendrecv_replace",
    "recursive_doubling",
    "recursive_halving",
    "reduce_scatter_allgather",
    "reduce_scatter_gather",
    "ring",
    "scattered",
    "scatter_recursive_doubling_allgather",
    "scatter_ring_allgather",
    "smp",
};

/* Returns the longest of the names with which the text ends; empty: none. */
static const char *name_at_end(const char *text, size_t length) {
  const char *found = "";
  for (size_t i = 0; i < sizeof mpich_names / sizeof *mpich_names; i++) {
    size_t own = strlen(mpich_names[i]);
    if (own <= length && strncmp(text + length - own, mpich_names[i], own) == 0 && own > strlen(found))
      found = mpich_names[i];
  }
  return found;
}

/*
 * Parses a description. MPICH's variables are integers. Their descriptions name all values in order, without a
 * space between: `algorithmauto - Internal selectionbinomial - Force binomial algorithm`.
 */
static int described_values(const char *description, rw_variable_value values[RW_VARIABLE_VALUES]) {
  int count = 0;
  for (const char *at = description; count < RW_VARIABLE_VALUES && (at = strstr(at, " - ")) != NULL; at += 3) {
    if (strncmp(at + 3, "Internal", 8) != 0 && strncmp(at + 3, "Force", 5) != 0) continue;
    size_t length = (size_t)(at - description);
    while (length > 0 && description[length - 1] == ' ') length--;
    values[count].number = count;
    snprintf(values[count++].name, RW_VARIABLE_NAME, "%s", name_at_end(description, length));
  }
  return count;
}

static int listed_values(MPI_T_enum names, rw_variable_value values[RW_VARIABLE_VALUES]) {
  int items, name_length = 0, count = 0;
  if (MPI_T_enum_get_info(names, &items, NULL, &name_length) != MPI_SUCCESS) return 0;
  for (int i = 0; i < items && count < RW_VARIABLE_VALUES; i++) {
    name_length = RW_VARIABLE_NAME;
    if (MPI_T_enum_get_item(names, i, &values[count].number, values[count].name, &name_length) == MPI_SUCCESS) count++;
  }
  return count;
}

int rw_variable_values(const rw_variable *variable, rw_variable_value values[RW_VARIABLE_VALUES]) {
  static char description[LONGEST];
  int name_length = 0, length = LONGEST, verbosity, binding, scope;
  MPI_T_enum names = MPI_T_ENUM_NULL;
  MPI_Datatype type;
  if (!variable->is_there || MPI_T_cvar_get_info(variable->index, NULL, &name_length, &verbosity, &type, &names, description,
                                                 &length, &binding, &scope) != MPI_SUCCESS)
    return 0;
  if (names != MPI_T_ENUM_NULL) return listed_values(names, values);
  return RW_IS_OPEN_MPI ? 0 : described_values(description, values);
}

/* Writes numbers as text, and text without ends of lines. */
int rw_variable_text(const char *name, char *text, size_t room) {
  rw_variable variable;
  MPI_Datatype type;
  int count = open_variable(name, &variable, &type), bytes = variable.bytes;
  if (count == 0) return 0;
  char *value = calloc((size_t)count + 1, (size_t)bytes);
  int is_read = value != NULL && MPI_T_cvar_read(variable.handle, value) == MPI_SUCCESS;
  if (!is_read) text[0] = '\0';
  else if (type == MPI_CHAR) snprintf(text, room, "%s", value);
  else if (type == MPI_DOUBLE) snprintf(text, room, "%g", *(double *)value);
  else if (bytes == 1) snprintf(text, room, "%d", *(unsigned char *)value);
  else if (bytes == (int)sizeof(int)) snprintf(text, room, "%d", *(int *)value);
  else snprintf(text, room, "%lld", *(long long *)value);
  for (char *at = text; *at != '\0'; at++)
    if (*at == '\n' || *at == '\r') *at = ' ';
  free(value);
  MPI_T_cvar_handle_free(&variable.handle);
  return is_read ? 1 : -1;
}
