/* This file intercepts calls of Fortran that complete or cancel receives. Indices count from 1. */
#include "fortran.h"

#include <stdlib.h>

#ifdef OPEN_MPI

/* The requests in C form, and the statuses of the program, or substitutes if it wants none. */
typedef struct {
  rw_completion c;
  MPI_Request few[RW_AWAITED], *requests;
  MPI_Fint own[RW_AWAITED * RW_FORTRAN_STATUS], *statuses, *made;
} completion;

static int is_seen(void) { return rw_matching_is_on && rw_matching_awaits(); }

/*
 * Begins a completion; `results` is the number of statuses that the call writes. Without memory nothing is
 * recorded.
 */
static void begin(completion *f, int count, const MPI_Fint *requests, int results, MPI_Fint *statuses) {
  f->made = NULL;
  f->requests = count > RW_AWAITED ? malloc(sizeof *f->requests * (size_t)count) : f->few;
  if (rw_fortran_ignores(statuses) && f->requests != NULL) {
    if (results > RW_AWAITED) f->made = malloc(sizeof *f->made * RW_FORTRAN_STATUS * (size_t)results);
    if (results <= RW_AWAITED) statuses = f->own;
    else if (f->made != NULL) statuses = f->made;
  }
  f->statuses = statuses;
  if (f->requests == NULL || rw_fortran_ignores(statuses)) {
    f->c.all = NULL;
    return;
  }
  for (int i = 0; i < count; i++) f->requests[i] = MPI_Request_f2c(requests[i]);
  rw_completion_begin(&f->c, count, f->requests, f->c.own);
}

/* Notes that request `i` is complete, with status `s` of those written. */
static void note(const completion *f, int i, int s) {
  MPI_Status status;
  if (f->c.all != NULL && PMPI_Status_f2c(f->statuses + s * RW_FORTRAN_STATUS, &status) == MPI_SUCCESS)
    rw_completion_note(&f->c, i, &status);
}

static void end(completion *f) {
  rw_completion_end(&f->c);
  if (f->requests != f->few) free(f->requests);
  free(f->made);
}

static void note_all(const completion *f, int count) {
  for (int i = 0; i < count; i++) note(f, i, i);
}

/* Notes the requests whose indices the call has written. MPI_UNDEFINED, which is negative, is no count and no index. */
static void note_found(const completion *f, int count, const MPI_Fint *indices) {
  for (int i = 0; i < count; i++)
    if (indices[i] != MPI_UNDEFINED) note(f, indices[i] - 1, i);
}

/* Entry points of a call that `noted` describes once it has returned; `seen` are its arguments with statuses to read. */
#define COMPLETION(entries, name, parameters, arguments, begun, seen, noted) \
  entries(name, parameters, {                                                \
    completion f;                                                            \
    if (!is_seen()) {                                                        \
      library arguments;                                                     \
      return;                                                                \
    }                                                                        \
    begin begun;                                                             \
    library seen;                                                            \
    if (*code == MPI_SUCCESS) noted;                                         \
    end(&f);                                                                 \
  })

COMPLETION(RW_ENTRIES, wait, (MPI_Fint * request, MPI_Fint *status, MPI_Fint *code), (request, status, code),
           (&f, 1, request, 1, status), (request, f.statuses, code), note(&f, 0, 0))
COMPLETION(RW_LOGICAL_ENTRIES, test, (MPI_Fint * request, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *code),
           (request, flag, status, code), (&f, 1, request, 1, status), (request, flag, f.statuses, code),
           note_all(&f, *flag != 0))
COMPLETION(RW_ENTRIES, waitall, (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *statuses, MPI_Fint *code),
           (count, requests, statuses, code), (&f, *count, requests, *count, statuses), (count, requests, f.statuses, code),
           note_all(&f, *count))
COMPLETION(RW_LOGICAL_ENTRIES, testall,
           (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *flag, MPI_Fint *statuses, MPI_Fint *code),
           (count, requests, flag, statuses, code), (&f, *count, requests, *count, statuses),
           (count, requests, flag, f.statuses, code), note_all(&f, *flag ? *count : 0))
COMPLETION(RW_ENTRIES, waitany, (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *index, MPI_Fint *status, MPI_Fint *code),
           (count, requests, index, status, code), (&f, *count, requests, 1, status),
           (count, requests, index, f.statuses, code), note_found(&f, 1, index))
COMPLETION(RW_LOGICAL_ENTRIES, testany,
           (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *index, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *code),
           (count, requests, index, flag, status, code), (&f, *count, requests, 1, status),
           (count, requests, index, flag, f.statuses, code), note_found(&f, *flag != 0, index))

#define SOME(entries, name)                                                                                       \
  COMPLETION(entries, name,                                                                                       \
             (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *done, MPI_Fint *indices, MPI_Fint *statuses,        \
              MPI_Fint *code),                                                                                    \
             (count, requests, done, indices, statuses, code), (&f, *count, requests, *count, statuses),          \
             (count, requests, done, indices, f.statuses, code), note_found(&f, *done, indices))

SOME(RW_ENTRIES, waitsome)
SOME(RW_LOGICAL_ENTRIES, testsome)

RW_ENTRIES(cancel, (MPI_Fint * request, MPI_Fint *code), {
  if (is_seen()) rw_matching_cancel(MPI_Request_f2c(*request));
  library(request, code);
})

#endif
