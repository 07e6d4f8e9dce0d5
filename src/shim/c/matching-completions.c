/* This file intercepts calls of C that complete or cancel receives. */
#include "shim.h"

static MPI_Status *given(MPI_Status *status) { return status == MPI_STATUS_IGNORE ? NULL : status; }

static MPI_Status *all_given(MPI_Status *statuses) { return statuses == MPI_STATUSES_IGNORE ? NULL : statuses; }

static int is_seen(void) { return rw_matching_is_on && rw_matching_awaits(); }

RW_EXPORT int MPI_Wait(MPI_Request *request, MPI_Status *status) {
  rw_completion c;
  if (!is_seen()) return rw_next.Wait(request, status);
  rw_completion_begin(&c, 1, request, given(status));
  int code = rw_next.Wait(request, c.statuses);
  if (code == MPI_SUCCESS) rw_completion_note(&c, 0, c.statuses);
  rw_completion_end(&c);
  return code;
}

RW_EXPORT int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
  rw_completion c;
  if (!is_seen()) return rw_next.Test(request, flag, status);
  rw_completion_begin(&c, 1, request, given(status));
  int code = rw_next.Test(request, flag, c.statuses);
  if (code == MPI_SUCCESS && *flag) rw_completion_note(&c, 0, c.statuses);
  rw_completion_end(&c);
  return code;
}

/* Errors of single requests are in their statuses. */
static int is_done(int code, const MPI_Status *status) {
  return code == MPI_SUCCESS || (code == MPI_ERR_IN_STATUS && status->MPI_ERROR == MPI_SUCCESS);
}

static int note_all(rw_completion *c, int count, int code) {
  for (int i = 0; c->all != NULL && i < count; i++)
    if (is_done(code, &c->statuses[i])) rw_completion_note(c, i, &c->statuses[i]);
  rw_completion_end(c);
  return code;
}

RW_EXPORT int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  rw_completion c;
  if (!is_seen()) return rw_next.Waitall(count, requests, statuses);
  rw_completion_begin(&c, count, requests, all_given(statuses));
  return note_all(&c, count, rw_next.Waitall(count, requests, c.statuses));
}

RW_EXPORT int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
  rw_completion c;
  if (!is_seen()) return rw_next.Testall(count, requests, flag, statuses);
  rw_completion_begin(&c, count, requests, all_given(statuses));
  int code = rw_next.Testall(count, requests, flag, c.statuses);
  return note_all(&c, code == MPI_SUCCESS && *flag ? count : 0, code);
}

static int note_any(rw_completion *c, int index, int code, const MPI_Status *status) {
  if (code == MPI_SUCCESS && index != MPI_UNDEFINED) rw_completion_note(c, index, status);
  rw_completion_end(c);
  return code;
}

/* These calls have one status, however many requests there are. */
RW_EXPORT int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
  rw_completion c;
  MPI_Status own;
  if (!is_seen()) return rw_next.Waitany(count, requests, index, status);
  if (status == MPI_STATUS_IGNORE) status = &own;
  rw_completion_begin(&c, count, requests, status);
  int code = rw_next.Waitany(count, requests, index, status);
  return note_any(&c, *index, code, status);
}

RW_EXPORT int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
  rw_completion c;
  MPI_Status own;
  if (!is_seen()) return rw_next.Testany(count, requests, index, flag, status);
  if (status == MPI_STATUS_IGNORE) status = &own;
  rw_completion_begin(&c, count, requests, status);
  int code = rw_next.Testany(count, requests, index, flag, status);
  return note_any(&c, code == MPI_SUCCESS && *flag ? *index : MPI_UNDEFINED, code, status);
}

static int note_some(rw_completion *c, int done, const int indices[], int code) {
  for (int i = 0; c->all != NULL && done != MPI_UNDEFINED && i < done; i++)
    if (is_done(code, &c->statuses[i])) rw_completion_note(c, indices[i], &c->statuses[i]);
  rw_completion_end(c);
  return code;
}

RW_EXPORT int MPI_Waitsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
  rw_completion c;
  if (!is_seen()) return rw_next.Waitsome(count, requests, done, indices, statuses);
  rw_completion_begin(&c, count, requests, all_given(statuses));
  int code = rw_next.Waitsome(count, requests, done, indices, c.statuses);
  return note_some(&c, *done, indices, code);
}

RW_EXPORT int MPI_Testsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) {
  rw_completion c;
  if (!is_seen()) return rw_next.Testsome(count, requests, done, indices, statuses);
  rw_completion_begin(&c, count, requests, all_given(statuses));
  int code = rw_next.Testsome(count, requests, done, indices, c.statuses);
  return note_some(&c, *done, indices, code);
}

RW_EXPORT int MPI_Cancel(MPI_Request *request) {
  if (is_seen()) rw_matching_cancel(*request);
  return rw_next.Cancel(request);
}
