/* The collectives of an MPI library on the data of collective-data.ts: mpi-collectives CASES FOLDER

   Every line of CASES is a case: five numbers, the indices of its collective, ranks, root, lengths and content in the lists of
   collective-cases.ts; fewer ranks come first. Process r writes what rank r gets, case after case, to FOLDER/r: the number
   of 32-bit words, then those words.

   The calls are the non-blocking ones: many processes share few cores, and MPICH, when it blocks, polls without ever giving
   its core to the one that it waits for. What is compared, integers and products in the order of ranks, does not depend on it. */
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BARRIER, BCAST, SCATTER, GATHER, ALLGATHER, ALLTOALL, REDUCE, ALLREDUCE, REDUCE_SCATTER, SCAN, EXSCAN };
enum { NONE, EQUAL, VARYING };
enum { INTEGERS, MATRICES };

/* Largest: 33 ranks, blocks of 5 matrices. */
enum { MOST_RANKS = 64, MOST_WORDS = MOST_RANKS * MOST_RANKS * 20 };

static uint32_t sent[MOST_WORDS], received[MOST_WORDS];
static int send_counts[MOST_RANKS], send_starts[MOST_RANKS], counts[MOST_RANKS], starts[MOST_RANKS];

static uint32_t mixed(uint32_t slot, uint32_t src, uint32_t dest, uint32_t i)
{
	uint32_t numbers[4] = { slot, src, dest, i }, bits = 0x9e3779b9u;
	for (int n = 0; n < 4; n++) {
		bits = (bits ^ numbers[n]) * 0x85ebca6bu;
		bits = (bits ^ (bits >> 13)) * 0xc2b2ae35u;
		bits ^= bits >> 16;
	}
	return bits;
}

static uint32_t word(int content, uint32_t slot, int src, int dest, int i)
{
	uint32_t bits = mixed(slot, src, dest, i);
	if (content == INTEGERS || i % 4 == 2) return bits;
	return i % 4 == 1 ? bits & ~1u : bits | 1u;
}

/* Units of the block from one rank to another. */
static int units(int lengths, int src, int dest)
{
	if (lengths == NONE) return 0;
	return lengths == EQUAL ? 5 : (src * 7 + dest * 3 + 1) % 4;
}

/* Puts blocks one after the other; returns their total. */
static int place(int ranks, int *count, int *start)
{
	int total = 0;
	for (int r = 0; r < ranks; r++) {
		start[r] = total;
		total += count[r];
	}
	return total;
}

static void multiply(void *in, void *inout, int *len, MPI_Datatype *type)
{
	uint32_t *x = in, *y = inout;
	(void)type;
	for (int n = 0; n < *len; n++, x += 4, y += 4) {
		uint32_t e = y[0], f = y[1], g = y[2], h = y[3];
		y[0] = x[0] * e + x[1] * g;
		y[1] = x[0] * f + x[1] * h;
		y[2] = x[2] * e + x[3] * g;
		y[3] = x[2] * f + x[3] * h;
	}
}

