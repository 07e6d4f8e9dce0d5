/* The non-blocking reductions, by the fixed tree where the user wants it; else they are MPI's. */
#include "shim.h"

#define STARTED(...) RW_REDUCED(__VA_ARGS__, rw_reproduce_start(&reduction, request, &code))

RW_EXPORT int MPI_Ireduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                          MPI_Request *request) {
  STARTED(RW_TUNE_REDUCE, count, NULL, root);
  return rw_next.Ireduce(from, to, count, type, op, root, comm, request);
}

RW_EXPORT int MPI_Ireduce_scatter(const void *from, void *to, const int counts[], MPI_Datatype type, MPI_Op op,
                                  MPI_Comm comm, MPI_Request *request) {
  STARTED(RW_TUNE_REDUCE_SCATTER, 0, counts, 0);
  return rw_next.Ireduce_scatter(from, to, counts, type, op, comm, request);
}

#define EVEN(name, function)                                                                                       \
  RW_EXPORT int MPI_##name(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,    \
                           MPI_Request *request) {                                                                \
    STARTED(function, count, NULL, 0);                                                                      \
    return rw_next.name(from, to, count, type, op, comm, request);                                                \
  }

EVEN(Iallreduce, RW_TUNE_ALLREDUCE)
EVEN(Ireduce_scatter_block, RW_TUNE_REDUCE_SCATTER_BLOCK)
EVEN(Iscan, RW_TUNE_SCAN)
EVEN(Iexscan, RW_TUNE_EXSCAN)

/* Calls whose forms do not follow the tree. An MPI may lack some, so they are looked up. */
#define LEFT(name, function, form, parameters, arguments)                      \
  RW_EXPORT int name parameters;                                               \
  int name parameters {                                                        \
    static int(*library) parameters;                                           \
    if (library == NULL) rw_find_next(&library, #name);                        \
    if (library == NULL) return rw_raise(comm, MPI_ERR_UNSUPPORTED_OPERATION); \
    if (rw_reproduces()) rw_reproduce_leave(function, form, op, type);         \
    return library arguments;                                                  \
  }
#define LIST(...) __VA_ARGS__
#define ROOTED(name, function, form, type_of, counts, more, passed)                                                  \
  LEFT(name, function, form,                                                                                         \
       (const void *from, void *to, type_of counts, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm LIST more), \
       (from, to, counts, type, op, root, comm LIST passed))
#define WHOLE(name, function, form, type_of, counts, more, passed)                                         \
  LEFT(name, function, form,                                                                               \
       (const void *from, void *to, type_of counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm LIST more), \
       (from, to, counts, type, op, comm LIST passed))
#define PERSISTENT(shape, name, function, form, type_of, counts) \
  shape(name, function, form, type_of, counts, (, MPI_Info info, MPI_Request *request), (, info, request))

#if MPI_VERSION >= 4
#define FORMS(shape, name, started, function, small, large, counts)                                                   \
  shape(MPI_##name##_c, function, RW_LARGE, large, counts, (), ())                                                    \
  shape(MPI_##started##_c, function, RW_LARGE_STARTED, large, counts, (, MPI_Request *request), (, request))           \
  PERSISTENT(shape, MPI_##name##_init, function, RW_PERSISTENT, small, counts)                                        \
  PERSISTENT(shape, MPI_##name##_init_c, function, RW_LARGE_PERSISTENT, large, counts)
#else
/* Open MPI 4 has persistent forms as an extension, with other names. */
#define FORMS(shape, name, started, function, small, large, counts)            \
  PERSISTENT(shape, MPI_##name##_init, function, RW_PERSISTENT, small, counts) \
  PERSISTENT(shape, MPIX_##name##_init, function, RW_PERSISTENT, small, counts)
#endif

FORMS(ROOTED, Reduce, Ireduce, RW_TUNE_REDUCE, int, MPI_Count, count)
FORMS(WHOLE, Allreduce, Iallreduce, RW_TUNE_ALLREDUCE, int, MPI_Count, count)
FORMS(WHOLE, Reduce_scatter, Ireduce_scatter, RW_TUNE_REDUCE_SCATTER, const int *, const MPI_Count *, counts)
FORMS(WHOLE, Reduce_scatter_block, Ireduce_scatter_block, RW_TUNE_REDUCE_SCATTER_BLOCK, int, MPI_Count, count)
FORMS(WHOLE, Scan, Iscan, RW_TUNE_SCAN, int, MPI_Count, count)
FORMS(WHOLE, Exscan, Iexscan, RW_TUNE_EXSCAN, int, MPI_Count, count)
