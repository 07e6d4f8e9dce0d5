/* Collectives of MPI whose settings are chosen call by call, and recorded. Part of shim.h. */
#ifndef RANKWEAVE_ONLINE_H
#define RANKWEAVE_ONLINE_H

/* online-words.c implements the declarations below. */

/* The modes of runs: one explores, the other takes the best setting. */
enum { RW_ONLINE_TUNING, RW_ONLINE_TUNED };

/* The options of online tuning: numbers that all processes must set alike. */
typedef struct {
  double mode, calls, measured; /* calls of the world; processes below this number record */
  double seed;                  /* -1: drawn */
} rw_online_words;

/* Reads a word of RANKWEAVE_SHIM. 0: it is not one of these. */
int rw_online_word(char *word);
/* Complains if an option stands alone. */
void rw_online_end_of_words(void);
/* Returns the folder of the word `online:FOLDER`, or NULL. */
const char *rw_online_folder(void);
/* Resolves the folder, so that it stays the same if the program changes its working directory. */
void rw_online_resolve(void);
/* Returns an invalid word, with the reason; empty: there is none. */
const char *rw_online_wrong(void);
const rw_online_words *rw_online_own_words(void);

/* online-model.c implements the declarations below. */

/*
 * Returns the settings that the running library may take, numbered by collective, and what was learned of them.
 * `model` has a grid of each learned collective; its checksum is empty if nothing was learned. Called on one
 * process, after the library's begin. NULL: `wrong` says why.
 */
rw_tuning *rw_online_prepare(const char *folder, int mode, rw_tune_model *model, char *wrong, size_t room);
/* Writes the name of this process's machine: `2 x AMD EPYC`, as `rankweave measure` names it. */
void rw_online_machine(char *name, size_t room);

/* online-choice.c implements the declarations below. */

/* The number of functions whose calls are chosen. */
enum { RW_ONLINE_FUNCTIONS = 4 };
int rw_online_place_of(int function);
int rw_online_function(int place);
/* Draws a number from 0 to below 1, as src/tuning/online/grid-selection.ts does. The collective is one of RW_TUNE_. */
double rw_online_draw(uint32_t seed, uint32_t communicator, uint32_t call, int collective);
/* Returns the place of a collective among those that files of calls name. */
int rw_online_collective(int collective);
const char *rw_online_collective_name(int place);

/* A cell that is ready: numbers of settings, from 1, and sums of their probabilities. */
typedef struct {
  int count; /* -1: not ready */
  int32_t *numbers;
  double *sums;
} rw_online_cell;

/* The cells of one collective for one communicator. */
typedef struct {
  const rw_grid *grid; /* NULL: nothing was learned */
  int first_cell, intervals, mode;
  int eligible; /* settings that may serve */
  int32_t *numbers;
  rw_online_cell *cells; /* cells by interval of bytes */
} rw_online_choice;

/*
 * Makes a choice and takes over `numbers`, those of the settings that may serve, ascending; it drops those that the
 * grid excludes. 0: no memory.
 */
int rw_online_choice_make(rw_online_choice *choice, const rw_grid *grid, int mode, double nodes, double per_node,
                          int32_t *numbers, int count);
void rw_online_choice_free(rw_online_choice *choice);
/*
 * Chooses as GridSelection of src/tuning/online does. Returns the number of a setting; 0: none is chosen. -1: no
 * memory.
 */
int rw_online_choose(rw_online_choice *choice, double bytes, double drawn);

/* online.c implements the declarations below. */

/* The record of one process in one call, as src/tuning/online/call-records.ts defines it. */
typedef struct {
  double start, end;            /* us */
  uint32_t communicator, call;
  uint32_t bytes, packed;       /* 8 further bits of bytes, 4 of the collective, 12 of the setting */
} rw_online_record;

/* A communicator whose calls are recorded. */
typedef struct {
  uint64_t key; /* alike on all members */
  int32_t nodes, per_node, processes, unused;
} rw_online_communicator;

/* The data that all processes of a run share. */
typedef struct {
  rw_online_words words;
  const rw_tuning *tuning;
  rw_tune_model model; /* grids, and its checksum */
} rw_online_run;

/* The state of online tuning of a communicator. */
typedef struct rw_online rw_online;

/* A call that is counted, alike on all members. */
typedef struct {
  int is_chosen, is_recorded;
  uint32_t number; /* number among the chosen calls of the communicator, from 0 */
} rw_online_call;

/*
 * Starts a run in MPI_Init. Returns NULL, or why no process is tuned. The run takes over the grids of the model.
 * Collective.
 */
const char *rw_online_start(const rw_online_run *run, int rank);
/* Returns the run; NULL: online tuning is off. */
const rw_online_run *rw_online_running(void);
/*
 * Makes the state of MPI_COMM_WORLD, or of a communicator whose creation was not seen, of which no call is
 * recorded. NULL: no memory.
 */
rw_online *rw_online_make(int is_world, const rw_tune_call *shape);
void rw_online_free(rw_online *online);
/* Notes that a communicator is made from this one: it gets half of the calls that this one has left. */
void rw_online_divide(rw_online *from, rw_online *to, int leader);
rw_online_call rw_online_count(rw_online *online);
/* Returns the number of a setting of the collective; 0: none is chosen. -1: no memory. */
int rw_online_setting(rw_online *online, const rw_tune_call *shape, int function, double bytes, uint32_t call);
/* Begins a call now. Returns its place among records; -1: it is not recorded. */
int rw_online_begin(rw_online *online, rw_online_call call, int collective, int number, int64_t bytes);
void rw_online_end(int place);
/* Returns the records of this process: calls that have ended. */
int rw_online_records(const rw_online_record **records, const rw_online_communicator **communicators, int *communicator_count);
/* Writes the file of the run in MPI_Finalize. Collective. */
void rw_online_stop(void);

/* tune-share.c implements the declarations below. */

/* The most shadow communicators of a communicator, and of a process, unless settings permit more. */
enum { RW_ONLINE_SHADOWS = 64, RW_ONLINE_ALL_SHADOWS = 512 };

/* Returns whether a process names a folder. Collective. */
int rw_online_is_wanted(void);
/* Returns NULL, or why no process is tuned, on rank 0. Collective. */
const char *rw_online_share(rw_online_run *run, int rank, int is_threaded);

/* online-file.c implements the declarations below. */

/* Gathers the records of all processes on rank 0; one that fails warns. Collective. */
void rw_online_gather(MPI_Comm comm, const rw_online_run *run);

/* call-file.c implements the declarations below. */

/* A file that appears when it is whole, with a checksum of its content. */
typedef struct rw_call_file rw_call_file;

/* Opens a new file in the folder. NULL, with the reason in errno. */
rw_call_file *rw_call_file_open(const char *folder);
void rw_call_file_put(rw_call_file *file, const void *bytes, size_t count);
/* Writes the checksum, and gives the file its name. Returns 0, or an error of the system; the file is removed then. */
int rw_call_file_close(rw_call_file *file, int is_whole);

#endif