/* Starts a call; returns the units in `received` once it is done. */
static int start(int which, int root, int lengths, int content, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
	MPI_Request *request)
{
	int ranks, me, unit = content == MATRICES ? 4 : 1;
	MPI_Comm_size(comm, &ranks);
	MPI_Comm_rank(comm, &me);
	uint32_t slot = (uint32_t)(ranks * 4 + lengths);
	int is_root = me == root, is_equal = lengths != VARYING, total, mine;

	if (which == BCAST) {
		mine = units(lengths, root, 0);
		for (int i = 0; i < mine; i++) received[i] = is_root ? word(content, slot, root, 0, i) : 0;
		MPI_Ibcast(received, mine, type, root, comm, request);
		return mine;
	}
	if (which == SCATTER || which == ALLTOALL) {
		int src = which == SCATTER ? root : me;
		for (int dest = 0; dest < ranks; dest++) send_counts[dest] = units(lengths, src, dest);
		place(ranks, send_counts, send_starts);
		for (int dest = 0; dest < ranks; dest++)
			for (int i = 0; i < send_counts[dest]; i++)
				sent[send_starts[dest] + i] = word(content, slot, src, dest, i);
		mine = send_counts[me];
		if (which == SCATTER) {
			if (is_equal) MPI_Iscatter(sent, mine, type, received, mine, type, root, comm, request);
			else MPI_Iscatterv(sent, send_counts, send_starts, type, received, mine, type, root, comm, request);
			return mine;
		}
		for (int from = 0; from < ranks; from++) counts[from] = units(lengths, from, me);
		total = place(ranks, counts, starts);
		if (is_equal) MPI_Ialltoall(sent, mine, type, received, mine, type, comm, request);
		else MPI_Ialltoallv(sent, send_counts, send_starts, type, received, counts, starts, type, comm, request);
		return total;
	}
	if (which == GATHER || which == ALLGATHER) {
		int dest = which == GATHER ? root : 0;
		for (int src = 0; src < ranks; src++) counts[src] = units(lengths, src, dest);
		total = place(ranks, counts, starts);
		mine = counts[me];
		for (int i = 0; i < mine; i++) sent[i] = word(content, slot, me, dest, i);
		if (which == GATHER) {
			if (is_equal) MPI_Igather(sent, mine, type, received, mine, type, root, comm, request);
			else MPI_Igatherv(sent, mine, type, received, counts, starts, type, root, comm, request);
			return is_root ? total : 0;
		}
		if (is_equal) MPI_Iallgather(sent, mine, type, received, mine, type, comm, request);
		else MPI_Iallgatherv(sent, mine, type, received, counts, starts, type, comm, request);
		return total;
	}
	for (int r = 0; r < ranks; r++) counts[r] = units(lengths, r, 0);
	total = place(ranks, counts, starts);
	if (which != REDUCE_SCATTER) total = is_equal ? units(lengths, 0, 0) : 11;
	for (int i = 0; i < total * unit; i++) sent[i] = word(content, slot, me, 0, i);
	switch (which) {
	case REDUCE:
		MPI_Ireduce(sent, received, total, type, op, root, comm, request);
		return is_root ? total : 0;
	case ALLREDUCE:
		MPI_Iallreduce(sent, received, total, type, op, comm, request);
		return total;
	case REDUCE_SCATTER:
		if (is_equal) MPI_Ireduce_scatter_block(sent, received, counts[me], type, op, comm, request);
		else MPI_Ireduce_scatter(sent, received, counts, type, op, comm, request);
		return counts[me];
	case SCAN:
		MPI_Iscan(sent, received, total, type, op, comm, request);
		return total;
	case EXSCAN:
		MPI_Iexscan(sent, received, total, type, op, comm, request);
		return me == 0 ? 0 : total;
	}
	MPI_Abort(MPI_COMM_WORLD, 2);
	return 0;
}

/*
 * Yields first, since most messages come at once; then sleeps, since a thread that yields may be the next to
 * run again.
 */
static void wait_for(MPI_Request *request)
{
	int is_done = 0;
	MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
	for (int polls = 0; !is_done; polls++) {
		polls < 4 ? sched_yield() : usleep(20);
		MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
	}
}

/* Comes before what can only block: then nobody polls there for one that has not come yet. */
static void wait_for_all(void)
{
	MPI_Request request;
	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	wait_for(&request);
}

/* A communicator of the first processes; null for the others, which have no part in making it. */
static MPI_Comm first_processes(int count)
{
	MPI_Group all, first;
	MPI_Comm comm;
	int me, range[1][3] = { { 0, count - 1, 1 } };
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	if (me >= count) return MPI_COMM_NULL;
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_range_incl(all, 1, range, &first);
	MPI_Comm_create_group(MPI_COMM_WORLD, first, 0, &comm);
	MPI_Group_free(&first);
	MPI_Group_free(&all);
	return comm;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int me;
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	FILE *cases = argc == 3 ? fopen(argv[1], "r") : NULL;
	char path[4096];
	snprintf(path, sizeof path, "%s/%d", argc == 3 ? argv[2] : ".", me);
	FILE *results = cases == NULL ? NULL : fopen(path, "wb");
	if (results == NULL) {
		fprintf(stderr, "expected a file of cases and a folder\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	MPI_Datatype matrix;
	MPI_Op product;
	MPI_Type_contiguous(4, MPI_UINT32_T, &matrix);
	MPI_Type_commit(&matrix);
	MPI_Op_create(multiply, 0, &product);

	MPI_Comm comm = MPI_COMM_NULL;
	int ranks_now = 0, which, ranks, root, lengths, content;
	while (fscanf(cases, "%d %d %d %d %d", &which, &ranks, &root, &lengths, &content) == 5) {
		if (ranks != ranks_now) {
			if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
			wait_for_all();
			comm = first_processes(ranks);
			ranks_now = ranks;
		}
		if (comm == MPI_COMM_NULL) continue;
		int is_matrix = content == MATRICES;
		memset(received, 0xee, sizeof received / 8);
		MPI_Request request;
		int got = start(which, root, lengths, content, is_matrix ? matrix : MPI_UINT32_T,
			is_matrix ? product : MPI_SUM, comm, &request);
		wait_for(&request);
		int32_t words = got * (is_matrix ? 4 : 1);
		fwrite(&words, sizeof words, 1, results);
		fwrite(received, sizeof *received, words, results);
	}
	fclose(results);
	fclose(cases);
	if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
	wait_for_all();
	MPI_Op_free(&product);
	MPI_Type_free(&matrix);
	MPI_Finalize();
	return 0;
}
