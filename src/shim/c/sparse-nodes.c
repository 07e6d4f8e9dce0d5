/*
 * Short blocks of an all-to-all to ranks of other nodes, combined: each rank sends those of a call to the leader of its
 * node in one message, leaders send each other one message, and each rank gets one message from its leader. Both ranks
 * of a block know its length, so they agree without a message which blocks take this way. A message has items: the
 * destination, the source, the bytes, and the data as MPI packs them.
 */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

/* The bytes of the longest block that is combined, of the shortest for which it is worth it, and of a buffer. */
enum { LONGEST = 1024, SHORTEST = 64, BUFFER = 8 << 20 };
/* The bytes by which a block may be longer as MPI packs it. */
enum { PADDING = 64 };
enum { UP_TAG = 1, ACROSS_TAG, DOWN_TAG };

typedef struct {
  int destination, source, bytes;
} head;

/* A message as it is made. */
typedef struct {
  char *data;
  size_t bytes;
} message;

struct rw_combiner {
  MPI_Comm comm;
  rw_layout layout;
  int rank, node, leader, ranks_here, limit;
  size_t room; /* bytes that a rank sends its leader at most */
  char *sent, *received; /* messages up and down of a rank that does not lead */
  message *across, *down; /* messages of a leader to other nodes and to its ranks */
  char *from_ranks, *from_nodes;
  size_t *from_node; /* the place of the message of each node */
  MPI_Request *requests;
  MPI_Status *statuses;
};

int rw_combines(const rw_combiner *c, int peer, int64_t bytes) {
  return c->layout.node[peer] != c->node && bytes <= c->limit;
}

static int is_leader(const rw_combiner *c) { return c->rank == c->leader; }

static int ranks_of(const rw_combiner *c, int node) { return c->layout.start[node + 1] - c->layout.start[node]; }

/* The bytes of messages with an item for each pair of a rank of one side and one of the other, at most. */
static size_t room_of(const rw_combiner *c, int from, int to) {
  return (size_t)from * (size_t)to * (sizeof(head) + (size_t)c->limit + PADDING);
}

static int allocate(rw_combiner *c, int ranks) {
  int others = ranks - c->ranks_here, nodes = c->layout.nodes, here = c->ranks_here;
  size_t requests = 2 * (size_t)(here + nodes);
  c->requests = malloc(requests * sizeof *c->requests);
  c->statuses = malloc(requests * sizeof *c->statuses);
  c->room = room_of(c, 1, others);
  if (c->requests == NULL || c->statuses == NULL) return 0;
  if (!is_leader(c)) return (c->sent = malloc(c->room)) != NULL && (c->received = malloc(c->room)) != NULL;
  c->across = calloc((size_t)nodes, sizeof *c->across);
  c->down = calloc((size_t)here, sizeof *c->down);
  c->from_ranks = malloc(c->room * (size_t)here);
  c->from_nodes = malloc(c->room * (size_t)here);
  c->from_node = calloc((size_t)nodes, sizeof *c->from_node);
  int is_there = c->across != NULL && c->down != NULL && c->from_ranks != NULL && c->from_nodes != NULL && c->from_node != NULL;
  size_t place = 0;
  for (int node = 0; is_there && node < nodes; node++) {
    if (node == c->node) continue;
    c->from_node[node] = place;
    place += room_of(c, ranks_of(c, node), here);
    is_there = (c->across[node].data = malloc(room_of(c, here, ranks_of(c, node)))) != NULL;
  }
  for (int i = 0; is_there && i < here; i++) is_there = (c->down[i].data = malloc(c->room)) != NULL;
  return is_there;
}

