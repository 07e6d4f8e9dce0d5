/*
 * The routes that need only arithmetic, which determine the ranks through which a block travels. They equal those
 * of src/neighborhood/strategies.
 */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets digits; those beyond the given radices repeat the last one. */
static void set_digits(rw_digits *digits, const int *radices, int given, int count) {
  digits->steps = 0;
  digits->weights[0] = 1;
  while (digits->weights[digits->steps] < count && digits->steps < RW_MAX_STEPS) {
    int radix = radices[digits->steps < given ? digits->steps : given - 1];
    digits->radices[digits->steps] = radix;
    int64_t weight = (int64_t)digits->weights[digits->steps] * radix;
    digits->weights[++digits->steps] = weight < count ? (int)weight : count;
  }
}

/* Parses `name=2.3.4` among options separated by commas, in any order. The default is 2 as often as needed. */
static int parse_radices(const char *options, const char *name, int count, rw_digits *digits) {
  int radices[RW_MAX_STEPS] = {2}, given = 0;
  size_t length = strlen(name);
  for (const char *at = options; *at != '\0';) {
    if (strncmp(at, name, length) == 0 && at[length] == '=') {
      if (given > 0) return 0;
      at += length;
      do {
        char *end;
        long radix = strtol(at + 1, &end, 10);
        if (end == at + 1 || radix < 2 || radix > 1 << 24 || given == RW_MAX_STEPS) return 0;
        radices[given++] = (int)radix;
        at = end;
      } while (*at == '.');
      if (*at != ',' && *at != '\0') return 0;
    } else at += strcspn(at, ",");
    if (*at == ',' && *++at == '\0') return 0;
  }
  set_digits(digits, radices, given > 0 ? given : 1, count);
  digits->are_missing = given > 0 && digits->steps > given;
  return 1;
}

/* Returns whether every option has one of the names. */
static int are_options(const char *options, const char *one, const char *other) {
  for (const char *at = options; *at != '\0';) {
    size_t length = strcspn(at, "=,");
    if (at[length] != '=' || !((length == strlen(one) && strncmp(at, one, length) == 0) ||
                               (length == strlen(other) && strncmp(at, other, length) == 0)))
      return 0;
    at += strcspn(at, ",");
    if (*at == ',') at++;
  }
  return 1;
}

/* Returns the options of a kind; NULL for another kind. */
static const char *options_of(const char *text, const char *kind) {
  size_t length = strlen(kind);
  if (strncmp(text, kind, length) != 0) return NULL;
  return text[length] == '\0' ? text + length : text[length] == ':' && text[length + 1] != '\0' ? text + length + 1 : NULL;
}

int rw_route_parse(const char *text, int ranks, const rw_layout *layout, rw_route *route) {
  const char *options;
  memset(route, 0, sizeof *route);
  route->ranks = ranks;
  if ((options = options_of(text, "routed")) != NULL)
    return are_options(options, "radices", "radices") && parse_radices(options, "radices", ranks, &route->between);
  if ((options = options_of(text, "hierarchical")) == NULL) return 0;
  route->layout = layout;
  return are_options(options, "between", "inside") &&
         parse_radices(options, "between", layout->nodes, &route->between) &&
         parse_radices(options, "inside", layout->largest, &route->inside);
}

int rw_route_is_whole(const rw_route *route) { return !route->between.are_missing && !route->inside.are_missing; }

static void append_radices(char *name, size_t room, const char *option, const rw_digits *digits) {
  const char *between = option;
  for (int step = 0; step < digits->steps; step++) {
    size_t used = strlen(name);
    snprintf(name + used, room - used, "%s%d", between, digits->radices[step]);
    between = ".";
  }
}

