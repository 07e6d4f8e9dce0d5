/* The request that rankweave_prepare.c makes and rankweave_run.c runs. */
#ifndef RANKWEAVE_REQUEST_H
#define RANKWEAVE_REQUEST_H

#include "rankweave_program.h"

/* The area that holds a value. */
enum { in_store, in_send_buffer, in_receive_buffer, areas };

/*
 * The MPI requests are those of the receives, then those of the sends. Receives that a send or combination
 * waits for come first. While these are incomplete, they are tested one by one; the rest is awaited at once.
 * With gates all requests are tested one by one, sends included.
 */
struct rw_request {
  const struct rw_program *program;
  MPI_Comm comm;
  int tag;
  rw_combine *combine;
  void *context;
  /*
   * Tasks are the sends, then the combinations; with gates, then the gates and the posts of the receives.
   * Bringers are the receives, then the combinations; with gates, then the gates and the sends.
   */
  int32_t values, tasks, bringers;
  unsigned char *base[areas];      /* the store, the caller's buffers */
  unsigned char *area;             /* area of every value */
  size_t *bytes;                   /* length of every value */
  MPI_Aint *at;                    /* offset of every value in its area */
  MPI_Aint *own_at, *slot_at;
  size_t own_run;                  /* bytes of own blocks if the store holds them as the send buffer does, else 0 */
  int32_t *needs, *missing;        /* number of bringers that each task waits for */
  int32_t *use_start, *use;        /* tasks that wait for each bringer */
  int32_t *fill_start, *fill;      /* slots to fill for each bringer, and last those that the start fills */
  int32_t *ready;                  /* tasks, in the order in which they became ready */
  int32_t *order;                  /* the message of the k-th receive request */
  int32_t awaited;                 /* receives that tasks wait for */
  int32_t watched;                 /* number of first requests that are tested one by one */
  int *send_tag, *receive_tag;
  int *send_bytes, *receive_bytes;
  unsigned char **send_from;       /* place of each message in the request; NULL: in the caller's */
  unsigned char *is_packed;        /* whether its values are copied there when it is sent */
  unsigned char *store, *packed;
  MPI_Request *requests;
  int *indices;                    /* indices of completed requests */
  MPI_Status *statuses;            /* some compilers refuse MPI_STATUSES_IGNORE of MPICH */
  int all_persistent;              /* all receives are */
  int is_active, is_broken;
  int32_t watched_left;
};

/* Returns the number of the first value that no message brings. */
int32_t rw_arrivals_end(const struct rw_program *program);

/*
 * Numbers the tags of all messages with these peers, beginning with `tag`, unless tags is NULL. Returns the
 * largest number of messages with one peer, -1 if there is no memory.
 */
int32_t rw_number_messages(const struct rw_program *program, const int32_t *peer, int32_t count, int tag, int *tags);

#endif
