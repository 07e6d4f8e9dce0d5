/* A mapping in its packed form (src/shim/packed-files.ts). */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copies the slots; 0 unless they are a permutation. */
static int copy_slots(const int32_t *slots, rw_mapping *mapping, char *is_taken) {
  for (int v = 0; v < mapping->ranks; v++) {
    int32_t slot = slots[v];
    if (slot < 0 || slot >= mapping->ranks || is_taken[slot]) return 0;
    is_taken[slot] = 1;
    mapping->slot_of[v] = slot;
  }
  return 1;
}

rw_mapping *rw_mapping_read(const char *path, char *wrong, size_t room) {
  size_t before = sizeof(rw_packed) + sizeof(uint32_t) * RW_LANES;
  rw_packed *file = rw_packed_read(path, "rwmapped", before, wrong, room);
  if (file == NULL) return NULL;
  size_t ranks = file->word;
  const char *why = NULL, *at = (const char *)(file + 1);
  rw_mapping *mapping = NULL;
  char *is_taken = NULL;
  if (file->bytes != before + sizeof(int32_t) * ranks) why = "is cut off";
  else {
    mapping = malloc(sizeof *mapping + sizeof(int) * (ranks + 1));
    is_taken = calloc(ranks + 1, 1);
    if (mapping == NULL || is_taken == NULL) why = "is too long for the memory";
  }
  if (why == NULL) {
    mapping->ranks = (int)ranks;
    memcpy(mapping->graph, at, sizeof mapping->graph);
    if (!copy_slots((const int32_t *)(at + sizeof mapping->graph), mapping, is_taken)) why = "has slots that are not a permutation";
  }
  if (why != NULL) rw_packed_refuse(why, wrong, room);
  free(is_taken);
  free(file);
  if (why == NULL) return mapping;
  free(mapping);
  return NULL;
}
