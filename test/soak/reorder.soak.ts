import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { parseEdgeList } from '../../src/topology/files/edge-list.js'
import { mapTopology } from '../../src/topology/mapping/map-topology.js'
import { describeMpi } from '../support/mpi.js'
import { compilerOf } from '../support/mpi-collectives.js'
import { printedSlots, recordedGraph, reorderedKinds, writeSlots } from '../support/reordered-program.js'
import { compileProgram, compileShim, runPreloaded } from '../support/shim.js'
import { sampled } from '../support/soak.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const cases = sampled(
  Array.from(
    { length: 48 },
    (_, i) => [reorderedKinds[Math.floor(i / 4) % reorderedKinds.length], i] as const,
  ),
  7,
)

describeMpi('reorder = 1 with the preloaded library, on random topologies', (mpi) => {
  const mpicc = compilerOf(mpi)
  const folder = temporaryFolder('reorder')
  const skipped = it.skipIf(mpicc === null)
  let library: string
  let program: string

  beforeAll(() => {
    if (mpicc === null) return
    library = compileShim(folder(), mpicc).library
    program = compileProgram(folder(), mpicc, 'reorder')
  })

  skipped.each(cases)('has the neighbors of each vertex: %s, seed %i', async (kind, seed) => {
    const ranks = 2 + (seed % (mpi.name === 'MPICH' ? 4 : 7))
    const cores = 1 + (seed % 3)
    const run = async (words: string) => {
      const env = { RANKWEAVE_SHIM: words, RANKWEAVE_SHIM_CORES: String(cores) }
      return printedSlots(await runPreloaded(mpi, ranks, library, [program, kind, String(seed)], env))
    }
    const path = join(folder(), `${kind}-${seed}`)
    await run(`record:${path}`)
    const topology = recordedGraph(path, kind, ranks)
    const nodeOfSlot = Int32Array.from({ length: topology.ranks }, (_, slot) => Math.floor(slot / cores))
    const mapping = mapTopology(topology, { nodeOfSlot, mostWork: 1e5 })
    writeSlots(path, topology, mapping.slotOf)
    expect(await run(`reorder:${path}`)).toEqual(Array.from(mapping.slotOf))
    const own = await run('always,reorder')
    expect(own.toSorted((a, b) => a - b)).toEqual(Array.from(own.keys()))
  })

  skipped.each([
    ['reorder', '2'],
    ['reorder:FILE', '0'],
  ])('gives right data whichever allocation fails on one rank: %s', async (words, cores) => {
    const ranks = mpi.name === 'MPICH' ? 2 : 5
    const failing = compileProgram(folder(), mpicc!, 'failing', ['-ldl'])
    const degree = Math.min(3, ranks - 1)
    const edges = Array.from({ length: ranks * degree }, (_, e) => {
      const from = Math.floor(e / degree)
      return `${from} ${(from + 1 + (e % degree)) % ranks}`
    })
    const topology = parseEdgeList([`ranks ${ranks}`, ...edges].join('\n'))
    const slotOf = Int32Array.from({ length: ranks }, (_, v) => (v + 1) % ranks)
    const path = writeSlots(join(folder(), 'failing.map'), topology, slotOf)
    const env = {
      RANKWEAVE_SHIM: words.replace('FILE', path),
      RANKWEAVE_SHIM_CORES: mpi.name === 'MPICH' ? '1' : cores,
    }
    const ended = await runPreloaded(mpi, ranks, library, [failing, '1', '1'], env)
    expect(ended.code).toBe(0)
    expect(ended.stdout).toMatch(/^right: 0 wrong elements after [1-9]\d+ failures\n$/)
  })
})
