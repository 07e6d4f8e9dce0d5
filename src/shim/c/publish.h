/*
 * What the parts of publishing share: publish.c has the memory and its life, exchange.c the calls, reading.c what they read,
 * loans.c long blocks.
 */
#ifndef RANKWEAVE_PUBLISH_H
#define RANKWEAVE_PUBLISH_H

#include "shim.h"

#include <pthread.h>

/* One end of an edge. */
typedef struct {
  int slot;    /* of the receive buffer; or the block of the send buffer */
  int rank;    /* of the world */
  int process; /* of the node; -1: another node */
  /* Of a process of the node, once they are found: its entry; of a source, its first place for this rank. */
  const rw_entry *entry;
  const char *place;
  size_t stride; /* bytes to that of the next call */
} rw_end;

/*
 * A place is a line: the call whose block it holds and one more, stored last, then a block that is short
 * enough, so that it is in the line that its reader polls. A longer one is elsewhere.
 */
typedef struct {
  uint64_t calls;
  uint32_t length;
  char data[RW_LINE - 12];
} rw_place;

enum { RW_IN_PLACE = RW_LINE - 12 };

/*
 * By length: blocks in their place, those up to the limit of the arena, longer ones that are copied, and those that
 * readers read in the memory of the program.
 */
enum { RW_IN_LINE, RW_SHORT, RW_LONG, RW_LENT, RW_KINDS };

struct rw_exchange {
  rw_publisher *publisher;
  rw_exchange *after; /* the next one that is not read */
  uint64_t call;
  rw_buffer to;
  MPI_Datatype own_type; /* a duplicate for an unpack after the program has freed its type */
  int next;              /* of the sources on the node */
  int receives, requests;
  unsigned polls;
  MPI_Request *request; /* receives, then sends */
  int64_t longest;       /* bytes; a longer block is sent as a message whose receive is posted */
  int loans;             /* blocks that are, so the call ends when they are read */
  char *packed;          /* those of a derived type */
  int awaited;           /* blocks to read whose senders may wait for this rank; has_read is by source */
  unsigned char *has_read;
  int code, is_read, is_done;
};

struct rw_publisher {
  rw_publishers *all;
  int collective, number, is_made, is_shared;
  int was_direct; /* in the call that was begun last a block was sent */
  rw_entry *entry;
  pthread_mutex_t lock;
  uint64_t started, consumed; /* calls; consumed by all readers */
  uint64_t next_try[RW_KINDS]; /* the call at which memory for a kind is asked for again */
  size_t limit; /* bytes of the longest block that is copied */
  int slowest;                /* a reader that had not consumed enough */
  size_t ring, ring_lines, first_line; /* the own lines: a table, then a place for every block, call by call */
  size_t blocks;                  /* of a call */
  size_t space[RW_KINDS];         /* first unit for blocks of a kind that are not in their place */
  int sources, readers; /* on the node; those of other nodes follow */
  int all_sources, all_readers;
  rw_end *source, *reader;
  rw_exchange *first, *last; /* those that are not read */
  rw_exchange own;           /* of calls that block */
  MPI_Request *own_request;
  unsigned char *own_has_read;
  unsigned char *is_behind; /* while blocks are read ahead, by process: one that comes earlier is not there */
  char *copy; /* of a block that came as a message */
};

struct rw_publishers {
  rw_publishers *after; /* among those that are closed */
  MPI_Comm comm;
  int number, is_closed;
  int users; /* exchanges */
  rw_entry *entry;
  rw_publisher each[RW_COLLECTIVES];
};

/* Whether blocks of up to so many bytes can be published in a call. */
int rw_publisher_has_place(rw_publisher *publisher, uint64_t call, int64_t bytes);
/* Where the block of a reader goes in a call; data is the memory of its bytes, or of its address if it is lent. */
rw_place *rw_publisher_place(rw_publisher *publisher, int reader, uint64_t call, int64_t bytes, char **data);
/* Where that was. */
const rw_place *rw_publisher_place_of(const rw_publisher *publisher, int reader, uint64_t call);
/* The block of a source in a call; NULL: it is not there. */
const rw_place *rw_publisher_find(const rw_publisher *publisher, rw_end *source, uint64_t call);
/* Of a block that is not lent. */
const char *rw_place_data(const rw_place *place, int process);
/* Lends a block where it lies, or its packed bytes at `packed`; `data` is that of its place. */
int rw_loan_make(rw_exchange *exchange, const rw_buffer *from, int block, char *packed, char *data);
int rw_loan_read(const rw_exchange *exchange, const rw_end *source, const rw_place *place);
/* Readers have read what this rank lends in the call. */
int rw_loans_are_read(rw_exchange *exchange);
static inline int rw_first_error(int first, int second) { return first == MPI_SUCCESS ? second : first; }
/* Whether a block on the node is sent as a message whose receive is posted. */
static inline int rw_is_apart(const rw_exchange *x, const rw_buffer *buffer, int block) {
  return rw_buffer_bytes(buffer, block) > x->longest;
}
/* Whether these requests of the exchange are complete. */
int rw_exchange_test_all(rw_exchange *exchange, int first, int end);
/* Before the first block of the call is read. */
void rw_reading_begin(rw_exchange *exchange);
/* Reads what is there, of all calls that are not read. */
void rw_reading_advance(rw_publisher *publisher);
/* The exchange is over. */
void rw_publishers_leave(rw_publishers *all);

#endif
