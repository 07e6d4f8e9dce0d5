import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseEdgeList } from '../../src/topology/files/edge-list.js'
import { describeShim, right } from '../support/shim.js'
import { onlyObject } from '../unit/cli/run-cli.js'
import { command, spawnCli } from '../unit/cli/spawn-cli.js'

describeShim('rankweave record', (shim) => {
  const { mpi } = shim
  /** What lies in the folder of the command. */
  const made = () => readdirSync(shim.path('')).sort()

  const compiled = () => ['--library', shim.library]
  const record = (ranks: number, words: readonly string[], program: string | readonly string[]) => {
    const started = typeof program === 'string' ? shim.caseCommand(program) : program
    const launch = [mpi.mpirun, ...mpi.flags, '-n', String(ranks), ...started]
    return spawnCli(['record', '--json', '-o', 'graph.txt', ...words, '--', ...launch], {
      cwd: shim.path(''),
      command: ['env', ...Object.entries(mpi.env).map(([name, value]) => `${name}=${value}`), ...command],
    })
  }

  it('writes a graph with its calls that can be planned, and only if the program succeeds', async () => {
    // The program demands three arguments.
    const failed = await record(1, compiled(), 'neighbors 3')
    expect(failed.exitCode).toBe(3)
    expect(failed.stderr).toContain('so nothing is recorded')
    expect(made()).toEqual([])

    // Four calls of each collective on two graphs, one more on the second, and two on a copy of the first.
    // The command compiles the library itself.
    const recorded = await record(4, [], 'neighbors 3 3 4')
    expect(recorded.stderr).toBe(right('neighbors 3 3 4').stdout)
    const { graphs } = onlyObject(recorded)
    expect(graphs).toMatchObject([
      {
        ...{ file: 'graph.txt', ranks: 4, communicators: 2 },
        functions: {
          MPI_Neighbor_allgather: { calls: 6 },
          MPI_Neighbor_allgatherv: { calls: 6 },
          MPI_Neighbor_alltoall: { calls: 6 },
          MPI_Neighbor_alltoallv: { calls: 6 },
        },
      },
      {
        ...{ file: 'graph-2.txt', ranks: 4, communicators: 1 },
        functions: {
          MPI_Neighbor_allgather: { calls: 5 },
          MPI_Neighbor_allgatherv: { calls: 5 },
          MPI_Neighbor_alltoall: { calls: 5 },
          MPI_Neighbor_alltoallv: { calls: 5 },
        },
      },
    ])
    expect(made()).toEqual(['graph-2.txt', 'graph.txt'])
    const [{ edges }] = graphs as [{ readonly edges: number }]
    expect(parseEdgeList(readFileSync(shim.path('graph.txt'), 'utf8')).outRank).toHaveLength(edges)
  })

  it('writes who sends to whom of a program without neighborhood collectives', async () => {
    const { graphs } = onlyObject(await record(4, [], [shim.program('traffic', '-pthread'), 'pairs']))
    expect(graphs).toEqual([
      { file: 'graph.txt', ranks: 4, edges: 8, nodes: '1x4', messages: 336, bytes: 6608 },
    ])
    const { outRank, outWeight } = parseEdgeList(readFileSync(shim.path('graph.txt'), 'utf8'))
    // Rank 0 sends 952 bytes in messages and exchanges to the next one, and 400 to its partner, which is the same.
    expect([...outRank.subarray(0, 2)]).toEqual([1, 3])
    expect([...outWeight!.subarray(0, 2)]).toEqual([1352, 300])
  })

  it('counts calls of every form, and leaves all to MPI', async () => {
    const { graphs } = onlyObject(await record(4, compiled(), 'forms 3'))
    const [{ functions }] = graphs as [{ readonly functions: Readonly<Record<string, object>> }]
    const bases = ['allgather', 'allgatherv', 'alltoall', 'alltoallv', 'alltoallw']
    const started =
      mpi.name === 'MPICH' ? ['allgather', 'alltoall'].map((base) => `MPI_Neighbor_${base}_init`) : []
    const names = [...bases.flatMap((base) => [`MPI_Neighbor_${base}`, `MPI_Ineighbor_${base}`]), ...started]
    expect(functions).toEqual(Object.fromEntries(names.map((name) => [name, { calls: 3, blocks: [4, 4] }])))
  })
})