void rw_route_name(const rw_route *route, char *name, size_t room) {
  if (route->layout == NULL) {
    snprintf(name, room, "routed");
    append_radices(name, room, ":radices=", &route->between);
  } else {
    snprintf(name, room, "hierarchical");
    append_radices(name, room, ":between=", &route->between);
    append_radices(name, room, route->between.steps > 0 ? ",inside=" : ":inside=", &route->inside);
  }
}

/*
 * Corrects a digit. A number past the last one stands for the number with the highest digit one lower, so the
 * notation suits any count.
 */
int rw_digits_step(const rw_digits *digits, int step, int from, int to, int count) {
  const int *weights = digits->weights;
  int weight = weights[step + 1];
  if (weight >= count) return to;
  int mixed = from - from % weight + to % weight;
  if (mixed < count) return mixed;
  int top = digits->steps;
  while (weights[top] >= count) top--;
  return mixed - weights[top];
}

int rw_route_hops(const rw_route *route) { return route->between.steps + route->inside.steps; }

int rw_route_hop(const rw_route *route, int h, int source, int destination) {
  const rw_layout *layout = route->layout;
  if (layout == NULL) return rw_digits_step(&route->between, h, source, destination, route->ranks);
  int is_between = h < route->between.steps;
  int last = layout->node[destination];
  int at = is_between ? rw_digits_step(&route->between, h, layout->node[source], last, layout->nodes) : last;
  int size = layout->start[at + 1] - layout->start[at];
  /* On a node with fewer ranks, one rank may stand for several numbers. */
  int number = layout->local[source] % size;
  if (!is_between)
    number = rw_digits_step(&route->inside, h - route->between.steps, number, layout->local[destination], size);
  return layout->ranks[layout->start[at] + number];
}

/* Names the node of every rank by its first rank. */
static int name_nodes(MPI_Comm comm, int cores, int rank, int *node) {
  int own = rank;
  int code = MPI_SUCCESS;
  if (cores > 0) own = rank - rank % cores;
  else {
    MPI_Comm shared;
    code = PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &shared);
    if (code == MPI_SUCCESS) code = PMPI_Bcast(&own, 1, MPI_INT, 0, shared);
    if (code == MPI_SUCCESS) code = PMPI_Comm_free(&shared);
  }
  return code == MPI_SUCCESS ? PMPI_Allgather(&own, 1, MPI_INT, node, 1, MPI_INT, comm) : code;
}

int rw_layout_make(MPI_Comm comm, int cores, rw_layout *layout) {
  int rank, count;
  memset(layout, 0, sizeof *layout);
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &count);
  size_t bytes = sizeof(int) * (size_t)count;
  int *name = malloc(bytes), *number = malloc(bytes);
  layout->node = malloc(bytes);
  layout->local = malloc(bytes);
  layout->ranks = malloc(bytes);
  layout->start = calloc((size_t)count + 1, sizeof(int));
  int ok = name && number && layout->node && layout->local && layout->ranks && layout->start;
  int code = rw_agree_on_memory(comm, ok);
  if (code == MPI_SUCCESS) code = name_nodes(comm, cores, rank, name);
  if (code == MPI_SUCCESS) {
    /* The first rank of a node comes before its others. */
    for (int r = 0; r < count; r++) {
      if (name[r] == r) number[r] = layout->nodes++;
      layout->node[r] = number[name[r]];
      layout->local[r] = layout->start[layout->node[r] + 1]++;
    }
    for (int n = 0; n < layout->nodes; n++) {
      if (layout->start[n + 1] > layout->largest) layout->largest = layout->start[n + 1];
      layout->start[n + 1] += layout->start[n];
    }
    for (int r = 0; r < count; r++) layout->ranks[layout->start[layout->node[r]] + layout->local[r]] = r;
  }
  free(name);
  free(number);
  if (code != MPI_SUCCESS) rw_layout_free(layout);
  return code;
}

void rw_layout_free(rw_layout *layout) {
  free(layout->node);
  free(layout->local);
  free(layout->ranks);
  free(layout->start);
  memset(layout, 0, sizeof *layout);
}
