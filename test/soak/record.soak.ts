import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseEdgeList } from '../../src/topology/files/edge-list.js'
import { describeMpi } from '../support/mpi.js'
import { compilerOf } from '../support/mpi-collectives.js'
import { compileProgram } from '../support/shim.js'
import { onlyObject } from '../unit/cli/run-cli.js'
import { command, spawnCli } from '../unit/cli/spawn-cli.js'

describeMpi('rankweave record', (mpi) => {
  const mpicc = compilerOf(mpi)
  let folder: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'rankweave-record-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const record = (...words: readonly string[]) =>
    spawnCli(['record', '--json', '-o', 'graph.txt', '--', mpi.mpirun, ...mpi.flags, ...words], {
      cwd: folder,
      command: ['env', ...Object.entries(mpi.env).map(([name, value]) => `${name}=${value}`), ...command],
    })

  it.skipIf(mpicc === null)(
    'writes a graph with its calls that can be planned, and only if the program succeeds',
    async () => {
      const ends = compileProgram(folder, mpicc!, 'ends')
      const failed = await record('-n', '1', ends)
      expect(failed.exitCode).toBe(3)
      expect(failed.stderr).toContain('so nothing is recorded')
      expect(readdirSync(folder)).toEqual(['ends'])

      const recorded = await record('-n', '4', ends)
      expect(recorded.stderr).toBe('right: 0 wrong elements\n')
      const { graphs } = onlyObject(recorded)
      expect(graphs).toMatchObject([
        {
          ...{ file: 'graph.txt', ranks: 4, edges: 12, communicators: 1 },
          collectives: {
            'neighbor-allgather': { calls: 15, blocks: [8, 1200] },
            'neighbor-alltoall': { calls: 3 },
          },
        },
        { file: 'graph-2.txt', edges: 8, collectives: { 'neighbor-allgather': { calls: 3 } } },
      ])
      expect(readdirSync(folder).sort()).toEqual(['ends', 'graph-2.txt', 'graph.txt'])
      expect(parseEdgeList(readFileSync(join(folder, 'graph.txt'), 'utf8')).outRank).toHaveLength(12)
    },
  )
})
