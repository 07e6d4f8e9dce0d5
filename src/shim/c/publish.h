/*
 * The common declarations of publishing: publish.c has the memory and its life, exchange.c the calls, reading.c the
 * reads, loans.c long blocks.
 */
#ifndef RANKWEAVE_PUBLISH_H
#define RANKWEAVE_PUBLISH_H

#include "shim.h"

#include <pthread.h>

/* An end of an edge. */
typedef struct {
  int slot;    /* slot of the receive buffer, or block of the send buffer */
  int last;    /* slot of a source if parallel edges arrive in reverse order */
  int nth;     /* number of parallel edges from a source before this one */
  int rank;    /* rank in the world */
  int process; /* process of the node; -1: another node */
  /* The entry of a process of the node, once found; and a source's first place for this rank. */
  const rw_entry *entry;
  const char *place;
  size_t stride; /* bytes to the place of the next call */
} rw_end;

/*
 * A place is a line. It holds the call of its block plus one, stored last. A short block is in the same line, which
 * its reader polls. A longer block is elsewhere.
 */
typedef struct {
  uint64_t calls;
  uint32_t length;
  char data[RW_LINE - 12];
} rw_place;

enum { RW_IN_PLACE = RW_LINE - 12 };

/*
 * The kinds of blocks by length: those in their place, those up to the limit of the arena, and longer ones that are
 * copied. Readers read lent blocks in the memory of the program.
 */
enum { RW_IN_LINE, RW_SHORT, RW_LONG, RW_LENT, RW_KINDS };

struct rw_exchange {
  rw_publisher *publisher;
  rw_exchange *after; /* next exchange that is not read */
  uint64_t call;
  rw_buffer to;
  MPI_Datatype own_type; /* a duplicate for an unpack after the program has freed its type */
  int next;              /* next source on the node */
  int receives, requests;
  unsigned polls;
  MPI_Request *request; /* receives, then sends */
  int64_t longest;       /* bytes; a longer block is sent as a message whose receive is posted */
  int loans;             /* lent blocks: the call ends when they are read */
  char *packed;          /* blocks of a derived type, packed */
  int awaited;           /* blocks to read whose senders may wait for this rank; has_read is by source */
  unsigned char *has_read;
  int code, is_read, is_done;
};

struct rw_publisher {
  rw_publishers *all;
  int collective, number, is_made, is_shared;
  int was_direct; /* whether the last call sent a block directly */
  rw_entry *entry;
  pthread_mutex_t lock;
  uint64_t started, consumed; /* calls; consumed by all readers */
  uint64_t next_try[RW_KINDS]; /* the call at which memory for a kind is asked for again */
  size_t limit; /* bytes of the longest block that is copied */
  int slowest;                /* a reader that had not consumed enough */
  size_t ring, ring_lines, first_line; /* the own lines: a table, then a place for every block, call by call */
  size_t blocks;                  /* blocks of a call */
  size_t space[RW_KINDS];         /* first unit for blocks of a kind that are not in their place */
  int sources, readers; /* numbers of ends on the node; ends on other nodes follow */
  int all_sources, all_readers;
  rw_end *source, *reader;
  rw_exchange *first, *last; /* exchanges that are not read */
  rw_exchange own;           /* the exchange of blocking calls */
  MPI_Request *own_request;
  unsigned char *own_has_read;
  unsigned char *is_behind; /* whether an earlier block of a process is missing, while blocks are read ahead */
  char *copy; /* a block that came as a message */
};

struct rw_publishers {
  rw_publishers *after; /* next among the closed ones */
  MPI_Comm comm;
  int number, is_closed;
  int users; /* number of exchanges */
  int has_entry; /* the first call made an entry, or was refused one */
  rw_entry *entry;
  rw_publisher each[RW_COLLECTIVES];
};

/* Returns whether blocks of up to so many bytes can be published in a call. */
int rw_publisher_has_place(rw_publisher *publisher, uint64_t call, int64_t bytes);
/*
 * Returns the place for a reader's block in a call; `data` is the memory of its bytes, or of its address if it is
 * lent.
 */
rw_place *rw_publisher_place(rw_publisher *publisher, int reader, uint64_t call, int64_t bytes, char **data);
/* Returns the place that a reader's block had in a call. */
const rw_place *rw_publisher_place_of(const rw_publisher *publisher, int reader, uint64_t call);
/* Returns the block of a source in a call; NULL: it has not arrived. */
const rw_place *rw_publisher_find(const rw_publisher *publisher, rw_end *source, uint64_t call);
/* Returns the data of a block that is not lent. */
const char *rw_place_data(const rw_place *place, int process);
/* Lends a block in its memory, or its packed bytes at `packed`; `data` is that of its place. */
int rw_loan_make(rw_exchange *exchange, const rw_buffer *from, int block, char *packed, char *data);
int rw_loan_read(const rw_exchange *exchange, const rw_end *source, const rw_place *place);
/* Returns whether readers have read all that this rank lends in the call. */
int rw_loans_are_read(rw_exchange *exchange);
/* Returns the slot of the receive buffer for the next block of a source. */
static inline int rw_slot(const rw_exchange *x, const rw_end *source) { return x->to.is_reversed ? source->last : source->slot; }
/* Returns whether a block on the node is sent as a message whose receive is posted. */
static inline int rw_is_apart(const rw_exchange *x, const rw_buffer *buffer, int block) {
  return rw_buffer_bytes(buffer, block) > x->longest;
}
/* Returns whether these requests of the exchange are complete. */
int rw_exchange_test_all(rw_exchange *exchange, int first, int end);
/* Begins to read, before the first block of the call. */
void rw_reading_begin(rw_exchange *exchange);
/* Reads the blocks that have arrived, of all calls that are not read. */
void rw_reading_advance(rw_publisher *publisher);
/* Notes that an exchange is over. */
void rw_publishers_leave(rw_publishers *all);

#endif
