/* This file intercepts sends, receives, probes and creations of Fortran. */
#include "fortran.h"

#include <dlfcn.h>

#ifdef OPEN_MPI

int rw_fortran_ignores(const MPI_Fint *status) {
  static const void *one, *all;
  static int is_looked_up;
  if (!is_looked_up) {
    one = dlsym(RTLD_DEFAULT, "mpi_fortran_status_ignore_");
    all = dlsym(RTLD_DEFAULT, "mpi_fortran_statuses_ignore_");
    is_looked_up = 1;
  }
  return status == one || status == all;
}

#define SEND(name)                                                                                      \
  RW_ENTRIES(name,                                                                                      \
             (void *from, MPI_Fint *count, MPI_Fint *type, MPI_Fint *to, MPI_Fint *tag, MPI_Fint *comm, \
              MPI_Fint *code), {                                                                        \
               if (rw_matching_is_on) rw_matching_send(RW_COMM, *to, *tag, *count, RW_TYPE(type));      \
               library(from, count, type, to, tag, comm, code);                                         \
             })

SEND(send)
SEND(bsend)
SEND(ssend)
SEND(rsend)

#define REQUESTED(name, before, after)                                                                    \
  RW_ENTRIES(name,                                                                                        \
             (void *data, MPI_Fint *count, MPI_Fint *type, MPI_Fint *peer, MPI_Fint *tag, MPI_Fint *comm, \
              MPI_Fint *request, MPI_Fint *code), {                                                       \
               int is_on = rw_matching_is_on;                                                             \
               int64_t post = -1;                                                                         \
               if (is_on) before;                                                                         \
               library(data, count, type, peer, tag, comm, request, code);                                \
               if (is_on && *code == MPI_SUCCESS) after;                                                  \
               (void)post;                                                                                \
             })

#define ISEND(name) \
  REQUESTED(name, rw_matching_send(RW_COMM, *peer, *tag, *count, RW_TYPE(type)), rw_matching_forget(*code, MPI_Request_f2c(*request)))

ISEND(isend)
ISEND(ibsend)
ISEND(issend)
ISEND(irsend)
REQUESTED(irecv, post = rw_matching_post(RW_COMM, *peer, *tag, *count, RW_TYPE(type)),
          rw_matching_request(*code, MPI_Request_f2c(*request), post))

#define INIT(name, is_receive) \
  REQUESTED(name, (void)0,     \
            rw_matching_persistent(*code, MPI_Request_f2c(*request), is_receive, RW_COMM, *peer, *tag, *count, RW_TYPE(type)))

INIT(send_init, 0)
INIT(bsend_init, 0)
INIT(ssend_init, 0)
INIT(rsend_init, 0)
INIT(recv_init, 1)

/* A status of the program, or a substitute if it wants none. */
#define STATUS                     \
  MPI_Fint own[RW_FORTRAN_STATUS]; \
  if (rw_matching_is_on && rw_fortran_ignores(status)) status = own

static void done(int64_t post, const MPI_Fint *code, const MPI_Fint *status) {
  MPI_Status read;
  if (post < 0 || *code != MPI_SUCCESS) return;
  if (PMPI_Status_f2c(status, &read) == MPI_SUCCESS) rw_matching_done(post, *code, &read);
}

RW_ENTRIES(recv,
           (void *to, MPI_Fint *count, MPI_Fint *type, MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *status,
            MPI_Fint *code), {
  STATUS;
  int64_t post = rw_matching_is_on ? rw_matching_post(RW_COMM, *source, *tag, *count, RW_TYPE(type)) : -1;
  library(to, count, type, source, tag, comm, status, code);
  done(post, code, status);
})

RW_ENTRIES(sendrecv,
           (void *from, MPI_Fint *sent, MPI_Fint *send_type, MPI_Fint *to, MPI_Fint *send_tag, void *into, MPI_Fint *count,
            MPI_Fint *type, MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *status, MPI_Fint *code), {
  STATUS;
  int64_t post = rw_matching_is_on ? rw_matching_post(RW_COMM, *source, *tag, *count, RW_TYPE(type)) : -1;
  if (rw_matching_is_on) rw_matching_send(RW_COMM, *to, *send_tag, *sent, RW_TYPE(send_type));
  library(from, sent, send_type, to, send_tag, into, count, type, source, tag, comm, status, code);
  done(post, code, status);
})

RW_ENTRIES(sendrecv_replace,
           (void *data, MPI_Fint *count, MPI_Fint *type, MPI_Fint *to, MPI_Fint *send_tag, MPI_Fint *source, MPI_Fint *tag,
            MPI_Fint *comm, MPI_Fint *status, MPI_Fint *code), {
  STATUS;
  int64_t post = rw_matching_is_on ? rw_matching_post(RW_COMM, *source, *tag, *count, RW_TYPE(type)) : -1;
  if (rw_matching_is_on) rw_matching_send(RW_COMM, *to, *send_tag, *count, RW_TYPE(type));
  library(data, count, type, to, send_tag, source, tag, comm, status, code);
  done(post, code, status);
})

