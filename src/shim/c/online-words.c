/* This file reads the words of RANKWEAVE_SHIM for online tuning: online:FOLDER, and its options. */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The limits are onlineLimits of src/tuning. */
static const double most_calls = 1048576, most_processes = 4194304, most_seed = 4294967295.0;

static const char *folder, *option;
static char wrong[256];
static rw_online_words words = {RW_ONLINE_TUNING, 1000, 4194304, -1};

static void refuse(const char *word, const char *expected) {
  if (wrong[0] == '\0') snprintf(wrong, sizeof wrong, "RANKWEAVE_SHIM: %.80s: expected %s", word, expected);
}

static void read_number(const char *word, double least, double most, double *number) {
  char expected[96];
  const char *digits = strchr(word, '=') + 1;
  size_t length = strlen(digits);
  double value = length > 0 && length < 16 && strspn(digits, "0123456789") == length ? strtod(digits, NULL) : -1;
  if (value >= least && value <= most) *number = value;
  else {
    snprintf(expected, sizeof expected, "an integer from %.0f to %.0f", least, most);
    refuse(word, expected);
  }
}

static int begins(const char *word, const char *with) { return strncmp(word, with, strlen(with)) == 0; }

int rw_online_word(char *word) {
  if (begins(word, "online:")) {
    folder = word + strlen("online:");
    if (*folder == '\0') refuse(word, "the name of a folder, as in online:runs");
  } else if (strcmp(word, "mode=tuning") == 0) words.mode = RW_ONLINE_TUNING;
  else if (strcmp(word, "mode=tuned") == 0) words.mode = RW_ONLINE_TUNED;
  else if (begins(word, "mode=")) refuse(word, "mode=tuning or mode=tuned");
  else if (begins(word, "calls=")) read_number(word, 1, most_calls, &words.calls);
  else if (begins(word, "measured=")) read_number(word, 1, most_processes, &words.measured);
  else if (begins(word, "seed=")) read_number(word, 0, most_seed, &words.seed);
  else return 0;
  if (!begins(word, "online:")) option = word;
  return 1;
}

void rw_online_end_of_words(void) {
  if (folder == NULL && option != NULL)
    rw_complain("rankweave shim: RANKWEAVE_SHIM: %.80s is without effect: expected online:FOLDER besides\n", option);
}

const char *rw_online_folder(void) {
  rw_own_settings();
  return folder;
}

void rw_online_resolve(void) {
  char *whole = folder == NULL ? NULL : realpath(folder, NULL);
  if (whole != NULL) folder = whole;
}

const char *rw_online_wrong(void) {
  rw_own_settings();
  if (folder != NULL && rw_tune_path() != NULL) return "RANKWEAVE_SHIM: expected online:FOLDER or tune:FILE, got both";
  return wrong;
}

const rw_online_words *rw_online_own_words(void) {
  rw_own_settings();
  return &words;
}
