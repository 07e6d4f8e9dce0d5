/* Collectives on integers, which compare what they receive with what was sent: `count` integers of each block. */
#ifndef COLLECTIVES_H
#define COLLECTIVES_H

#include "cases.h"

enum { LONGEST = 20000 };

/* A process of a communicator with buffers for blocks of all its ranks. */
typedef struct {
  MPI_Comm comm;
  int rank, ranks;
  int *from, *to;
} side;

/* What was wrong so far. */
extern int wrong;
void expect(int is_right, const char *what);

side side_of(MPI_Comm comm);
void release(side *s);

void bcast(side *s, int count, int root);
void gather(side *s, int count, int root, int is_in_place);
void scatter(side *s, int count, int root, int is_in_place);
void allgather(side *s, int count, int is_in_place);
void alltoall(side *s, int count, int is_in_place);
void reduce(side *s, int count, int root, int is_in_place);
/* The operation adds. */
void allreduce(side *s, int count, int is_in_place, MPI_Op op);
/* With equal blocks or not, then MPI_Reduce_scatter_block. */
void reduce_scatter(side *s, int count, int is_equal);
/* MPI_Allreduce with an operation that is not commutative: the block of the first rank. */
void ordered(side *s, int count);

#endif