static void probed(int kind, MPI_Comm comm, int source, int tag, int is_found, const MPI_Fint *code, const MPI_Fint *status) {
  MPI_Status read;
  if (!rw_matching_is_on || *code != MPI_SUCCESS) return;
  if (!is_found || PMPI_Status_f2c(status, &read) == MPI_SUCCESS)
    rw_matching_probe(kind, comm, source, tag, is_found, &read);
}

RW_ENTRIES(probe, (MPI_Fint * source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *status, MPI_Fint *code), {
  STATUS;
  library(source, tag, comm, status, code);
  probed(RW_MATCHING_PROBE, RW_COMM, *source, *tag, 1, code, status);
})

RW_LOGICAL_ENTRIES(iprobe, (MPI_Fint * source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *code), {
  STATUS;
  library(source, tag, comm, flag, status, code);
  probed(RW_MATCHING_PROBE, RW_COMM, *source, *tag, *flag != 0, code, status);
})

RW_ENTRIES(mprobe, (MPI_Fint * source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *message, MPI_Fint *status, MPI_Fint *code), {
  STATUS;
  int64_t post = rw_matching_is_on ? rw_matching_post(RW_COMM, *source, *tag, 0, MPI_DATATYPE_NULL) : -1;
  library(source, tag, comm, message, status, code);
  done(post, code, status);
})

RW_LOGICAL_ENTRIES(improbe,
           (MPI_Fint * source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *message, MPI_Fint *status,
            MPI_Fint *code), {
  STATUS;
  library(source, tag, comm, flag, message, status, code);
  probed(RW_MATCHING_MPROBE, RW_COMM, *source, *tag, *flag != 0, code, status);
})

static void created(const MPI_Fint *comm, const MPI_Fint *code) {
  if (!rw_matching_is_on || *code != MPI_SUCCESS) return;
  MPI_Comm made = MPI_Comm_f2c(*comm);
  rw_matching_created(*code, &made);
}

static void created_by_all(const MPI_Fint *old, const MPI_Fint *comm, MPI_Fint *code) {
  created(comm, code);
  *code = rw_tune_created(MPI_Comm_f2c(*old), *code, *code == MPI_SUCCESS ? MPI_Comm_f2c(*comm) : MPI_COMM_NULL);
}

/* All members of the old communicator make the new one. */
#define CREATE(entries, name, parameters, arguments) \
  entries(name, parameters, {                        \
    library arguments;                               \
    created_by_all(old, comm, code);                 \
  })

CREATE(RW_ENTRIES, comm_dup, (MPI_Fint * old, MPI_Fint *comm, MPI_Fint *code), (old, comm, code))
CREATE(RW_ENTRIES, comm_dup_with_info, (MPI_Fint * old, MPI_Fint *info, MPI_Fint *comm, MPI_Fint *code), (old, info, comm, code))
CREATE(RW_ENTRIES, comm_split, (MPI_Fint * old, MPI_Fint *color, MPI_Fint *place, MPI_Fint *comm, MPI_Fint *code),
       (old, color, place, comm, code))
CREATE(RW_ENTRIES, comm_split_type,
       (MPI_Fint * old, MPI_Fint *type, MPI_Fint *place, MPI_Fint *info, MPI_Fint *comm, MPI_Fint *code),
       (old, type, place, info, comm, code))
CREATE(RW_ENTRIES, comm_create, (MPI_Fint * old, MPI_Fint *group, MPI_Fint *comm, MPI_Fint *code), (old, group, comm, code))
RW_ENTRIES(comm_create_group, (MPI_Fint * old, MPI_Fint *group, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *code), {
  library(old, group, tag, comm, code);
  created(comm, code);
})
CREATE(RW_LOGICAL_ENTRIES, cart_sub, (MPI_Fint * old, MPI_Fint *remain, MPI_Fint *comm, MPI_Fint *code), (old, remain, comm, code))
CREATE(RW_LOGICAL_ENTRIES, graph_create,
       (MPI_Fint * old, MPI_Fint *count, MPI_Fint *index, MPI_Fint *edges, MPI_Fint *reorder, MPI_Fint *comm, MPI_Fint *code),
       (old, count, index, edges, reorder, comm, code))
RW_LOGICAL_ENTRIES(intercomm_merge, (MPI_Fint * old, MPI_Fint *high, MPI_Fint *comm, MPI_Fint *code), {
  library(old, high, comm, code);
  created(comm, code);
})

#endif
