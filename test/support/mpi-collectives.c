/* The collectives of an MPI library on the data of collective-data.ts: mpi-collectives CASES FOLDER

   Every line of CASES is a case: five numbers, the indices of its collective, ranks, root, lengths and content in the lists of
   collective-cases.ts; fewer ranks come first. Process r writes what rank r gets, case after case, to FOLDER/r: the number
   of 32-bit words, then those words. */
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

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

/* Returns the units in `received`. */
static int call(int which, int root, int lengths, int content, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
	int ranks, me, unit = content == MATRICES ? 4 : 1;
	MPI_Comm_size(comm, &ranks);
	MPI_Comm_rank(comm, &me);
	uint32_t slot = (uint32_t)(ranks * 4 + lengths);
	int is_root = me == root, is_equal = lengths != VARYING, total, mine;

	if (which == BCAST) {
		mine = units(lengths, root, 0);
		for (int i = 0; i < mine; i++) received[i] = is_root ? word(content, slot, root, 0, i) : 0;
		MPI_Bcast(received, mine, type, root, comm);
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
			if (is_equal) MPI_Scatter(sent, mine, type, received, mine, type, root, comm);
			else MPI_Scatterv(sent, send_counts, send_starts, type, received, mine, type, root, comm);
			return mine;
		}
		for (int from = 0; from < ranks; from++) counts[from] = units(lengths, from, me);
		total = place(ranks, counts, starts);
		if (is_equal) MPI_Alltoall(sent, mine, type, received, mine, type, comm);
		else MPI_Alltoallv(sent, send_counts, send_starts, type, received, counts, starts, type, comm);
		return total;
	}
	if (which == GATHER || which == ALLGATHER) {
		int dest = which == GATHER ? root : 0;
		for (int src = 0; src < ranks; src++) counts[src] = units(lengths, src, dest);
		total = place(ranks, counts, starts);
		mine = counts[me];
		for (int i = 0; i < mine; i++) sent[i] = word(content, slot, me, dest, i);
		if (which == GATHER) {
			if (is_equal) MPI_Gather(sent, mine, type, received, mine, type, root, comm);
			else MPI_Gatherv(sent, mine, type, received, counts, starts, type, root, comm);
			return is_root ? total : 0;
		}
		if (is_equal) MPI_Allgather(sent, mine, type, received, mine, type, comm);
		else MPI_Allgatherv(sent, mine, type, received, counts, starts, type, comm);
		return total;
	}
	for (int r = 0; r < ranks; r++) counts[r] = units(lengths, r, 0);
	total = place(ranks, counts, starts);
	if (which != REDUCE_SCATTER) total = is_equal ? units(lengths, 0, 0) : 11;
	for (int i = 0; i < total * unit; i++) sent[i] = word(content, slot, me, 0, i);
	switch (which) {
	case REDUCE:
		MPI_Reduce(sent, received, total, type, op, root, comm);
		return is_root ? total : 0;
	case ALLREDUCE:
		MPI_Allreduce(sent, received, total, type, op, comm);
		return total;
	case REDUCE_SCATTER:
		if (is_equal) MPI_Reduce_scatter_block(sent, received, counts[me], type, op, comm);
		else MPI_Reduce_scatter(sent, received, counts, type, op, comm);
		return counts[me];
	case SCAN:
		MPI_Scan(sent, received, total, type, op, comm);
		return total;
	case EXSCAN:
		MPI_Exscan(sent, received, total, type, op, comm);
		return me == 0 ? 0 : total;
	}
	MPI_Abort(MPI_COMM_WORLD, 2);
	return 0;
}

static void yield(int number)
{
	(void)number;
	sched_yield();
}

/* Processes share cores, and MPICH polls without yielding: one that waits gives up its core five thousand times a second. */
static void yield_often(void)
{
	struct sigaction action = { .sa_handler = yield, .sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 200 }, { 0, 200 } };
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	yield_often();
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
			MPI_Comm_split(MPI_COMM_WORLD, me < ranks ? 0 : MPI_UNDEFINED, me, &comm);
			ranks_now = ranks;
		}
		if (comm == MPI_COMM_NULL) continue;
		int is_matrix = content == MATRICES;
		memset(received, 0xee, sizeof received / 8);
		int got = call(which, root, lengths, content, is_matrix ? matrix : MPI_UINT32_T,
			is_matrix ? product : MPI_SUM, comm);
		int32_t words = got * (is_matrix ? 4 : 1);
		fwrite(&words, sizeof words, 1, results);
		fwrite(received, sizeof *received, words, results);
	}
	fclose(results);
	fclose(cases);
	if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
	MPI_Op_free(&product);
	MPI_Type_free(&matrix);
	MPI_Finalize();
	return 0;
}
