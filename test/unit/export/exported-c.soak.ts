import fc from 'fast-check'
import { expect, it } from 'vitest'
import { comparedSettings, scheduleOfText } from '../../../bench/exported.js'
import { algorithmOf, algorithms } from '../../../src/collective/algorithms.js'
import { textOfTuned, tunedParameters } from '../../../src/collective/open-mpi-settings.js'
import type { Algorithm } from '../../../src/collective/patterns/algorithm.js'
import type { ParticipantGrid } from '../../../src/collective/patterns/participant-grid.js'
import { scheduleOf } from '../../../src/collective/patterns/schedule-of.js'
import { plan } from '../../../src/neighborhood/plan/plan.js'
import { parseStrategy } from '../../../src/neighborhood/strategies/strategies.js'
import type { Schedule } from '../../../src/schedule/ir.js'
import { withPorts } from '../../../src/schedule/lower/with-ports.js'
import { rootedCollectives, upTo } from '../../../src/schedule/specification.js'
import { topologyFromEdges } from '../../../src/topology/topology-builders.js'
import { smallTopologies } from '../../property/random-topology.js'
import { variants } from '../../support/algorithm-checks.js'
import { compileExported } from '../../support/exported-c.js'
import { describeMpi } from '../../support/mpi.js'
import { compilerOf } from '../../support/mpi-collectives.js'
import { withWaits } from '../../support/random-waits.js'
import { chooseBy } from '../../support/schedule-faults.js'
import { demanded, inTurn, tier } from '../../support/soak.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

// Parallel edges, a self loop, uneven degrees, an isolated rank, and blocks that ranks pass on.
const topology = topologyFromEdges(5, {
  sources: [0, 0, 0, 0, 1, 2, 3],
  destinations: [1, 1, 2, 3, 1, 3, 0],
})

const strategies = ['direct', 'common-neighbor', 'routed', 'allgather', 'descending', 'lanes', 'hierarchical']
const lengths = ['0', '4', '20000', '32768']
const operations = ['neighbor-allgather', 'neighbor-alltoall', 'neighbor-reduce'] as const
const graphs = fc
  .sample(smallTopologies(8), { seed: 15, numRuns: 300 })
  .filter((graph) => graph.topology.ranks <= 8)
  .slice(0, demanded(30, 7))
const nodesOf = (ranks: number) => Int32Array.from({ length: ranks }, (_, rank) => Math.floor(rank / 3))

const wrapped: ParticipantGrid = { dims: [3, 2], wraps: [true, true] }
const nodes: ParticipantGrid = { dims: [3], wraps: [false], perNode: 2, place: upTo(6).reverse() }
const networks: readonly (readonly [string, ParticipantGrid])[] = [
  ['allgather-bucket:ports=2,shuffle=1', wrapped],
  ['allgather-reordered:ports=2', nodes],
  ['allreduce-bucket:ports=4', wrapped],
  ['reduce-scatter-reordered:order=path,shuffle=1', wrapped],
  ['reduce-scatter-bucket:ports=2,shuffle=1,doubling=1', wrapped],
  ['bcast-reordered', nodes],
  ['reduce-bucket:ports=2', nodes],
]

/** A number of ranks that an algorithm serves: no power of two if it can. */
const ranksFor = ({ refuses }: Algorithm): number =>
  [6, 8, 2].find((ranks) => (refuses?.({ ranks }) ?? null) === null)!

const alltoall = (requests: number) =>
  scheduleOf(algorithmOf('alltoall-linear').with!({ requests }), { ranks: 5, segments: 2 })

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

/** A bcast of the library that moves nothing. */
const withoutBcast = `#include <mpi.h>
int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  (void)buffer, (void)count, (void)type, (void)root, (void)comm;
  return MPI_SUCCESS;
}
`

