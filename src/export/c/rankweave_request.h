/* What rankweave_prepare.c makes and rankweave_run.c runs. */
#ifndef RANKWEAVE_REQUEST_H
#define RANKWEAVE_REQUEST_H

#include "rankweave_program.h"

/* Where a value is. */
enum { in_store, in_send_buffer, in_receive_buffer, areas };

/*
 * The MPI requests are those of the receives, then of the sends. Receives that a send or combination waits
 * for come first: while these are incomplete there is work to do, and what remains then is waited for all at
 * once. With gates all of them are such, sends included.
 */
struct rw_request {
  const struct rw_program *program;
  MPI_Comm comm;
  int tag;
  rw_combine *combine;
  void *context;
  /*
   * Tasks: sends, then combinations; with gates then the gates, and the posts of the receives. Bringers:
   * receives, then combinations; with gates then the gates, and the sends.
   */
  int32_t values, tasks, bringers;
  unsigned char *base[areas];      /* the store, the caller's buffers */
  unsigned char *area;             /* of every value */
  size_t *bytes;                   /* of every value */
  MPI_Aint *at;                    /* of every value, from the base of its area */
  MPI_Aint *own_at, *slot_at;
  size_t own_run;                  /* bytes of the own blocks if they lie in the store as in the send buffer, else 0 */
  int32_t *needs, *missing;        /* of every task: the bringers it waits for */
  int32_t *use_start, *use;        /* of every bringer: the tasks that wait for it */
  int32_t *fill_start, *fill;      /* of every bringer, and at last of what is there at the start: slots to fill */
  int32_t *ready;                  /* tasks, in the order in which they became ready */
  int32_t *order;                  /* the message of the k-th receive request */
  int32_t awaited;                 /* receives that tasks wait for */
  int32_t watched;                 /* the first requests, which are looked at one by one */
  int *send_tag, *receive_tag;
  int *send_bytes, *receive_bytes;
  unsigned char **send_from;       /* where in the request a message lies, NULL if it is sent from the caller's memory */
  unsigned char *is_packed;        /* whether its values are copied there when it is sent */
  unsigned char *store, *packed;
  MPI_Request *requests;
  int *indices;                    /* of requests that are complete */
  MPI_Status *statuses;            /* some compilers refuse MPI_STATUSES_IGNORE of MPICH */
  int all_persistent;              /* all receives are */
  int is_active, is_broken;
  int32_t watched_left;
};

/* The first value that no message brings. */
int32_t rw_arrivals_end(const struct rw_program *program);

/*
 * The tag of every message with these peers, beginning with `tag`, unless tags is NULL. Returns the largest
 * number of messages with one peer, -1 if there is no memory.
 */
int32_t rw_number_messages(const struct rw_program *program, const int32_t *peer, int32_t count, int tag, int *tags);

#endif
