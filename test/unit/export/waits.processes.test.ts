import { expect, it } from 'vitest'
import { algorithmOf } from '../../../src/collective/algorithms.js'
import { scheduleOf } from '../../../src/collective/patterns/schedule-size.js'
import type { Schedule } from '../../../src/schedule/ir.js'
import { compileExported } from '../../support/exported-c.js'
import { describeEitherMpi } from '../../support/mpi.js'
import { compilerOf } from '../../support/mpi-collectives.js'
import { withWaits } from '../../support/random-waits.js'
import { chooseBy } from '../../support/schedule-faults.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

/** Reports the most sends of a rank that had been started and not been seen complete. */
const tracer = `
#include <mpi.h>
#include <stdio.h>

static MPI_Request *started[64];
static int count, most;

int MPI_Isend(const void *buffer, int n, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request) {
  int code = PMPI_Isend(buffer, n, type, peer, tag, comm, request), known = 0, open = 0;
  for (int i = 0; i < count; i++) known |= started[i] == request;
  if (!known && count < 64) started[count++] = request;
  for (int i = 0; i < count; i++) open += *started[i] != MPI_REQUEST_NULL;
  if (open > most) most = open;
  return code;
}

int MPI_Finalize(void) {
  int all = 0;
  PMPI_Allreduce(&most, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("most sends %d\\n", all);
  return PMPI_Finalize();
}
`

const gather = scheduleOf(algorithmOf('gather-linear-sync'), { ranks: 5, root: 2, segments: 3 })
const alltoall = (requests: number) =>
  scheduleOf(algorithmOf('alltoall-linear').with!({ requests }), { ranks: 5, segments: 2 })
const random = (id: string, seed: number): Schedule =>
  withWaits(scheduleOf(algorithmOf(id), { ranks: 6, segments: 2 }), chooseBy(seed))

describeEitherMpi('an exported C program with waits', (mpi) => {
  const mpicc = compilerOf(mpi)
  const folder = temporaryFolder('export')

  it.skipIf(mpicc === null).each([
    ['a gather with synchronization', gather],
    ['a reduction whose messages wait at random', random('allreduce-rabenseifner', 7)],
    ['an all-to-all whose messages wait at random', random('alltoall-bruck', 11)],
  ])('gives the data of the specification: %s', async (_, schedule) => {
    const run = compileExported(mpicc!, mpi, folder(), schedule)
    for (const bytes of ['4', '20000', '100000']) {
      const { code, stderr } = await run('-b', bytes, '-n', '1', '-s', '2')
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    }
  })

  it.skipIf(mpicc === null)('has at most as many sends in progress as its algorithm says', async () => {
    const mostSends = async (requests: number) => {
      const run = compileExported(mpicc!, mpi, folder(), alltoall(requests), tracer)
      const { code, stdout, stderr } = await run('-b', '200000', '-n', '0')
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      return Number(/^most sends (\d+)$/m.exec(stdout)![1])
    }
    expect(await mostSends(2)).toBe(2)
    expect(await mostSends(0)).toBe(8)
  })
})
