/*
 * Routes that need only arithmetic: through which ranks a block travels. The same as
 * src/neighborhood/strategies.
 */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

/* Further digits have the last radix. */
static void set_digits(rw_digits *digits, const int *radices, int given, int count) {
  digits->steps = 0;
  digits->weights[0] = 1;
  while (digits->weights[digits->steps] < count && digits->steps < RW_MAX_STEPS) {
    int radix = radices[digits->steps < given ? digits->steps : given - 1];
    int64_t weight = (int64_t)digits->weights[digits->steps] * radix;
    digits->weights[++digits->steps] = weight < count ? (int)weight : count;
  }
}

/* `name=2.3.4` at the start of a text; returns what follows, or NULL. */
static const char *parse_radices(const char *text, const char *name, int radices[RW_MAX_STEPS], int *given) {
  size_t length = strlen(name);
  if (strncmp(text, name, length) != 0 || text[length] != '=') return NULL;
  text += length;
  *given = 0;
  do {
    char *end;
    long radix = strtol(text + 1, &end, 10);
    if (end == text + 1 || radix < 2 || radix > 1 << 24 || *given == RW_MAX_STEPS) return NULL;
    radices[(*given)++] = (int)radix;
    text = end;
  } while (*text == '.');
  return text;
}

int rw_route_parse(const char *text, int ranks, const rw_layout *layout, rw_route *route) {
  int radices[RW_MAX_STEPS], given;
  memset(route, 0, sizeof *route);
  route->ranks = ranks;
  if (strncmp(text, "routed:", 7) == 0) {
    text = parse_radices(text + 7, "radices", radices, &given);
    if (text != NULL) set_digits(&route->between, radices, given, ranks);
    return text != NULL && *text == '\0';
  }
  if (strncmp(text, "hierarchical:", 13) != 0) return 0;
  route->layout = layout;
  text = parse_radices(text + 13, "between", radices, &given);
  if (text == NULL || *text != ',') return 0;
  set_digits(&route->between, radices, given, layout->nodes);
  text = parse_radices(text + 1, "inside", radices, &given);
  if (text != NULL) set_digits(&route->inside, radices, given, layout->largest);
  return text != NULL && *text == '\0';
}

/*
 * A number past the last one stands for the number with the highest digit one lower, so the notation suits
 * any count.
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
  /* On a node with fewer ranks several stand for one of this number. */
  int number = layout->local[source] % size;
  if (!is_between)
    number = rw_digits_step(&route->inside, h - route->between.steps, number, layout->local[destination], size);
  return layout->ranks[layout->start[at] + number];
}

/* The node of every rank is named by its first rank. */
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
