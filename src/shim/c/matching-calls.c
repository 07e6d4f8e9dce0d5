/*
 * This file intercepts sends, receives and probes of C. The library's own messages are sent by `PMPI_` functions
 * and not recorded.
 */
#include "shim.h"

#define SEND(name)                                                                                            \
  RW_EXPORT int MPI_##name(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {  \
    if (rw_matching_is_on) rw_matching_send(comm, to, tag, count, type);                                      \
    return rw_next.name(from, count, type, to, tag, comm);                                                    \
  }

SEND(Send)
SEND(Bsend)
SEND(Ssend)
SEND(Rsend)

#define ISEND(name)                                                                                         \
  RW_EXPORT int MPI_##name(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,  \
                           MPI_Request *request) {                                                          \
    if (!rw_matching_is_on) return rw_next.name(from, count, type, to, tag, comm, request);                 \
    rw_matching_send(comm, to, tag, count, type);                                                           \
    int code = rw_next.name(from, count, type, to, tag, comm, request);                                     \
    rw_matching_forget(code, *request);                                                                     \
    return code;                                                                                            \
  }

ISEND(Isend)
ISEND(Ibsend)
ISEND(Issend)
ISEND(Irsend)

#define SEND_INIT(name)                                                                                     \
  RW_EXPORT int MPI_##name(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,  \
                           MPI_Request *request) {                                                          \
    int code = rw_next.name(from, count, type, to, tag, comm, request);                                     \
    if (rw_matching_is_on) rw_matching_persistent(code, *request, 0, comm, to, tag, count, type);           \
    return code;                                                                                            \
  }

SEND_INIT(Send_init)
SEND_INIT(Bsend_init)
SEND_INIT(Ssend_init)
SEND_INIT(Rsend_init)

RW_EXPORT int MPI_Recv_init(void *to, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                            MPI_Request *request) {
  int code = rw_next.Recv_init(to, count, type, source, tag, comm, request);
  if (rw_matching_is_on) rw_matching_persistent(code, *request, 1, comm, source, tag, count, type);
  return code;
}

RW_EXPORT int MPI_Recv(void *to, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status) {
  MPI_Status own;
  if (!rw_matching_is_on) return rw_next.Recv(to, count, type, source, tag, comm, status);
  if (status == MPI_STATUS_IGNORE) status = &own;
  int64_t post = rw_matching_post(comm, source, tag, count, type);
  int code = rw_next.Recv(to, count, type, source, tag, comm, status);
  rw_matching_done(post, code, status);
  return code;
}

RW_EXPORT int MPI_Irecv(void *to, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
  if (!rw_matching_is_on) return rw_next.Irecv(to, count, type, source, tag, comm, request);
  int64_t post = rw_matching_post(comm, source, tag, count, type);
  int code = rw_next.Irecv(to, count, type, source, tag, comm, request);
  rw_matching_request(code, *request, post);
  return code;
}

RW_EXPORT int MPI_Sendrecv(const void *from, int sent, MPI_Datatype send_type, int to, int send_tag, void *into, int received,
                           MPI_Datatype receive_type, int source, int receive_tag, MPI_Comm comm, MPI_Status *status) {
  MPI_Status own;
  if (!rw_matching_is_on)
    return rw_next.Sendrecv(from, sent, send_type, to, send_tag, into, received, receive_type, source, receive_tag, comm,
                            status);
  if (status == MPI_STATUS_IGNORE) status = &own;
  int64_t post = rw_matching_post(comm, source, receive_tag, received, receive_type);
  rw_matching_send(comm, to, send_tag, sent, send_type);
  int code = rw_next.Sendrecv(from, sent, send_type, to, send_tag, into, received, receive_type, source, receive_tag, comm,
                              status);
  rw_matching_done(post, code, status);
  return code;
}

RW_EXPORT int MPI_Sendrecv_replace(void *data, int count, MPI_Datatype type, int to, int send_tag, int source,
                                   int receive_tag, MPI_Comm comm, MPI_Status *status) {
  MPI_Status own;
  if (!rw_matching_is_on)
    return rw_next.Sendrecv_replace(data, count, type, to, send_tag, source, receive_tag, comm, status);
  if (status == MPI_STATUS_IGNORE) status = &own;
  int64_t post = rw_matching_post(comm, source, receive_tag, count, type);
  rw_matching_send(comm, to, send_tag, count, type);
  int code = rw_next.Sendrecv_replace(data, count, type, to, send_tag, source, receive_tag, comm, status);
  rw_matching_done(post, code, status);
  return code;
}

RW_EXPORT int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status) {
  MPI_Status own;
  if (!rw_matching_is_on) return rw_next.Probe(source, tag, comm, status);
  if (status == MPI_STATUS_IGNORE) status = &own;
  int code = rw_next.Probe(source, tag, comm, status);
  if (code == MPI_SUCCESS) rw_matching_probe(RW_MATCHING_PROBE, comm, source, tag, 1, status);
  return code;
}

RW_EXPORT int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
  MPI_Status own;
  if (!rw_matching_is_on) return rw_next.Iprobe(source, tag, comm, flag, status);
  if (status == MPI_STATUS_IGNORE) status = &own;
  int code = rw_next.Iprobe(source, tag, comm, flag, status);
  if (code == MPI_SUCCESS) rw_matching_probe(RW_MATCHING_PROBE, comm, source, tag, *flag, status);
  return code;
}

/* A blocking matched probe counts as a receive. The receive of its message no longer matches anything. */
RW_EXPORT int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
  MPI_Status own;
  if (!rw_matching_is_on) return rw_next.Mprobe(source, tag, comm, message, status);
  if (status == MPI_STATUS_IGNORE) status = &own;
  int64_t post = rw_matching_post(comm, source, tag, 0, MPI_DATATYPE_NULL);
  int code = rw_next.Mprobe(source, tag, comm, message, status);
  rw_matching_done(post, code, status);
  return code;
}

RW_EXPORT int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
  MPI_Status own;
  if (!rw_matching_is_on) return rw_next.Improbe(source, tag, comm, flag, message, status);
  if (status == MPI_STATUS_IGNORE) status = &own;
  int code = rw_next.Improbe(source, tag, comm, flag, message, status);
  if (code == MPI_SUCCESS) rw_matching_probe(RW_MATCHING_MPROBE, comm, source, tag, *flag, status);
  return code;
}
