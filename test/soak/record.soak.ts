import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseEdgeList } from '../../src/topology/files/edge-list.js'
import { describeMpi } from '../support/mpi.js'
import { compilerOf } from '../support/mpi-collectives.js'
import { compileProgram } from '../support/shim.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { onlyObject } from '../unit/cli/run-cli.js'
import { command, spawnCli } from '../unit/cli/spawn-cli.js'

describeMpi('rankweave record', (mpi) => {
  const mpicc = compilerOf(mpi)
  const folder = temporaryFolder('record')

  const record = (...words: readonly string[]) =>
    spawnCli(['record', '--json', '-o', 'graph.txt', '--', mpi.mpirun, ...mpi.flags, ...words], {
      cwd: folder(),
      command: ['env', ...Object.entries(mpi.env).map(([name, value]) => `${name}=${value}`), ...command],
    })

  it.skipIf(mpicc === null)(
    'writes a graph with its calls that can be planned, and only if the program succeeds',
    async () => {
      const neighbors = compileProgram(folder(), mpicc!, 'neighbors')
      // The program demands three arguments.
      const failed = await record('-n', '1', neighbors)
      expect(failed.exitCode).toBe(3)
      expect(failed.stderr).toContain('so nothing is recorded')
      expect(readdirSync(folder())).toEqual(['neighbors'])

      // Four calls of each collective on two graphs, one more on the second, and two on a copy of the first.
      const recorded = await record('-n', '4', neighbors, '3', '3', '4')
      expect(recorded.stderr).toBe('right: 0 wrong elements\n')
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
      expect(readdirSync(folder()).sort()).toEqual(['graph-2.txt', 'graph.txt', 'neighbors'])
      const [{ edges }] = graphs as [{ readonly edges: number }]
      expect(parseEdgeList(readFileSync(join(folder(), 'graph.txt'), 'utf8')).outRank).toHaveLength(edges)
    },
  )
  it.skipIf(mpicc === null)('counts calls of every form, and leaves all to MPI', async () => {
    const forms = compileProgram(folder(), mpicc!, 'forms')
    const { graphs } = onlyObject(await record('-n', '4', forms, '3'))
    const [{ functions }] = graphs as [{ readonly functions: Readonly<Record<string, object>> }]
    const bases = ['allgather', 'allgatherv', 'alltoall', 'alltoallv', 'alltoallw']
    const started =
      mpi.name === 'MPICH' ? ['allgather', 'alltoall'].map((base) => `MPI_Neighbor_${base}_init`) : []
    const names = [...bases.flatMap((base) => [`MPI_Neighbor_${base}`, `MPI_Ineighbor_${base}`]), ...started]
    expect(functions).toEqual(Object.fromEntries(names.map((name) => [name, { calls: 3, blocks: [4, 4] }])))
  })
})
