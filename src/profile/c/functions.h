/*
 * The functions of MPI that the profiler intercepts, one line each: name, name in lower case, what is noted of a
 * successful call, and its arguments. args.h has the type of each argument.
 *
 * What is noted may use `call`, the arguments by name, and three macros that differ between C and Fortran: MADE is the
 * request that the call has made, REQUEST(list, i) one of its requests, TYPES(list) an array of datatypes.
 */
#ifndef RANKWEAVE_PROFILE_FUNCTIONS_H
#define RANKWEAVE_PROFILE_FUNCTIONS_H

#define RW_NOTHING ((void)0)

/* A send in its blocking and its non-blocking form, and a persistent one that MPI_Start starts. */
#define RW_SENDS(X, Mode, mode, nonblocking)                                                                              \
  X(Mode, mode, rw_sent(&call, comm, rank, count, type), (from, count, type, rank, tag, comm))                            \
  X(I##nonblocking, i##nonblocking, rw_sent(&call, comm, rank, count, type), (from, count, type, rank, tag, comm, request)) \
  X(Mode##_init, mode##_init, rw_kept(&call, MADE, comm, rank, count, type), (from, count, type, rank, tag, comm, request))

#define RW_POINT_TO_POINT(X)                                                                                              \
  RW_SENDS(X, Send, send, send)                                                                                           \
  RW_SENDS(X, Bsend, bsend, bsend)                                                                                        \
  RW_SENDS(X, Ssend, ssend, ssend)                                                                                        \
  RW_SENDS(X, Rsend, rsend, rsend)                                                                                        \
  X(Recv, recv, RW_NOTHING, (to, count, type, rank, tag, comm, status))                                                   \
  X(Irecv, irecv, RW_NOTHING, (to, count, type, rank, tag, comm, request))                                                \
  X(Recv_init, recv_init, rw_forgotten(MADE), (to, count, type, rank, tag, comm, request))                                \
  X(Mrecv, mrecv, RW_NOTHING, (to, count, type, message, status))                                                         \
  X(Imrecv, imrecv, RW_NOTHING, (to, count, type, message, request))                                                      \
  X(Sendrecv, sendrecv, rw_sent(&call, comm, rank, sent, sent_type),                                                      \
    (from, sent, sent_type, rank, tag, to, received, received_type, source, received_tag, comm, status))                  \
  X(Sendrecv_replace, sendrecv_replace, rw_sent(&call, comm, rank, count, type),                                          \
    (data, count, type, rank, tag, source, received_tag, comm, status))                                                   \
  X(Start, start, rw_started(&call, REQUEST(request, 0)), (request))                                                               \
  X(Startall, startall, for (int i = 0; i < count; i++) rw_started(&call, REQUEST(requests, i)), (count, requests))                 \
  X(Probe, probe, RW_NOTHING, (source, tag, comm, status))                                                                \
  X(Iprobe, iprobe, RW_NOTHING, (source, tag, comm, flag, status))                                                        \
  X(Mprobe, mprobe, RW_NOTHING, (source, tag, comm, message, status))                                                     \
  X(Improbe, improbe, RW_NOTHING, (source, tag, comm, flag, message, status))                                             \
  X(Wait, wait, RW_NOTHING, (request, status))                                                                            \
  X(Waitall, waitall, RW_NOTHING, (count, requests, statuses))                                                            \
  X(Waitany, waitany, RW_NOTHING, (count, requests, index, status))                                                       \
  X(Waitsome, waitsome, RW_NOTHING, (count, requests, done, indices, statuses))                                           \
  X(Test, test, RW_NOTHING, (request, flag, status))                                                                      \
  X(Testall, testall, RW_NOTHING, (count, requests, flag, statuses))                                                      \
  X(Testany, testany, RW_NOTHING, (count, requests, index, flag, status))                                                 \
  X(Testsome, testsome, RW_NOTHING, (count, requests, done, indices, statuses))                                           \
  X(Request_get_status, request_get_status, RW_NOTHING, (handle, flag, status))

/* A collective in its blocking and its non-blocking form, and a persistent one. */
#define RW_FORMS(X, Name, name, note, ...)                                                                                \
  X(Name, name, note, (__VA_ARGS__))                                                                                      \
  X(I##name, i##name, note, (__VA_ARGS__, request))                                                                       \
  RW_PERSISTENT(X, Name, name, __VA_ARGS__)

#if MPI_VERSION >= 4
#define RW_PERSISTENT(X, Name, name, ...) X(Name##_init, name##_init, rw_forgotten(MADE), (__VA_ARGS__, info, request))
#define RW_SINCE_4(X)                                                                                                     \
  X(Isendrecv, isendrecv, rw_sent(&call, comm, rank, sent, sent_type),                                                    \
    (from, sent, sent_type, rank, tag, to, received, received_type, source, received_tag, comm, request))                 \
  X(Isendrecv_replace, isendrecv_replace, rw_sent(&call, comm, rank, count, type),                                        \
    (data, count, type, rank, tag, source, received_tag, comm, request))
#else
#define RW_PERSISTENT(X, Name, name, ...)
#define RW_SINCE_4(X)
#endif

#define RW_OWN_BLOCK (rw_is_root(comm, root) ? rw_bytes(received, received_type) : rw_bytes(sent, sent_type))
#define RW_OWN_PART (rw_is_root(comm, root) ? rw_bytes(sent, sent_type) : rw_bytes(received, received_type))

#define RW_COLLECTIVES(X)                                                                                                 \
  RW_FORMS(X, Barrier, barrier, rw_collective(&call, comm, 0), comm)                                                      \
  RW_FORMS(X, Bcast, bcast, rw_collective(&call, comm, rw_bytes(count, type)), data, count, type, root, comm)             \
  RW_FORMS(X, Gather, gather, rw_collective(&call, comm, RW_OWN_BLOCK), from, sent, sent_type, to, received, received_type, root, comm) \
  RW_FORMS(X, Scatter, scatter, rw_collective(&call, comm, RW_OWN_PART), from, sent, sent_type, to, received, received_type, root, comm) \
  RW_FORMS(X, Gatherv, gatherv, rw_gathered(&call, comm, root, receiveds, received_type, sent, sent_type), from, sent,    \
           sent_type, to, receiveds, received_places, received_type, root, comm)                                          \
  RW_FORMS(X, Scatterv, scatterv, rw_gathered(&call, comm, root, sents, sent_type, received, received_type), from, sents, \
           sent_places, sent_type, to, received, received_type, root, comm)                                               \
  RW_FORMS(X, Allgather, allgather, rw_collective(&call, comm, rw_bytes(received, received_type)), from, sent, sent_type, \
           to, received, received_type, comm)                                                                             \
  RW_FORMS(X, Allgatherv, allgatherv, rw_counted(&call, comm, receiveds, received_type), from, sent, sent_type, to,       \
           receiveds, received_places, received_type, comm)                                                               \
  RW_FORMS(X, Alltoall, alltoall, rw_collective(&call, comm, rw_bytes(received, received_type)), from, sent, sent_type,   \
           to, received, received_type, comm)                                                                             \
  RW_FORMS(X, Alltoallv, alltoallv,                                                                                       \
           from == MPI_IN_PLACE ? rw_exchanged(&call, comm, receiveds, received_type)                                     \
                                : rw_exchanged(&call, comm, sents, sent_type),                                            \
           from, sents, sent_places, sent_type, to, receiveds, received_places, received_type, comm)                      \
  RW_FORMS(X, Alltoallw, alltoallw,                                                                                       \
           from == MPI_IN_PLACE ? rw_exchanged_of_types(&call, comm, receiveds, TYPES(received_types))                    \
                                : rw_exchanged_of_types(&call, comm, sents, TYPES(sent_types)),                           \
           from, sents, sent_places, sent_types, to, receiveds, received_places, received_types, comm)                    \
  RW_FORMS(X, Reduce, reduce, rw_collective(&call, comm, rw_bytes(count, type)), from, to, count, type, op, root, comm)   \
  RW_FORMS(X, Allreduce, allreduce, rw_collective(&call, comm, rw_bytes(count, type)), from, to, count, type, op, comm)   \
  RW_FORMS(X, Reduce_scatter_block, reduce_scatter_block, rw_collective(&call, comm, rw_bytes(count, type)), from, to,    \
           count, type, op, comm)                                                                                         \
  RW_FORMS(X, Reduce_scatter, reduce_scatter, rw_scattered(&call, comm, counts, type), from, to, counts, type, op, comm)    \
  RW_FORMS(X, Scan, scan, rw_collective(&call, comm, rw_bytes(count, type)), from, to, count, type, op, comm)             \
  RW_FORMS(X, Exscan, exscan, rw_collective(&call, comm, rw_bytes(count, type)), from, to, count, type, op, comm)         \
  RW_FORMS(X, Neighbor_allgather, neighbor_allgather, rw_to_neighbors(&call, comm, sent, sent_type), from, sent,          \
           sent_type, to, received, received_type, comm)                                                                  \
  RW_FORMS(X, Neighbor_allgatherv, neighbor_allgatherv, rw_to_neighbors(&call, comm, sent, sent_type), from, sent,        \
           sent_type, to, receiveds, received_places, received_type, comm)                                                \
  RW_FORMS(X, Neighbor_alltoall, neighbor_alltoall, rw_to_neighbors(&call, comm, sent, sent_type), from, sent, sent_type, \
           to, received, received_type, comm)                                                                             \
  RW_FORMS(X, Neighbor_alltoallv, neighbor_alltoallv, rw_counts_to_neighbors(&call, comm, sents, sent_type), from, sents, \
           sent_places, sent_type, to, receiveds, received_places, received_type, comm)                                   \
  RW_FORMS(X, Neighbor_alltoallw, neighbor_alltoallw, rw_types_to_neighbors(&call, comm, sents, TYPES(sent_types)), from, \
           sents, sent_addresses, sent_types, to, receiveds, received_addresses, received_types, comm)

/* Communicators, one-sided communication and files count by name and time only, and grids and graphs with reorder = 1. */
#define RW_TIMED(X)                                                                                                       \
  X(Comm_dup, comm_dup, RW_NOTHING, (comm, made))                                                                         \
  X(Comm_dup_with_info, comm_dup_with_info, RW_NOTHING, (comm, info, made))                                               \
  X(Comm_idup, comm_idup, RW_NOTHING, (comm, made, request))                                                              \
  X(Comm_split, comm_split, RW_NOTHING, (comm, number, place, made))                                                      \
  X(Comm_split_type, comm_split_type, RW_NOTHING, (comm, number, place, info, made))                                      \
  X(Comm_create, comm_create, RW_NOTHING, (comm, group, made))                                                            \
  X(Comm_create_group, comm_create_group, RW_NOTHING, (comm, group, tag, made))                                           \
  X(Comm_free, comm_free, RW_NOTHING, (made))                                                                             \
  X(Cart_create, cart_create, if (reorder) call.thread->reorders++, (comm, number, extents, periods, reorder, made))      \
  X(Cart_sub, cart_sub, RW_NOTHING, (comm, extents, made))                                                                \
  X(Graph_create, graph_create, RW_NOTHING, (comm, number, extents, periods, reorder, made))                              \
  X(Dist_graph_create, dist_graph_create, if (reorder) call.thread->reorders++,                                           \
    (comm, number, sources, degrees, destinations, weights, info, reorder, made))                                         \
  X(Dist_graph_create_adjacent, dist_graph_create_adjacent, if (reorder) call.thread->reorders++,                         \
    (comm, number, sources, source_weights, count, destinations, weights, info, reorder, made))                           \
  X(Win_create, win_create, RW_NOTHING, (data, address, unit, info, comm, new_win))                                       \
  X(Win_allocate, win_allocate, RW_NOTHING, (address, unit, info, comm, data, new_win))                                   \
  X(Win_allocate_shared, win_allocate_shared, RW_NOTHING, (address, unit, info, comm, data, new_win))                     \
  X(Win_create_dynamic, win_create_dynamic, RW_NOTHING, (info, comm, new_win))                                            \
  X(Win_free, win_free, RW_NOTHING, (new_win))                                                                            \
  X(Win_fence, win_fence, RW_NOTHING, (number, win))                                                                      \
  X(Win_start, win_start, RW_NOTHING, (group, number, win))                                                               \
  X(Win_complete, win_complete, RW_NOTHING, (win))                                                                        \
  X(Win_post, win_post, RW_NOTHING, (group, number, win))                                                                 \
  X(Win_wait, win_wait, RW_NOTHING, (win))                                                                                \
  X(Win_test, win_test, RW_NOTHING, (win, flag))                                                                          \
  X(Win_lock, win_lock, RW_NOTHING, (number, rank, place, win))                                                           \
  X(Win_unlock, win_unlock, RW_NOTHING, (rank, win))                                                                      \
  X(Win_lock_all, win_lock_all, RW_NOTHING, (number, win))                                                                \
  X(Win_unlock_all, win_unlock_all, RW_NOTHING, (win))                                                                    \
  X(Win_flush, win_flush, RW_NOTHING, (rank, win))                                                                        \
  X(Win_flush_all, win_flush_all, RW_NOTHING, (win))                                                                      \
  X(Win_flush_local, win_flush_local, RW_NOTHING, (rank, win))                                                            \
  X(Win_flush_local_all, win_flush_local_all, RW_NOTHING, (win))                                                          \
  X(Win_sync, win_sync, RW_NOTHING, (win))                                                                                \
  X(Put, put, RW_NOTHING, (from, sent, sent_type, rank, address, count, type, win))                                       \
  X(Get, get, RW_NOTHING, (to, received, received_type, rank, address, count, type, win))                                 \
  X(Accumulate, accumulate, RW_NOTHING, (from, sent, sent_type, rank, address, count, type, op, win))                     \
  X(Get_accumulate, get_accumulate, RW_NOTHING,                                                                           \
    (from, sent, sent_type, to, received, received_type, rank, address, count, type, op, win))                            \
  X(Fetch_and_op, fetch_and_op, RW_NOTHING, (from, to, type, rank, address, op, win))                                     \
  X(Compare_and_swap, compare_and_swap, RW_NOTHING, (from, compared, to, type, rank, address, win))                       \
  X(Rput, rput, RW_NOTHING, (from, sent, sent_type, rank, address, count, type, win, request))                            \
  X(Rget, rget, RW_NOTHING, (to, received, received_type, rank, address, count, type, win, request))                      \
  X(Raccumulate, raccumulate, RW_NOTHING, (from, sent, sent_type, rank, address, count, type, op, win, request))          \
  X(File_close, file_close, RW_NOTHING, (new_file))                                                                       \
  X(File_sync, file_sync, RW_NOTHING, (file))                                                                             \
  X(File_read, file_read, RW_NOTHING, (file, to, count, type, status))                                                    \
  X(File_read_all, file_read_all, RW_NOTHING, (file, to, count, type, status))                                            \
  X(File_read_at, file_read_at, RW_NOTHING, (file, offset, to, count, type, status))                                      \
  X(File_read_at_all, file_read_at_all, RW_NOTHING, (file, offset, to, count, type, status))                              \
  X(File_read_shared, file_read_shared, RW_NOTHING, (file, to, count, type, status))                                      \
  X(File_read_ordered, file_read_ordered, RW_NOTHING, (file, to, count, type, status))                                    \
  X(File_write, file_write, RW_NOTHING, (file, from, count, type, status))                                                \
  X(File_write_all, file_write_all, RW_NOTHING, (file, from, count, type, status))                                        \
  X(File_write_at, file_write_at, RW_NOTHING, (file, offset, from, count, type, status))                                  \
  X(File_write_at_all, file_write_at_all, RW_NOTHING, (file, offset, from, count, type, status))                          \
  X(File_write_shared, file_write_shared, RW_NOTHING, (file, from, count, type, status))                                  \
  X(File_write_ordered, file_write_ordered, RW_NOTHING, (file, from, count, type, status))                                \
  X(File_iread, file_iread, RW_NOTHING, (file, to, count, type, request))                                                 \
  X(File_iread_at, file_iread_at, RW_NOTHING, (file, offset, to, count, type, request))                                   \
  X(File_iwrite, file_iwrite, RW_NOTHING, (file, from, count, type, request))                                             \
  X(File_iwrite_at, file_iwrite_at, RW_NOTHING, (file, offset, from, count, type, request))

/* Functions with a text: Fortran passes its length, too, so that they are intercepted in C only. */
#define RW_WITH_TEXT(X)                                                                                                   \
  X(File_open, file_open, RW_NOTHING, (comm, name, mode, info, new_file))                                                 \
  X(File_set_view, file_set_view, RW_NOTHING, (file, offset, type, received_type, name, info))

#define RW_IN_BOTH_LANGUAGES(X) RW_POINT_TO_POINT(X) RW_SINCE_4(X) RW_COLLECTIVES(X) RW_TIMED(X)
#define RW_FUNCTIONS(X) RW_IN_BOTH_LANGUAGES(X) RW_WITH_TEXT(X)

#endif
