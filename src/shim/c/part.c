/* The part of one rank in a plan, made of the moves that begin or end at the rank. */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

/* The place of a value, found by its block. */
typedef struct {
  int source, part, is_last, value;
} held;

static int compare_held(const void *left, const void *right) {
  const held *a = left, *b = right;
  if (a->source != b->source) return a->source < b->source ? -1 : 1;
  return a->part < b->part ? -1 : a->part > b->part;
}

static int value_of(const held *table, int count, int source, int part) {
  held wanted = {source, part, 0, 0};
  const held *found = bsearch(&wanted, table, (size_t)count, sizeof *table, compare_held);
  return found == NULL ? -1 : found->value;
}

/* Groups consecutive moves of a hop and a peer into messages. Returns the number of messages. */
static int group(const rw_moves *moves, int first, int32_t *peer, int32_t *start) {
  int count = 0;
  for (int i = 0; i < moves->count; i++) {
    const rw_move *move = &moves->items[i];
    if (i > 0 && move->hop == move[-1].hop && move->peer == move[-1].peer) continue;
    peer[count] = move->peer;
    start[count++] = first + i;
  }
  start[count] = first + moves->count;
  return count;
}

/* Makes the table of all values, by block. It includes values of this rank that it does not send to others. */
static held *make_table(const rw_lists *lists, int own, const rw_moves *receives) {
  held *table = malloc(sizeof *table * (size_t)(own + receives->count + 1));
  if (table == NULL) return NULL;
  for (int i = 0; i < own; i++) {
    held item = {lists->rank, i, 0, i};
    table[i] = item;
  }
  for (int i = 0; i < receives->count; i++) {
    const rw_move *move = &receives->items[i];
    held item = {move->source, move->part, move->is_last, own + i};
    table[own + i] = item;
  }
  qsort(table, (size_t)(own + receives->count), sizeof *table, compare_held);
  return table;
}

/* Returns the part of an alltoall's source that is for this rank: at most one, since no rank is listed twice. */
static int part_for(const held *table, int count, int source) {
  int low = 0, high = count;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (table[middle].source < source) low = middle + 1;
    else high = middle;
  }
  for (int i = low; i < count && table[i].source == source; i++)
    if (table[i].is_last) return table[i].part;
  return -1;
}

/* Returns the part of an alltoall that this rank sends to itself. */
static int own_part(const rw_lists *lists) {
  int part = 0;
  while (part < lists->out_count && lists->out[part] != lists->rank) part++;
  return part;
}

static int fill_slots(rw_part *part, const rw_lists *lists, int collective, const held *table, int count,
                      int32_t *slot_value) {
  int ok = 1;
  for (int s = 0; ok && s < lists->in_count; s++) {
    int source = lists->in[s], piece = 0;
    if (source == MPI_PROC_NULL) continue;
    if (collective == RW_ALLTOALL) piece = source == lists->rank ? own_part(lists) : part_for(table, count, source);
    int value = value_of(table, count, source, piece);
    part->slot[part->program.slots] = s;
    slot_value[part->program.slots++] = value;
    ok = value >= 0;
  }
  return ok;
}

static void list_edges(rw_part *part, const rw_lists *lists, int collective) {
  for (int i = 0; i < lists->out_count; i++) {
    if (lists->out[i] == MPI_PROC_NULL) continue;
    part->block[part->edges] = collective == RW_ALLGATHER ? 0 : i;
    part->destination[part->edges++] = lists->out[i];
  }
}

static int compare_sources(const void *left, const void *right) {
  const int32_t *a = left, *b = right;
  return *a < *b ? -1 : *a > *b;
}

/* Allocates a part with `words` of memory, without tables and lists. */
static rw_part *allocate(const rw_lists *lists, size_t words) {
  rw_part *part = calloc(1, sizeof *part);
  if (part == NULL) return NULL;
  part->words = malloc((words + 1) * sizeof *part->words);
  part->slot = malloc(sizeof(int) * (size_t)(lists->in_count + 1));
  part->block = malloc(sizeof(int) * (size_t)(lists->out_count + 1));
  part->destination = malloc(sizeof(int) * (size_t)(lists->out_count + 1));
  if (part->words && part->slot && part->block && part->destination) return part;
  rw_part_free(part);
  return NULL;
}