rw_combiner *rw_combiner_make(MPI_Comm comm) {
  int ranks = 0, is_made;
  rw_combiner *c = calloc(1, sizeof *c);
  if (rw_agree_on_memory(comm, c != NULL) != MPI_SUCCESS) {
    free(c);
    return NULL;
  }
  c->comm = comm;
  PMPI_Comm_rank(comm, &c->rank);
  PMPI_Comm_size(comm, &ranks);
  is_made = rw_layout_make(comm, (int)rw_world_settings()->cores, &c->layout) == MPI_SUCCESS;
  if (is_made && c->layout.nodes > 1 && c->layout.largest > 1) {
    c->node = c->layout.node[c->rank];
    c->leader = c->layout.ranks[c->layout.start[c->node]];
    c->ranks_here = ranks_of(c, c->node);
    /* The longest that no buffer of any leader is too small for: equal on all ranks. */
    int64_t items = (int64_t)c->layout.largest * ranks, limit = BUFFER / items - (int64_t)sizeof(head) - PADDING;
    c->limit = (int)(limit < LONGEST ? limit : LONGEST);
    is_made = c->limit >= SHORTEST && allocate(c, ranks);
  } else is_made = 0;
  if (rw_agree_on_memory(comm, is_made) == MPI_SUCCESS) return c;
  rw_combiner_free(c);
  return NULL;
}

void rw_combiner_free(rw_combiner *c) {
  if (c == NULL) return;
  for (int node = 0; c->across != NULL && node < c->layout.nodes; node++) free(c->across[node].data);
  for (int i = 0; c->down != NULL && i < c->ranks_here; i++) free(c->down[i].data);
  rw_layout_free(&c->layout);
  free(c->sent);
  free(c->received);
  free(c->across);
  free(c->down);
  free(c->from_ranks);
  free(c->from_nodes);
  free(c->from_node);
  free(c->requests);
  free(c->statuses);
  free(c);
}

/* Adds a block as MPI packs it. Returns a code of MPI. */
static int pack(const rw_combiner *c, message *m, int destination, const rw_blocks *from) {
  head h = {destination, c->rank, 0};
  char *at = m->data + m->bytes;
  int code = PMPI_Pack(rw_block_place(from, destination), from->counts[destination], rw_block_type(from, destination),
                       at + sizeof h, c->limit + PADDING, &h.bytes, c->comm);
  memcpy(at, &h, sizeof h);
  if (code == MPI_SUCCESS) m->bytes += sizeof h + (size_t)h.bytes;
  return code;
}

/* Puts data in their place. Data longer than MPI packs those of the place are an error. */
static int unpack(const rw_combiner *c, const head *h, const char *data, const rw_blocks *to) {
  int position = 0, most = 0;
  int code = PMPI_Pack_size(to->counts[h->source], rw_block_type(to, h->source), c->comm, &most);
  if (code != MPI_SUCCESS || h->bytes > most) return rw_first_error(code, MPI_ERR_TRUNCATE);
  return PMPI_Unpack(data, h->bytes, &position, rw_block_place(to, h->source), to->counts[h->source],
                     rw_block_type(to, h->source), c->comm);
}

/* Takes the items of a message: those of this rank into their places, others into `messages` by node or by rank. */
static int sort(const rw_combiner *c, const char *data, int bytes, message *messages, const int *number, const rw_blocks *to) {
  int code = MPI_SUCCESS;
  for (head h; bytes > 0; data += sizeof h + (size_t)h.bytes, bytes -= (int)sizeof h + h.bytes) {
    memcpy(&h, data, sizeof h);
    if (h.destination == c->rank) {
      code = rw_first_error(code, unpack(c, &h, data + sizeof h, to));
      continue;
    }
    message *m = &messages[number[h.destination]];
    memcpy(m->data + m->bytes, data, sizeof h + (size_t)h.bytes);
    m->bytes += sizeof h + (size_t)h.bytes;
  }
  return code;
}

/* Packs the blocks that go to other nodes: into a message for each node, or into one message. */
static int pack_all(const rw_combiner *c, message *messages, int is_by_node, const rw_blocks *from) {
  int code = MPI_SUCCESS, ranks = c->layout.start[c->layout.nodes];
  for (int peer = 0; peer < ranks; peer++) {
    int64_t bytes = rw_block_bytes(from, peer);
    if (bytes > 0 && rw_combines(c, peer, bytes))
      code = rw_first_error(code, pack(c, &messages[is_by_node ? c->layout.node[peer] : 0], peer, from));
  }
  return code;
}

