import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, it } from 'vitest'
import { describeMpi } from '../support/mpi.js'
import { compilerOf } from '../support/mpi-collectives.js'
import { compileProgram, compileShim, runPreloaded } from '../support/shim.js'
import { sampled } from '../support/soak.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const graphs = sampled(
  Array.from({ length: 30 }, (_, seed) => seed),
  3,
)
const strategies = ['routed', 'shared', 'routed:radices=3.3', 'hierarchical:between=3.3,inside=2.3']

describeMpi('the preloaded library on random graphs', (mpi) => {
  const mpicc = compilerOf(mpi)
  const folder = temporaryFolder('shim')
  let library: string
  let neighbors: string

  beforeAll(() => {
    if (mpicc === null) return
    library = compileShim(folder(), mpicc).library
    neighbors = compileProgram(folder(), mpicc, 'neighbors')
  })

  // With and without a trial; blocks above the limit are sent directly.
  it.skipIf(mpicc === null).each(graphs)('gives right data on those of seed %i', async (seed) => {
    const strategy = strategies[seed % strategies.length]
    const env = {
      RANKWEAVE_SHIM: seed % 5 === 0 ? 'on' : 'always',
      RANKWEAVE_SHIM_STRATEGY: strategy,
      // Ranks of several nodes do not share memory.
      RANKWEAVE_SHIM_CORES: String(strategy === 'shared' ? 0 : 1 + (seed % 4)),
      RANKWEAVE_SHIM_BLOCK_LIMIT: String(seed % 2 === 0 ? 1024 : 16),
    }
    const args = [seed, seed % 6, seed % 5 === 0 ? 20 : 4].map(String)
    const ended = await runPreloaded(mpi, 2 + (seed % 7), library, [neighbors, ...args], env)
    expect(ended).toEqual({ code: 0, stdout: 'right: 0 wrong elements\n', stderr: '' })
  })

  it.skipIf(mpicc === null).each(['', 'shared'])(
    'plans messages where one rank cannot share memory and the user names "%s"',
    async (strategy) => {
      const missing = join(folder(), 'no_memory.so')
      const source = fileURLToPath(new URL('../support/shim/no_memory.c', import.meta.url))
      execFileSync(mpicc!, ['-std=c99', '-shared', '-fPIC', '-o', missing, source])
      const args = ['3', '3', '4']
      const ended = await runPreloaded(mpi, 5, `${library}:${missing}`, [neighbors, ...args], {
        RANKWEAVE_SHIM: 'always,report',
        RANKWEAVE_SHIM_STRATEGY: strategy,
      })
      expect(ended).toMatchObject({ code: 0, stdout: 'right: 0 wrong elements\n' })
      expect(ended.stderr).toContain('8 by the plan (routed:')
      expect(ended.stderr).not.toContain('(shared)')
    },
  )

  // Each is the only failure of a run, and the first of all that follow in another. Processes of MPICH keep
  // their cores, so they are few.
  it.skipIf(mpicc === null).each([
    ['shared', { RANKWEAVE_SHIM_STRATEGY: 'shared' }],
    ['routed', { RANKWEAVE_SHIM_STRATEGY: 'routed', RANKWEAVE_SHIM_CORES: '1' }],
    [
      'hierarchical',
      { RANKWEAVE_SHIM_STRATEGY: 'hierarchical:between=2.2,inside=2', RANKWEAVE_SHIM_CORES: '2' },
    ],
    ['chosen by cost', { RANKWEAVE_SHIM_CORES: '2' }],
    ['recorded', { RANKWEAVE_SHIM: 'always,record:/dev/null/nowhere' }],
  ])('gives right data whichever allocation fails on one rank: %s', async (_, settings) => {
    const failing = compileProgram(folder(), mpicc!, 'failing', ['-ldl'])
    const env = { RANKWEAVE_SHIM: 'always', ...settings }
    const ended = await runPreloaded(mpi, mpi.name === 'MPICH' ? 2 : 5, library, [failing], env)
    expect(ended.code).toBe(0)
    expect(ended.stdout).toMatch(/^right: 0 wrong elements after [1-9]\d+ failures\n$/)
  })

  it.skipIf(mpicc === null).each([
    ['waits for readers and sources after 2^32 calls as before', 'counters'],
    ['does not count what a call waits for ranks in the call before', 'trials'],
  ])('%s', (_, name) => {
    const pathOf = (path: string) => fileURLToPath(new URL(`../../src/${path}`, import.meta.url))
    const headers = ['export/c', 'shim/c'].map((path) => `-I${pathOf(path)}`)
    const program = compileProgram(folder(), mpicc!, name, headers)
    expect(execFileSync(program, { encoding: 'utf8' })).toBe('right\n')
  })
})
