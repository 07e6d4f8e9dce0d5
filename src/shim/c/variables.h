/*
 * Control variables of the MPI library (MPI-4.1 15.3.6), by which it chooses its algorithms. For the preloaded library,
 * and for the program that measures.
 */
#ifndef RANKWEAVE_VARIABLES_H
#define RANKWEAVE_VARIABLES_H

#include <mpi.h>
#include <stddef.h>

#ifdef OPEN_MPI
enum { RW_IS_OPEN_MPI = 1 };
#else
enum { RW_IS_OPEN_MPI = 0 };
#endif

/* The variable makes Open MPI's component `tuned` follow settings. With it and no setting it decides as without. */
#define RW_DYNAMIC_RULES "coll_tuned_use_dynamic_rules"

/* The bytes of the name of a variable or value, and the most values of a variable that have names. */
enum { RW_VARIABLE_NAME = 128, RW_VARIABLE_VALUES = 64 };

/* An integer of the library that belongs to no object. */
typedef struct {
  int is_there, index;
  int bytes; /* size of the integer: 1, or that of int or long long */
  MPI_T_cvar_handle handle;
} rw_variable;

/* A value that has a name; the name is empty if it is not known. */
typedef struct {
  int number;
  char name[RW_VARIABLE_NAME];
} rw_variable_value;

/* Starts the tool interface of MPI; 0: there is none. */
int rw_variables_begin(void);
/* Returns whether the library has any variable of this name. */
int rw_variable_is_known(const char *name);
void rw_variable_find(rw_variable *variable, const char *name);
void rw_variable_release(rw_variable *variable);
/* Each of these returns 0 if the library refuses. */
int rw_variable_read(const rw_variable *variable, int *value);
int rw_variable_write(const rw_variable *variable, int value);
/* Writes a value after it has read the one before. */
int rw_variable_exchange(const rw_variable *variable, int value, int *before);
/* Lists the values that have names, in their order; returns how many. Number 0 leaves the choice to the library. */
int rw_variable_values(const rw_variable *variable, rw_variable_value values[RW_VARIABLE_VALUES]);
/* Writes the value of a variable of any type as text; 0: there is no such variable, -1: it cannot be read. */
int rw_variable_text(const char *name, char *text, size_t room);

#endif
