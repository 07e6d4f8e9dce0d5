import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, it } from 'vitest'
import { describeMpi, startCommand } from '../support/mpi.js'
import { compilerOf } from '../support/mpi-collectives.js'
import { compileExchanges, compileProgram, compileShim, runPreloaded } from '../support/shim.js'
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
  let exchanges: string

  beforeAll(() => {
    if (mpicc === null) return
    library = compileShim(folder(), mpicc).library
    neighbors = compileProgram(folder(), mpicc, 'neighbors')
    exchanges = compileExchanges(folder(), mpicc)
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
      RANKWEAVE_SHIM_PATIENCE: '0',
    }
    const args = [seed, seed % 6, seed % 5 === 0 ? 100 : 4].map(String)
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

  // As late as a busy machine makes it once in thousands of runs, with this library or without.
  it.skipIf(mpicc === null)(
    'gives right data where Open MPI unloads code that has an event to handle',
    async () => {
      const late = join(folder(), 'late.so')
      const source = fileURLToPath(new URL('../support/shim/late.c', import.meta.url))
      execFileSync(mpicc!, ['-std=gnu99', '-shared', '-fPIC', '-pthread', '-o', late, source, '-ldl'])
      const ended = await runPreloaded(mpi, 2, `${library}:${late}`, [neighbors, '9', '3', '4'], {
        RANKWEAVE_SHIM: 'always',
        RANKWEAVE_LATE: join(folder(), 'late'),
      })
      expect(ended).toEqual({ code: 0, stdout: 'right: 0 wrong elements\n', stderr: '' })
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
    ['after many calls', { RANKWEAVE_SHIM: 'on', RANKWEAVE_SHIM_PATIENCE: '0' }],
  ])('gives right data whichever allocation fails on one rank: %s', async (_, settings) => {
    const failing = compileProgram(folder(), mpicc!, 'failing', ['-ldl'])
    const env = { RANKWEAVE_SHIM: 'always', ...settings }
    const calls = env.RANKWEAVE_SHIM === 'on' ? '40' : '2'
    const ended = await runPreloaded(mpi, mpi.name === 'MPICH' ? 2 : 5, library, [failing, calls], env)
    expect(ended.code).toBe(0)
    expect(ended.stdout).toMatch(/^right: 0 wrong elements after [1-9]\d+ failures\n$/)
  })

  it.skipIf(mpicc === null)(
    'chooses by scripted times: ties, noise, drift, outliers, blocks that grow',
    () => {
      const pathOf = (path: string) => fileURLToPath(new URL(`../../src/${path}`, import.meta.url))
      const headers = ['export/c', 'shim/c'].map((path) => `-I${pathOf(path)}`)
      const program = compileProgram(folder(), mpicc!, 'trials', [...headers, '-Wl,--no-as-needed', '-lm'])
      expect(execFileSync(program, { encoding: 'utf8' })).toBe('right\n')
    },
  )

  it.skipIf(mpicc === null)('leaves programs of sessions without a world to MPI', async () => {
    const sessions = compileProgram(folder(), mpicc!, 'sessions')
    const ranks = mpi.name === 'MPICH' ? 3 : 1
    const ended = await runPreloaded(mpi, ranks, library, [sessions], { RANKWEAVE_SHIM: 'always' })
    expect(ended).toEqual({ code: 0, stdout: 'right\n', stderr: '' })
  })

  // In which calls a communicator has a plan, and where its blocks lie.
  it
    .skipIf(mpicc === null)
    .each([
      {},
      { RANKWEAVE_SHIM: 'always' },
      { RANKWEAVE_SHIM: 'always', RANKWEAVE_SHIM_BLOCK_LIMIT: '0' },
      { RANKWEAVE_SHIM: 'always', RANKWEAVE_SHIM_CORES: '2' },
      { RANKWEAVE_SHIM: 'always', RANKWEAVE_SHIM_STRATEGY: 'routed', RANKWEAVE_SHIM_LENDS: '0' },
    ])('keeps the rules of neighborhood collectives on every topology: %o', async (env) => {
    const rules = compileProgram(folder(), mpicc!, 'rules')
    for (const ranks of [1, mpi.name === 'MPICH' ? 3 : 6]) {
      const ended = await runPreloaded(mpi, ranks, library, [rules], env)
      expect(ended).toEqual({
        code: 0,
        stdout: expect.stringMatching(/^right: \d+ calls checked, 0 wrong\n$/),
        stderr: '',
      })
    }
  })

  // Of 256 KiB there is no space for the longer blocks of two rings; one of two communicators alive has no entry.
  it.skipIf(mpicc === null).each([
    ['many', 40, {}],
    ['many', 12, { RANKWEAVE_SHIM_REGION: '262144' }],
    ['many', 12, { RANKWEAVE_SHIM_CORES: '2' }],
    ['many', 12, { RANKWEAVE_SHIM_BLOCK_LIMIT: '16' }],
    ['many', 12, { RANKWEAVE_SHIM_BLOCK_LIMIT: '0' }],
    ['many', 12, { RANKWEAVE_SHIM_BLOCK_LIMIT: '16', RANKWEAVE_SHIM_LENDS: '0' }],
    ['late', 1, { RANKWEAVE_SHIM_BLOCK_LIMIT: '0' }],
    ['late', 60, { RANKWEAVE_SHIM_BLOCK_LIMIT: '0' }],
    ['late', 60, { RANKWEAVE_SHIM_REGION: '262144' }],
    ['ahead', 2, {}],
    ['ahead', 1, { RANKWEAVE_SHIM_REGION: '262144' }],
    ['ahead', 0, { RANKWEAVE_SHIM_CORES: '2' }],
    ['again', mpi.name === 'MPICH' ? 1000 : 10_000, {}],
    ['alive', 600, {}],
    ['children', 50, {}],
    ['freed', 50, {}],
    ['threads', 300, {}],
  ])('publishes blocks: %s, %i, %o', async (name, count, env) => {
    const ranks = mpi.name === 'MPICH' ? 3 : 5
    for (const seed of ['1', '2', '3']) {
      const ended = await startCommand(mpi, ranks, [exchanges, name, String(count), seed], env).ended
      expect(ended).toEqual({ code: 0, stdout: 'right: 0 wrong elements\n', stderr: '' })
    }
  })
})