describeMpi('an exported C program', (mpi) => {
  const mpicc = compilerOf(mpi)
  const compiling = it.skipIf(mpicc === null)
  const folder = temporaryFolder('export')
  const isMpich = mpi.name === 'MPICH'
  const compile = (schedule: Schedule, beside?: string, env?: Readonly<Record<string, string>>) =>
    compileExported(mpicc!, mpi, folder(), schedule, beside, env)

  /** What a program prints that has found the data of its specification. */
  async function right(run: ReturnType<typeof compile>, ...options: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await run(...options)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return stdout
  }

  compiling('checks its data and times the library too; refuses bad options', async () => {
    const run = compile(plan(topology, { kind: 'routed' }, { operation: 'neighbor-alltoall' }).schedule)
    expect(JSON.parse(await right(run, '-b', '20000', '-n', '1', '-s', '2', '-j'))).toEqual({
      ...{ collective: 'neighbor-alltoall', strategy: 'routed', ranks: 5, bytes: 20000, ok: true },
      ...{ samples: 1, starts: 2, planUs: expect.any(Number), libraryUs: expect.any(Number) },
    })
    const checked = 'neighbor-alltoall by routed, 5 ranks, 5 bytes: data as expected\n'
    expect(await right(run, '-b', '5', '-n', '0')).toBe(checked)
    const refused = await run('-b', '-4')
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('error: got an option without its number\nusage: mpirun -n 5')
  })

  compiling('fails where the call of the library gives other data', async () => {
    const schedule = scheduleOf(algorithmOf('bcast-chain'), { ranks: 3, root: 1 })
    expect(await right(compile(schedule), '-b', '5', '-n', '0')).toBe(
      "bcast by bcast-chain, 3 ranks, 5 bytes: data as expected, also by the library's own call\n",
    )
    const { code, stdout, stderr } = await compile(schedule, withoutBcast)('-b', '5', '-n', '0')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain("error: wrong data in 2 slots by the library's own call")
  })

  compiling.each(graphs.map((graph, i) => [graph.what, graph.topology, i] as const))(
    'of %s gives the data of the specification',
    async (_, graph, i) => {
      const strategy = parseStrategy(strategies[i % strategies.length]!)
      const operation = operations[i % operations.length]!
      const { schedule } = plan(graph, strategy, { operation, nodeOf: nodesOf(graph.ranks) })
      await right(compile(schedule), '-b', lengths[i % lengths.length]!, '-n', '1', '-s', '1')
    },
  )

  // Half of them on either library: each program is compiled, which takes longer than to run it.
  const half = <T>(all: readonly T[]) => all.filter((_, i) => i % 2 === (isMpich ? 1 : 0))
  const numbered = (all: readonly Algorithm[]) =>
    all.map((algorithm, i) => [algorithm.id, algorithm, i] as const)
  const some = inTurn(half(algorithms), 6)
  const bytesOf = (i: number) => (i % 2 === 0 ? '4' : '20000')

  compiling.each(numbered(tier === 'long' ? variants : some))(
    'of %s sums exactly, beside the library',
    async (_, algorithm, i) => {
      const schedule = scheduleOf(algorithm, { ranks: ranksFor(algorithm), segments: 1 })
      expect(await right(compile(schedule), '-b', bytesOf(i), '-n', '1', '-s', '1')).toMatch(
        /data as expected, also by the library's own call\nplan .*\nlibrary .* its own call/,
      )
    },
  )

  compiling.each(numbered(some).filter(([, , i]) => tier === 'long' || i % 2 === 1))(
    'of %s sums exactly when messages wait at random',
    async (_, algorithm, i) => {
      const schedule = scheduleOf(algorithm, { ranks: ranksFor(algorithm), segments: 2 })
      await right(compile(withWaits(schedule, chooseBy(i))), '-b', bytesOf(i + 1), '-n', '1', '-s', '2')
    },
  )

  compiling.each(half(networks))(
    'along the dimensions of a grid gives the data of the specification: %s',
    async (text, grid) => {
      const algorithm = algorithmOf(text)
      const { collective, sections = 1 } = algorithm
      const root = rootedCollectives.includes(collective) ? 5 : 0
      const run = compile(scheduleOf(algorithm, { ranks: 6, root, segments: sections, grid }))
      // Fewer bytes than there are parts, and long messages of unequal parts.
      for (const bytes of ['4', '100004']) await right(run, '-b', bytes, '-n', '1', '-s', '2')
    },
  )

  compiling('of a gather with synchronization gives the data of the specification', async () => {
    const gather = scheduleOf(algorithmOf('gather-linear-sync'), { ranks: 5, root: 2, segments: 3 })
    await right(compile(gather), '-b', '100000', '-n', '1', '-s', '2')
  })

  compiling('has at most as many sends in progress as its schedule says', async () => {
    const mostSends = async (schedule: Schedule) => {
      const stdout = await right(compile(schedule, tracer), '-b', '200000', '-n', '0')
      return Number(/^most sends (\d+)$/m.exec(stdout)![1])
    }
    expect(await mostSends(alltoall(2))).toBe(2)
    expect(await mostSends(alltoall(0))).toBe(8)
    expect(await mostSends(withPorts(alltoall(0), 3))).toBe(3)
  })

  // The program compares both results with what they must be.
  const forced = isMpich ? [] : inTurn(comparedSettings, 2)
  compiling.each(forced.map((setting) => [textOfTuned(setting), setting] as const))(
    'of %s gives what the algorithm of the same name gives',
    async (text, setting) => {
      const schedule = scheduleOfText(text, 16, 65536)
      const env = Object.fromEntries(
        Object.entries(tunedParameters(setting)).map(([name, value]) => [`OMPI_MCA_${name}`, value]),
      )
      const stdout = await right(compile(schedule, undefined, env), '-b', '65536', '-n', '0')
      expect(stdout).toContain("also by the library's own call")
    },
  )
})
