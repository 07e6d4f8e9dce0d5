/* A preloaded library ends a program of another MPI. It is part of each library that is preloaded. */
#ifndef RANKWEAVE_OWN_MPI_H
#define RANKWEAVE_OWN_MPI_H

/* The name and version of the MPI with which this library is compiled. */
extern const char *const rw_compiled_for;

/* Ends the program, with a message, if an object that is loaded has another MPI than this library. */
void rw_require_own_mpi(void);

#endif
