/* This file intercepts calls of Fortran that complete or cancel receives. Indices count from 1. */
#include "matching-fortran.h"

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

RW_ENTRIES(wait, (MPI_Fint * request, MPI_Fint *status, MPI_Fint *code), (request, status, code), {
  completion f;
  if (!is_seen()) {
    library(request, status, code);
    return;
  }
  begin(&f, 1, request, 1, status);
  library(request, f.statuses, code);
  if (*code == MPI_SUCCESS) note(&f, 0, 0);
  end(&f);
})

RW_LOGICAL_ENTRIES(test, (MPI_Fint * request, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *code), (request, flag, status, code), {
  completion f;
  if (!is_seen()) {
    library(request, flag, status, code);
    return;
  }
  begin(&f, 1, request, 1, status);
  library(request, flag, f.statuses, code);
  if (*code == MPI_SUCCESS && *flag) note(&f, 0, 0);
  end(&f);
})

RW_ENTRIES(waitall, (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *statuses, MPI_Fint *code),
           (count, requests, statuses, code), {
             completion f;
             if (!is_seen()) {
               library(count, requests, statuses, code);
               return;
             }
             begin(&f, *count, requests, *count, statuses);
             library(count, requests, f.statuses, code);
             for (int i = 0; *code == MPI_SUCCESS && i < *count; i++) note(&f, i, i);
             end(&f);
           })

RW_LOGICAL_ENTRIES(testall, (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *flag, MPI_Fint *statuses, MPI_Fint *code),
           (count, requests, flag, statuses, code), {
             completion f;
             if (!is_seen()) {
               library(count, requests, flag, statuses, code);
               return;
             }
             begin(&f, *count, requests, *count, statuses);
             library(count, requests, flag, f.statuses, code);
             for (int i = 0; *code == MPI_SUCCESS && *flag && i < *count; i++) note(&f, i, i);
             end(&f);
           })

RW_ENTRIES(waitany, (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *index, MPI_Fint *status, MPI_Fint *code),
           (count, requests, index, status, code), {
             completion f;
             if (!is_seen()) {
               library(count, requests, index, status, code);
               return;
             }
             begin(&f, *count, requests, 1, status);
             library(count, requests, index, f.statuses, code);
             if (*code == MPI_SUCCESS && *index != MPI_UNDEFINED) note(&f, *index - 1, 0);
             end(&f);
           })

RW_LOGICAL_ENTRIES(testany,
           (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *index, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *code),
           (count, requests, index, flag, status, code), {
             completion f;
             if (!is_seen()) {
               library(count, requests, index, flag, status, code);
               return;
             }
             begin(&f, *count, requests, 1, status);
             library(count, requests, index, flag, f.statuses, code);
             if (*code == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED) note(&f, *index - 1, 0);
             end(&f);
           })

#define SOME(entries, name)                                                                                              \
  entries(name,                                                                                              \
             (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *done, MPI_Fint *indices, MPI_Fint *statuses,      \
              MPI_Fint *code),                                                                                  \
             (count, requests, done, indices, statuses, code), {                                                \
               completion f;                                                                                    \
               if (!is_seen()) {                                                                                \
                 library(count, requests, done, indices, statuses, code);                                       \
                 return;                                                                                        \
               }                                                                                                \
               begin(&f, *count, requests, *count, statuses);                                                   \
               library(count, requests, done, indices, f.statuses, code);                                       \
               for (int i = 0; *code == MPI_SUCCESS && *done != MPI_UNDEFINED && i < *done; i++)                \
                 note(&f, indices[i] - 1, i);                                                                   \
               end(&f);                                                                                         \
             })

SOME(RW_ENTRIES, waitsome)
SOME(RW_LOGICAL_ENTRIES, testsome)

RW_ENTRIES(cancel, (MPI_Fint * request, MPI_Fint *code), (request, code), {
  if (is_seen()) rw_matching_cancel(MPI_Request_f2c(*request));
  library(request, code);
})

#endif
