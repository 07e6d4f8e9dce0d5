/*
 * Collectives of MPI whose settings are chosen call by call, and recorded. Part of shim.h.
 */
#ifndef RANKWEAVE_ONLINE_H
#define RANKWEAVE_ONLINE_H

/*
 * --- online-words.c
 * ------------------------------------------------------------------------------------------------------
 */

/* Those that explore, and those that take the best. */
enum { RW_ONLINE_TUNING, RW_ONLINE_TUNED };

/* How a run tunes: numbers that all processes must give alike. */
typedef struct {
  double mode, calls, measured; /* of the world; the processes below this number record */
  double seed;                  /* -1: drawn */
} rw_online_words;

/* A word of RANKWEAVE_SHIM. 0: it is another one. */
int rw_online_word(char *word);
/* Says where an option stands alone. */
void rw_online_end_of_words(void);
/* The folder of the word `online:FOLDER`, or NULL. */
const char *rw_online_folder(void);
/* The folder that is there stays the same where the program changes its own. */
void rw_online_resolve(void);
/* A word that is wrong, with the reason; empty: there is none. */
const char *rw_online_wrong(void);
const rw_online_words *rw_online_own_words(void);

/*
 * --- online-model.c
 * ------------------------------------------------------------------------------------------------------
 */

/*
 * Settings that the running library may take, numbered by collective, and what was learned of them: `model` has a grid
 * of each collective that was, and its checksum is empty where nothing was. On one process, after the library's
 * begin. NULL: `wrong` says why.
 */
rw_tuning *rw_online_prepare(const char *folder, int mode, rw_tune_model *model, char *wrong, size_t room);
/* What this process runs on: `2 x AMD EPYC`, as `rankweave measure` names it. */
void rw_online_machine(char *name, size_t room);

/*
 * --- online-draw.c
 * -------------------------------------------------------------------------------------------------------
 */

/* Functions whose calls are chosen; -1: another one, else a number below RW_ONLINE_FUNCTIONS. */
enum { RW_ONLINE_FUNCTIONS = 4 };
int rw_online_place_of(int function);
int rw_online_function(int place);
/* As src/tuning/online/call-draw.ts: 0 to before 1. The collective is one of RW_TUNE_. */
double rw_online_draw(uint32_t seed, uint32_t communicator, uint32_t call, int collective);
/*
 * As src/tuning/online/probabilities.ts with its usual bounds: sums of probabilities up to each place. Weights are at least 0, one
 * above 0.
 */
void rw_online_sums(const double *weights, int count, double *sums);
/* The first place whose sum is at least this. */
int rw_online_place_of_draw(const double *sums, int count, double drawn);
/* The place of a collective among those that files of calls name. */
int rw_online_collective(int collective);
const char *rw_online_collective_name(int place);

/*
 * --- online-choice.c
 * -----------------------------------------------------------------------------------------------------
 */

/* A cell that is ready: numbers of settings, from 1, and sums of their probabilities. */
typedef struct {
  int count; /* -1: it is not */
  int32_t *numbers;
  double *sums;
} rw_online_cell;

/* Cells of one collective for one communicator. */
typedef struct {
  const rw_grid *grid; /* NULL: nothing was learned */
  int first_cell, intervals, mode;
  int eligible; /* settings that may serve */
  int32_t *numbers;
  rw_online_cell *cells; /* by interval of bytes */
} rw_online_choice;

/*
 * `numbers` of the settings that may serve, ascending, are the choice's afterwards, without those that the grid
 * excludes. 0: no memory.
 */
int rw_online_choice_make(rw_online_choice *choice, const rw_grid *grid, int mode, double nodes, double per_node,
                          int32_t *numbers, int count);
void rw_online_choice_free(rw_online_choice *choice);
/* As GridSelection of src/tuning/online: the number of a setting; 0: none is chosen. -1: no memory. */
int rw_online_choose(rw_online_choice *choice, double bytes, double drawn);

/*
 * --- online.c
 * ------------------------------------------------------------------------------------------------------------
 */

/* One process in one call, as src/tuning/online/call-records.ts defines it. */
typedef struct {
  double start, end;            /* us */
  uint32_t communicator, call;
  uint32_t bytes, packed;       /* 8 further bits of bytes, 4 of the collective, 12 of the setting */
} rw_online_record;

/* Whose calls are recorded. */
typedef struct {
  uint64_t key; /* alike on all members */
  int32_t nodes, per_node, processes, unused;
} rw_online_communicator;

/* What all processes of a run share. */
typedef struct {
  rw_online_words words;
  const rw_tuning *tuning;
  rw_tune_model model; /* grids, and its checksum */
} rw_online_run;

/* What hangs on a communicator. */
typedef struct rw_online rw_online;

/* A call that is counted, alike on all members. */
typedef struct {
  int is_chosen, is_recorded;
  uint32_t number; /* of those on the communicator that are chosen, from 0 */
} rw_online_call;

/* In MPI_Init. NULL, or why no process is tuned. The grids of the model are the run's afterwards. Collective. */
const char *rw_online_start(const rw_online_run *run, int rank);
/* NULL: online tuning is off. */
const rw_online_run *rw_online_running(void);
/* Of MPI_COMM_WORLD, or of a communicator whose creation was not seen: no call of it is recorded. NULL: no memory. */
rw_online *rw_online_make(int is_world, const rw_tune_call *shape);
void rw_online_free(rw_online *online);
/* A communicator is made from this one: half of the calls that this one has left are the other's. */
void rw_online_divide(rw_online *from, rw_online *to, int leader);
rw_online_call rw_online_count(rw_online *online);
/* The number of a setting of the collective; 0: none is chosen. -1: no memory. */
int rw_online_setting(rw_online *online, const rw_tune_call *shape, int function, double bytes, uint32_t call);
/* The call begins now. Its place among records; -1: it is not recorded. */
int rw_online_begin(rw_online *online, rw_online_call call, int collective, int number, int64_t bytes);
void rw_online_end(int place);
/* What this process has recorded: calls that have ended. */
int rw_online_records(const rw_online_record **records, const rw_online_communicator **communicators, int *communicator_count);
/* In MPI_Finalize: writes the file of the run. Collective. */
void rw_online_stop(void);

/*
 * --- tune-share.c
 * ---------------------------------------------------------------------------------------------------------
 */

/* Shadow communicators of a communicator, and of a process, unless settings permit more. */
enum { RW_ONLINE_SHADOWS = 64, RW_ONLINE_ALL_SHADOWS = 512 };

/* Whether a process names a folder. Collective. */
int rw_online_is_wanted(void);
/* NULL, or why no process is tuned, on rank 0. Collective. */
const char *rw_online_share(rw_online_run *run, int rank, int is_threaded);

/*
 * --- online-file.c
 * -------------------------------------------------------------------------------------------------------
 */

/* On rank 0 from all processes; one that fails warns. Collective. */
void rw_online_gather(MPI_Comm comm, const rw_online_run *run);

/*
 * --- call-file.c
 * -----------------------------------------------------------------------------------------------------
 */

/* A file that appears when it is whole, with a checksum of what was written. */
typedef struct rw_call_file rw_call_file;

/* A new one in the folder. NULL, with the reason in errno. */
rw_call_file *rw_call_file_open(const char *folder);
void rw_call_file_put(rw_call_file *file, const void *bytes, size_t count);
/* Writes the checksum, and gives the file its name. 0, or an error of the system; it is removed then. */
int rw_call_file_close(rw_call_file *file, int is_whole);

#endif
