import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeMpi } from '../support/mpi.js'
import { compilerOf } from '../support/mpi-collectives.js'
import { compileProgram, compileShim, runPreloaded } from '../support/shim.js'

const graphs = Array.from({ length: 30 }, (_, seed) => seed)
const strategies = ['routed:radices=2', 'routed:radices=3.2', 'hierarchical:between=2,inside=3']

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
    const env = {
      RANKWEAVE_SHIM: seed % 5 === 0 ? 'on' : 'always',
      RANKWEAVE_SHIM_STRATEGY: strategies[seed % strategies.length]!,
      RANKWEAVE_SHIM_CORES: String(1 + (seed % 4)),
      RANKWEAVE_SHIM_BLOCK_LIMIT: String(seed % 2 === 0 ? 1024 : 16),
    }
    const args = [seed, seed % 6, seed % 5 === 0 ? 16 : 4].map(String)
    const ended = await runPreloaded(mpi, 2 + (seed % 7), library, [neighbors, ...args], env)
    expect(ended).toEqual({ code: 0, stdout: 'right: 0 wrong elements\n', stderr: '' })
  })
})
