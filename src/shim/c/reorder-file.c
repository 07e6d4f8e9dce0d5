/* This file reads a mapping file. Errors name the member. */
#include "shim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 8, DIGITS = 8 };
enum { FORMAT, VERSION, TOPOLOGY, GRAPH, OBJECTIVE, COST, IDENTITY_COST, SLOTS };
static const char *const names[MEMBERS] = {"format",    "version", "topology",     "graph",
                                           "objective", "cost",    "identityCost", "slotOf"};

/* Finds the values of the members, all of them and no others. Returns NULL, or what is wrong. */
static const char *find_members(const rw_json *json, uint32_t found[MEMBERS]) {
  const rw_json_value *whole = json->values;
  if (whole->kind != RW_JSON_OBJECT) return "expected an object";
  memset(found, 0, MEMBERS * sizeof *found);
  for (uint32_t at = 1; at < whole->after; at = json->values[at + 1].after) {
    int i = 0;
    while (i < MEMBERS && !rw_json_is(json, at, names[i])) i++;
    if (i == MEMBERS) return "it has an unknown member";
    if (found[i] != 0) return "a member occurs twice";
    found[i] = at + 1;
  }
  return NULL;
}

static int read_digest(const rw_json *json, uint32_t value, uint32_t graph[RW_LANES]) {
  char text[RW_LANES * DIGITS + 1];
  if (!rw_json_string(json, value, text, sizeof text) || strspn(text, "0123456789abcdef") != RW_LANES * DIGITS) return 0;
  for (int i = 0; i < RW_LANES; i++) {
    char lane[DIGITS + 1] = {0};
    memcpy(lane, text + i * DIGITS, DIGITS);
    graph[i] = (uint32_t)strtoul(lane, NULL, 16);
  }
  return 1;
}

/* Reads the slots of a list of plain values; 0 unless it is a permutation. */
static int read_slots(const rw_json *json, uint32_t list, rw_mapping *mapping, char *is_taken) {
  for (int v = 0; v < mapping->ranks; v++) {
    double slot;
    if (!rw_json_number(json, list + 1 + (uint32_t)v, &slot) || !(slot >= 0 && slot < mapping->ranks)) return 0;
    mapping->slot_of[v] = (int)slot;
    if (mapping->slot_of[v] != slot || is_taken[mapping->slot_of[v]]) return 0;
    is_taken[mapping->slot_of[v]] = 1;
  }
  return 1;
}

/* Returns the mapping, or NULL with the error in `wrong`. */
static rw_mapping *read_whole(const rw_json *json, char *wrong, size_t room) {
  uint32_t found[MEMBERS];
  double version;
  const char *problem = find_members(json, found);
  if (problem != NULL) return snprintf(wrong, room, "%s", problem), NULL;
  for (int i = 0; i < MEMBERS; i++)
    if (found[i] == 0) return snprintf(wrong, room, "%s: it is missing", names[i]), NULL;
  if (!rw_json_is(json, found[FORMAT], "rankweave-mapping"))
    return snprintf(wrong, room, "format: expected rankweave-mapping"), NULL;
  if (!rw_json_number(json, found[VERSION], &version) || version != 1)
    return snprintf(wrong, room, "version: expected 1"), NULL;
  const rw_json_value *list = &json->values[found[SLOTS]];
  if (list->kind != RW_JSON_LIST) return snprintf(wrong, room, "slotOf: expected a list of slots"), NULL;
  size_t ranks = list->after - found[SLOTS] - 1; /* each value takes one place */
  rw_mapping *mapping = malloc(sizeof *mapping + sizeof(int) * (ranks + 1));
  char *is_taken = calloc(ranks + 1, 1);
  int is_right = mapping != NULL && is_taken != NULL;
  if (!is_right) snprintf(wrong, room, "there is no memory for it");
  else {
    mapping->ranks = (int)ranks;
    is_right = read_digest(json, found[GRAPH], mapping->graph);
    if (!is_right) snprintf(wrong, room, "graph: expected %d hexadecimal digits", RW_LANES * DIGITS);
  }
  if (is_right && !read_slots(json, found[SLOTS], mapping, is_taken)) {
    snprintf(wrong, room, "slotOf: expected each of 0 to %d once", mapping->ranks - 1);
    is_right = 0;
  }
  free(is_taken);
  if (is_right) return mapping;
  free(mapping);
  return NULL;
}

rw_mapping *rw_mapping_read(const char *path, char *wrong, size_t room) {
  rw_json json;
  rw_mapping *mapping = NULL;
  size_t length, at;
  const char *problem;
  char *text = rw_json_text(path, &length, &problem);
  if (text == NULL) return snprintf(wrong, room, "%s", problem), NULL;
  problem = rw_json_parse(&json, text, length, &at);
  if (problem != NULL) snprintf(wrong, room, "at byte %zu %s", at, problem);
  else mapping = read_whole(&json, wrong, room);
  rw_json_free(&json);
  free(text);
  return mapping;
}
