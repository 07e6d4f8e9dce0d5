/* Programs that cases.c runs one after the other in a job of MPI. */
#ifndef CASES_H
#define CASES_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of MPI_COMM_WORLD. */
extern int rank, ranks;

/* Given its name and its arguments, a program returns how much was wrong on this process. */
typedef int program(int words, char **word);

program again, called, differing, ends, forms, matching, neighbors, off, online, permitted, reorder, repair, reproduce, rules, sparse, stress, tuned;

#endif
