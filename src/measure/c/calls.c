/* The calls that are measured: their data, and their expected results. */
#include "measure.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { barrier, bcast, scatter, gather, allgather, alltoall, reduce, allreduce, reduceScatter, scan, exscan, collectives };

static const char *const names[collectives] = {"barrier",  "bcast",  "scatter",   "gather",         "allgather", "alltoall",
                                               "reduce",   "allreduce", "reduce-scatter", "scan", "exscan"};

/* Returns byte i of the block that one rank has for another. */
static unsigned char byteOf(long source, long destination, long i)
{
    return (unsigned char)((source * 89 + destination * 31 + i * 7 + (i >> 8) * 13 + 5) % 251);
}

/* Returns element i of a rank's contribution: sums are exact in every type. */
static int termOf(int rank, long i) { return (int)((rank * 7 + i * 3) % 101) + 1; }

static void fillBlocks(void *array, int first, int count, long bytes, int rank, int isOrigin)
{
    unsigned char *at = array;
    for (int other = first; other < first + count; other++)
        for (long i = 0; i < bytes; i++) *at++ = isOrigin ? byteOf(rank, other, i) : byteOf(other, rank, i);
}

static void setElement(void *array, MPI_Datatype type, long place, double value)
{
    if (type == MPI_DOUBLE) ((double *)array)[place] = value;
    else ((int *)array)[place] = (int)value;
}

/* Writes elements from `first` of the sum over the ranks from 0 to `ranks - 1`. */
static void fillSum(void *array, MPI_Datatype type, int count, int ranks, long first)
{
    for (int i = 0; i < count; i++) {
        double sum = 0;
        for (int rank = 0; rank < ranks; rank++) sum += termOf(rank, first + i);
        setElement(array, type, i, sum);
    }
}

static void *room(size_t bytes)
{
    void *memory = calloc(1, bytes > 0 ? bytes : 1);
    if (memory == NULL) fail("memory is exhausted: %zu bytes", bytes);
    return memory;
}

static void makeMovement(Call *call, long bytes)
{
    int rank = call->rank, size = call->size, isRoot = rank == 0;
    size_t one = (size_t)bytes, all = one * (size_t)size;
    int sendsAll = call->collective == alltoall || (call->collective == scatter && isRoot);
    int getsAll = call->collective == alltoall || call->collective == allgather || (call->collective == gather && isRoot);
    int getsOne = call->collective == scatter || (call->collective == bcast && !isRoot);
    call->receiveBytes = getsAll ? all : getsOne ? one : 0;
    call->send = room(sendsAll ? all : one);
    call->receive = room(call->receiveBytes);
    call->expected = room(call->receiveBytes);
    switch (call->collective) {
    case bcast:
        fillBlocks(call->send, 0, 1, bytes, 0, 1);
        if (!isRoot) fillBlocks(call->expected, 0, 1, bytes, 0, 1);
        break;
    case scatter:
        if (isRoot) fillBlocks(call->send, 0, size, bytes, 0, 1);
        fillBlocks(call->expected, 0, 1, bytes, rank, 0);
        break;
    case gather:
    case allgather:
        fillBlocks(call->send, 0, 1, bytes, rank, 1);
        if (getsAll) fillBlocks(call->expected, 0, size, bytes, 0, 0);
        break;
    case alltoall:
        fillBlocks(call->send, 0, size, bytes, rank, 1);
        fillBlocks(call->expected, 0, size, bytes, rank, 0);
        break;
    default: break;
    }
}

static void makeReduction(Call *call, size_t element)
{
    int rank = call->rank, size = call->size, isWhole = call->collective == reduceScatter;
    long length = (long)call->count * (isWhole ? size : 1);
    int isReceiver = call->collective == reduce ? rank == 0 : call->collective == exscan ? rank > 0 : 1;
    call->receiveBytes = isReceiver ? element * (size_t)call->count : 0;
    call->send = room(element * (size_t)length);
    call->receive = room(element * (size_t)call->count);
    call->expected = room(call->receiveBytes);
    for (long i = 0; i < length; i++) setElement(call->send, call->type, i, termOf(rank, i));
    if (isReceiver) {
        int ranks = call->collective == scan ? rank + 1 : call->collective == exscan ? rank : size;
        fillSum(call->expected, call->type, call->count, ranks, isWhole ? (long)rank * call->count : 0);
    }
    call->counts = room(sizeof(int) * (size_t)size);
    for (int other = 0; other < size; other++) call->counts[other] = call->count;
}

int makeCall(Call *call, const char *collective, const char *type, long bytes, int rank, int size)
{
    memset(call, 0, sizeof *call);
    call->rank = rank;
    call->size = size;
    while (call->collective < collectives && strcmp(names[call->collective], collective) != 0) call->collective++;
    if (call->collective == collectives || bytes < 0 || bytes > INT_MAX) return 0;
    call->type = strcmp(type, "float64") == 0 ? MPI_DOUBLE : strcmp(type, "int32") == 0 ? MPI_INT : MPI_BYTE;
    size_t element = call->type == MPI_DOUBLE ? sizeof(double) : call->type == MPI_INT ? sizeof(int) : 1;
    if ((size_t)bytes % element != 0 || (call->collective >= reduce) != (call->type != MPI_BYTE)) return 0;
    call->count = (int)((size_t)bytes / element);
    if (call->collective >= reduce) makeReduction(call, element);
    else makeMovement(call, bytes);
    return 1;
}

void freeCall(Call *call)
{
    free(call->send);
    free(call->receive);
    free(call->expected);
    free(call->counts);
    memset(call, 0, sizeof *call);
}

int runCall(const Call *call, MPI_Comm comm)
{
    void *send = call->send, *receive = call->receive;
    int count = call->count;
    MPI_Datatype type = call->type;
    switch (call->collective) {
    case barrier: return MPI_Barrier(comm);
    case bcast: return MPI_Bcast(call->rank == 0 ? send : receive, count, type, 0, comm);
    case scatter: return MPI_Scatter(send, count, type, receive, count, type, 0, comm);
    case gather: return MPI_Gather(send, count, type, receive, count, type, 0, comm);
    case allgather: return MPI_Allgather(send, count, type, receive, count, type, comm);
    case alltoall: return MPI_Alltoall(send, count, type, receive, count, type, comm);
    case reduce: return MPI_Reduce(send, receive, count, type, MPI_SUM, 0, comm);
    case allreduce: return MPI_Allreduce(send, receive, count, type, MPI_SUM, comm);
    case reduceScatter: return MPI_Reduce_scatter(send, receive, call->counts, type, MPI_SUM, comm);
    case scan: return MPI_Scan(send, receive, count, type, MPI_SUM, comm);
    default: return MPI_Exscan(send, receive, count, type, MPI_SUM, comm);
    }
}

void clearResult(const Call *call) { memset(call->receive, 0, call->receiveBytes); }

int isResultRight(const Call *call) { return memcmp(call->receive, call->expected, call->receiveBytes) == 0; }