static int count_of(MPI_Status *status) {
  int bytes = 0;
  PMPI_Get_count(status, MPI_BYTE, &bytes);
  return bytes;
}

static int receive(const rw_combiner *c, char *data, size_t room, int from, int tag, MPI_Request *request) {
  return rw_post_receive(data, (int)room, MPI_BYTE, from, tag, c->comm, request);
}

static int send(const rw_combiner *c, const message *m, int to, int tag, MPI_Request *request) {
  return rw_post_send(m->data, (int)m->bytes, MPI_BYTE, to, tag, c->comm, request);
}

static int run_rank(rw_combiner *c, const rw_blocks *from, const rw_blocks *to) {
  message up = {c->sent, 0};
  int code = receive(c, c->received, c->room, c->leader, DOWN_TAG, &c->requests[0]);
  code = rw_first_error(code, pack_all(c, &up, 0, from));
  code = rw_first_error(code, send(c, &up, c->leader, UP_TAG, &c->requests[1]));
  code = rw_first_error(code, rw_complete(2, c->requests, c->statuses));
  return rw_first_error(code, sort(c, c->received, count_of(c->statuses), NULL, NULL, to));
}

/* The first rank of a node leads it. */
static int leader_of(const rw_combiner *c, int node) { return c->layout.ranks[c->layout.start[node]]; }

static int run_leader(rw_combiner *c, const rw_blocks *from, const rw_blocks *to) {
  const int *here = c->layout.ranks + c->layout.start[c->node];
  int nodes = c->layout.nodes, ranks = c->ranks_here - 1, others = nodes - 1, code = MPI_SUCCESS;
  MPI_Request *ups = c->requests, *across = ups + ranks, *sends = across + others;
  for (int i = 0; i < ranks; i++)
    code = rw_first_error(code, receive(c, c->from_ranks + c->room * (size_t)i, c->room, here[i + 1], UP_TAG, &ups[i]));
  for (int i = 1; i < nodes; i++) {
    int node = (c->node + i) % nodes;
    size_t room = room_of(c, ranks_of(c, node), c->ranks_here);
    code = rw_first_error(code, receive(c, c->from_nodes + c->from_node[node], room, leader_of(c, node), ACROSS_TAG,
                                        &across[i - 1]));
  }
  for (int node = 0; node < nodes; node++) c->across[node].bytes = 0;
  for (int i = 0; i <= ranks; i++) c->down[i].bytes = 0;
  code = rw_first_error(code, pack_all(c, c->across, 1, from));
  code = rw_first_error(code, rw_complete(ranks, ups, c->statuses));
  for (int i = 0; i < ranks; i++)
    code = rw_first_error(code, sort(c, c->from_ranks + c->room * (size_t)i, count_of(&c->statuses[i]), c->across,
                                     c->layout.node, to));
  for (int i = 1; i < nodes; i++) {
    int node = (c->node + i) % nodes;
    code = rw_first_error(code, send(c, &c->across[node], leader_of(c, node), ACROSS_TAG, &sends[i - 1]));
  }
  code = rw_first_error(code, rw_complete(others, across, c->statuses));
  for (int i = 1; i < nodes; i++)
    code = rw_first_error(code, sort(c, c->from_nodes + c->from_node[(c->node + i) % nodes], count_of(&c->statuses[i - 1]),
                                     c->down, c->layout.local, to));
  for (int i = 1; i <= ranks; i++)
    code = rw_first_error(code, send(c, &c->down[i], here[i], DOWN_TAG, &sends[others + i - 1]));
  return rw_first_error(code, rw_complete(others + ranks, sends, c->statuses));
}

int rw_combiner_run(rw_combiner *c, const rw_blocks *from, const rw_blocks *to) {
  return is_leader(c) ? run_leader(c, from, to) : run_rank(c, from, to);
}
