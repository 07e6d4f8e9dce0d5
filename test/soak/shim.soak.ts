import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeMpi } from '../support/mpi.js'
import { compilerOf } from '../support/mpi-collectives.js'
import { compileProgram, compileShim, runPreloaded } from '../support/shim.js'

const graphs = Array.from({ length: 30 }, (_, seed) => seed)
const strategies = ['routed:radices=2', 'shared', 'routed:radices=3.2', 'hierarchical:between=2,inside=3']

describeMpi('the preloaded library on random graphs', (mpi) => {
  const mpicc = compilerOf(mpi)
  let folder: string
  let library: string
  let neighbors: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'rankweave-shim-'))
    if (mpicc === null) return
    library = compileShim(folder, mpicc).library
    neighbors = compileProgram(folder, mpicc, 'neighbors')
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  // With and without a trial; blocks above the limit are sent directly.
  it.skipIf(mpicc === null).each(graphs)('gives right data on those of seed %i', async (seed) => {
    const strategy = strategies[seed % strategies.length]!
    const env = {
      RANKWEAVE_SHIM: seed % 5 === 0 ? 'on' : 'always',
      RANKWEAVE_SHIM_STRATEGY: strategy,
      // Ranks of several nodes do not share memory.
      RANKWEAVE_SHIM_CORES: String(strategy === 'shared' ? 0 : 1 + (seed % 4)),
      RANKWEAVE_SHIM_BLOCK_LIMIT: String(seed % 2 === 0 ? 1024 : 16),
    }
    const args = [seed, seed % 6, seed % 5 === 0 ? 16 : 4].map(String)
    const ended = await runPreloaded(mpi, 2 + (seed % 7), library, [neighbors, ...args], env)
    expect(ended).toEqual({ code: 0, stdout: 'right: 0 wrong elements\n', stderr: '' })
  })

  it.skipIf(mpicc === null).each(['', 'shared'])(
    'plans messages where one rank cannot share memory and the user names "%s"',
    async (strategy) => {
      const missing = join(folder, 'no_memory.so')
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

  it.skipIf(mpicc === null)('waits for readers and sources after 2^32 calls as before', () => {
    const pathOf = (path: string) => fileURLToPath(new URL(`../../src/${path}`, import.meta.url))
    const headers = ['export/c', 'shim/c', 'shim/c/run'].map((path) => `-I${pathOf(path)}`)
    const counters = compileProgram(folder, mpicc!, 'counters', headers)
    expect(execFileSync(counters, { encoding: 'utf8' })).toBe('right\n')
  })
})