/* Copies the tables one after the other, so that they outlive their program. */
static void copy_tables(struct rw_program *program, int32_t *words) {
  struct {
    const int32_t **table;
    size_t count;
  } tables[] = {{&program->send_peer, (size_t)program->sends},
                {&program->send_start, (size_t)program->sends + 1},
                {&program->send_value, (size_t)program->send_start[program->sends]},
                {&program->receive_peer, (size_t)program->receives},
                {&program->receive_start, (size_t)program->receives + 1}};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    memcpy(words, *tables[i].table, tables[i].count * sizeof *words);
    *tables[i].table = words;
    words += tables[i].count;
  }
}

rw_part *rw_part_of_program(const rw_lists *lists, const struct rw_program *program, const int32_t *slot_source) {
  size_t tables = 2 * (size_t)program->sends + 2 * (size_t)program->receives + 2;
  tables += (size_t)program->send_start[program->sends];
  rw_part *part = allocate(lists, tables + (size_t)program->slots);
  int32_t(*value)[2] = malloc(sizeof *value * (size_t)(program->slots + 1));
  if (part != NULL && value != NULL) {
    int32_t *slot_value = part->words + tables;
    part->program = *program;
    copy_tables(&part->program, part->words);
    part->program.slot_value = part->program.left = part->program.right = slot_value;
    part->program.slots = 0;
    for (int32_t s = 0; s < program->slots; s++) {
      value[s][0] = slot_source[s];
      value[s][1] = program->slot_value[s];
    }
    qsort(value, (size_t)program->slots, sizeof *value, compare_sources);
    for (int s = 0; s < lists->in_count; s++) {
      if (lists->in[s] == MPI_PROC_NULL) continue;
      int32_t(*found)[2] = bsearch(&lists->in[s], value, (size_t)program->slots, sizeof *value, compare_sources);
      part->slot[part->program.slots] = s;
      slot_value[part->program.slots++] = (*found)[1];
    }
    list_edges(part, lists, RW_ALLGATHER);
  } else {
    rw_part_free(part);
    part = NULL;
  }
  free(value);
  return part;
}

static int fill(rw_part *part, const rw_lists *lists, int collective, const rw_moves *sends, const rw_moves *receives) {
  struct rw_program *program = &part->program;
  int32_t *send_peer = part->words, *send_start = send_peer + sends->count, *send_value = send_start + sends->count + 1;
  int32_t *receive_peer = send_value + sends->count, *receive_start = receive_peer + receives->count;
  int32_t *slot_value = receive_start + receives->count + 1;
  program->ranks = lists->ranks;
  program->rank = lists->rank;
  program->own = collective == RW_ALLGATHER ? 1 : lists->out_count;
  int count = program->own + receives->count;
  held *table = make_table(lists, program->own, receives);
  if (table == NULL) return 0;
  program->sends = group(sends, 0, send_peer, send_start);
  program->receives = group(receives, program->own, receive_peer, receive_start);
  int ok = fill_slots(part, lists, collective, table, count, slot_value);
  for (int i = 0; ok && i < sends->count; i++) {
    send_value[i] = value_of(table, count, sends->items[i].source, sends->items[i].part);
    ok = send_value[i] >= 0;
  }
  free(table);
  program->send_peer = send_peer;
  program->send_start = send_start;
  program->send_value = send_value;
  program->receive_peer = receive_peer;
  program->receive_start = receive_start;
  program->slot_value = slot_value;
  program->left = program->right = slot_value;
  list_edges(part, lists, collective);
  return ok && rw_program_check(program) == NULL;
}

rw_part *rw_part_make(const rw_lists *lists, int collective, const rw_moves *sends, const rw_moves *receives) {
  size_t words = 3 * (size_t)sends->count + 2 * (size_t)receives->count + (size_t)lists->in_count + 3;
  rw_part *part = allocate(lists, words);
  if (part == NULL || fill(part, lists, collective, sends, receives)) return part;
  rw_part_free(part);
  return NULL;
}

void rw_part_free(rw_part *part) {
  if (part == NULL) return;
  free(part->words);
  free(part->slot);
  free(part->block);
  free(part->destination);
  free(part);
}
