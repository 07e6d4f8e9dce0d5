import { beforeAll, expect, it } from 'vitest'
import { algorithmOf } from '../../../src/collective/algorithms.js'
import { scheduleOf } from '../../../src/collective/patterns/schedule-size.js'
import { plan } from '../../../src/neighborhood/plan/plan.js'
import { topologyFromEdges } from '../../../src/topology/topology-builders.js'
import { compileExported } from '../../support/exported-c.js'
import { describeEitherMpi } from '../../support/mpi.js'
import { compilerOf } from '../../support/mpi-collectives.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

// Parallel edges, a self loop, uneven degrees, an isolated rank, and blocks that ranks pass on.
const topology = topologyFromEdges(5, {
  sources: [0, 0, 0, 0, 1, 2, 3],
  destinations: [1, 1, 2, 3, 1, 3, 0],
})

describeEitherMpi('an exported C program', (mpi) => {
  const mpicc = compilerOf(mpi)
  const folder = temporaryFolder('export')
  let run: ReturnType<typeof compileExported>

  beforeAll(() => {
    const { schedule } = plan(topology, { kind: 'routed' }, { operation: 'neighbor-alltoall' })
    if (mpicc !== null) run = compileExported(mpicc, mpi, folder(), schedule)
  })

  it.skipIf(mpicc === null)('checks its data and times the library too; refuses bad options', async () => {
    const { code, stdout, stderr } = await run('-b', '20000', '-n', '1', '-s', '2', '-j')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toEqual({
      collective: 'neighbor-alltoall',
      strategy: 'routed',
      ranks: 5,
      bytes: 20000,
      ok: true,
      samples: 1,
      starts: 2,
      planUs: expect.any(Number),
      libraryUs: expect.any(Number),
    })
    const checked = 'neighbor-alltoall by routed, 5 ranks, 5 bytes: data as expected\n'
    expect(await run('-b', '5', '-n', '0')).toEqual({ code: 0, stdout: checked, stderr: '' })
    const refused = await run('-b', '-4')
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('error: got an option without its number\nusage: mpirun -n 5')
  })

  it.skipIf(mpicc === null)('fails where the call of the library gives other data', async () => {
    const without = `#include <mpi.h>
int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  (void)buffer, (void)count, (void)type, (void)root, (void)comm;
  return MPI_SUCCESS;
}
`
    const schedule = scheduleOf(algorithmOf('bcast-chain'), { ranks: 3, root: 1 })
    const both = await compileExported(mpicc!, mpi, folder(), schedule)('-b', '5', '-n', '0')
    const checked =
      "bcast by bcast-chain, 3 ranks, 5 bytes: data as expected, also by the library's own call\n"
    expect(both).toEqual({ code: 0, stdout: checked, stderr: '' })
    const broken = compileExported(mpicc!, mpi, folder(), schedule, without)
    const { code, stdout, stderr } = await broken('-b', '5', '-n', '0')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain("error: wrong data in 2 slots by the library's own call")
  })
})
