/* This file reads and checks the tables of a program: see rankweave_program.h. */
#include "rankweave_request.h"

#include <stdlib.h>

int32_t rw_arrivals_end(const struct rw_program *p) { return p->receive_start[p->receives]; }

int32_t rw_values(const struct rw_program *p) { return rw_arrivals_end(p) + p->combinations; }

static const char *check_peers(const struct rw_program *p, const int32_t *peer, int32_t count) {
  for (int32_t i = 0; i < count; i++)
    if (peer[i] < 0 || peer[i] >= p->ranks || peer[i] == p->rank) return "a peer is out of range";
  return NULL;
}

static const char *check_starts(const int32_t *start, int32_t count, int32_t first) {
  if (start[0] != first) return "the first element of a start table is wrong";
  for (int32_t i = 0; i < count; i++)
    if (start[i + 1] < start[i]) return "a start table descends";
  return NULL;
}

static const char *check_values(const int32_t *value, int32_t count, int32_t values) {
  for (int32_t i = 0; i < count; i++)
    if (value[i] < 0 || value[i] >= values) return "a value is out of range";
  return NULL;
}

/* Finds how many receives each value waits for: the last one that it needs, and all before it. */
static void find_reach(const struct rw_program *p, int32_t *reach) {
  for (int32_t v = 0, i = 0; v < rw_arrivals_end(p); v++) {
    while (i < p->receives && v >= p->receive_start[i + 1]) i++;
    reach[v] = v < p->own ? 0 : i + 1;
  }
  for (int32_t c = 0; c < p->combinations; c++) {
    int32_t left = reach[p->left[c]], right = reach[p->right[c]];
    reach[rw_arrivals_end(p) + c] = left > right ? left : right;
  }
}

/* Checks that every gate waits only for messages that do not depend on it. */
static const char *check_gates(const struct rw_program *p) {
  int32_t sent = 0, received = 0, *reach = calloc((size_t)rw_values(p) + 1, sizeof *reach);
  const char *wrong = NULL;
  if (reach == NULL) return "there is no memory to check the gates";
  find_reach(p, reach);
  for (int32_t g = 0; g < p->gates && wrong == NULL; g++) {
    if (p->gate_sends[g] < sent || p->gate_sends[g] > p->sends) wrong = "a gate waits for sends that are out of range";
    else if (p->gate_receives[g] < received || p->gate_receives[g] > p->receives)
      wrong = "a gate waits for receives that are out of range";
    for (; wrong == NULL && sent < p->gate_sends[g]; sent++) {
      if (p->send_gate[sent] >= g) wrong = "a gate waits for what waits for it";
      for (int32_t k = p->send_start[sent]; k < p->send_start[sent + 1]; k++)
        if (reach[p->send_value[k]] > p->gate_receives[g]) wrong = "a gate waits for a send that needs a later receive";
    }
    for (; wrong == NULL && received < p->gate_receives[g]; received++)
      if (p->receive_gate[received] >= g) wrong = "a gate waits for what waits for it";
  }
  for (int32_t j = 0; j < p->sends && wrong == NULL; j++)
    if (p->send_gate[j] < -1 || p->send_gate[j] >= p->gates) wrong = "the gate of a send is out of range";
  for (int32_t i = 0; i < p->receives && wrong == NULL; i++)
    if (p->receive_gate[i] < -1 || p->receive_gate[i] >= p->gates) wrong = "the gate of a receive is out of range";
  free(reach);
  return wrong;
}

const char *rw_program_check(const struct rw_program *p) {
  const char *wrong;
  if (p->ranks < 1 || p->rank < 0 || p->rank >= p->ranks) return "the rank is out of range";
  if (p->own < 0 || p->slots < 0 || p->sends < 0 || p->receives < 0 || p->combinations < 0 || p->gates < 0)
    return "a count is negative";
  if ((wrong = check_peers(p, p->send_peer, p->sends)) != NULL) return wrong;
  if ((wrong = check_peers(p, p->receive_peer, p->receives)) != NULL) return wrong;
  if ((wrong = check_starts(p->send_start, p->sends, 0)) != NULL) return wrong;
  if ((wrong = check_starts(p->receive_start, p->receives, p->own)) != NULL) return wrong;
  if (p->combinations > INT32_MAX - rw_arrivals_end(p)) return "there are too many values";
  if ((wrong = check_values(p->send_value, p->send_start[p->sends], rw_values(p))) != NULL) return wrong;
  if ((wrong = check_values(p->slot_value, p->slots, rw_values(p))) != NULL) return wrong;
  for (int32_t c = 0; c < p->combinations; c++) {
    int32_t made = rw_arrivals_end(p) + c;
    if (p->left[c] < 0 || p->left[c] >= made || p->right[c] < 0 || p->right[c] >= made)
      return "an operand of a combination is out of range";
  }
  return p->gates > 0 ? check_gates(p) : NULL;
}

enum { head_words = 8 };

static const int32_t *take(const int32_t **at, int32_t count) {
  const int32_t *taken = *at;
  *at += count;
  return taken;
}

const char *rw_program_of_words(const int32_t *words, size_t count, struct rw_program *p) {
  if (count < head_words) return "the words of a program are cut off";
  for (int i = 0; i < head_words; i++)
    if (words[i] < 0) return "a count is negative";
  p->ranks = words[0], p->rank = words[1], p->own = words[2], p->slots = words[3];
  p->sends = words[4], p->receives = words[5], p->combinations = words[6];
  int32_t sent = words[7];
  uint64_t expected = (uint64_t)head_words + 2 * (uint64_t)p->sends + 1 + (uint64_t)sent + 2 * (uint64_t)p->receives + 1 +
                      (uint64_t)p->slots + 2 * (uint64_t)p->combinations;
  p->gates = 0;
  if (count > expected && words[expected] > 0) {
    p->gates = words[expected];
    expected += 1 + 2 * (uint64_t)p->gates + (uint64_t)p->sends + (uint64_t)p->receives;
  }
  if (count != expected) return "a program has the wrong number of words";
  const int32_t *at = words + head_words;
  p->send_peer = take(&at, p->sends), p->send_start = take(&at, p->sends + 1), p->send_value = take(&at, sent);
  p->receive_peer = take(&at, p->receives), p->receive_start = take(&at, p->receives + 1);
  p->slot_value = take(&at, p->slots);
  p->left = take(&at, p->combinations), p->right = take(&at, p->combinations);
  if (p->gates > 0) {
    at++;
    p->gate_sends = take(&at, p->gates), p->gate_receives = take(&at, p->gates);
    p->send_gate = take(&at, p->sends), p->receive_gate = take(&at, p->receives);
  }
  if (p->send_start[p->sends] != sent) return "the number of values sent is wrong";
  return rw_program_check(p);
}

int32_t rw_number_messages(const struct rw_program *p, const int32_t *peer, int32_t count, int tag, int *tags) {
  int32_t most = 0, *seen = calloc((size_t)p->ranks, sizeof *seen);
  if (seen == NULL) return -1;
  for (int32_t i = 0; i < count; i++) {
    if (tags != NULL) tags[i] = tag + seen[peer[i]];
    if (++seen[peer[i]] > most) most = seen[peer[i]];
  }
  free(seen);
  return most;
}

int32_t rw_tags(const struct rw_program *p) {
  int32_t sent = rw_number_messages(p, p->send_peer, p->sends, 0, NULL);
  int32_t received = rw_number_messages(p, p->receive_peer, p->receives, 0, NULL);
  return sent > received ? sent : received;
}
