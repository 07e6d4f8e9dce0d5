import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseEdgeList } from '../../../src/topology/files/edge-list.js'
import { PlacedPairs } from '../../../src/topology/mapping/placed-pairs.js'
import { distinctIn, distinctOut } from '../../../src/topology/neighbors.js'
import type { ProcessTopology } from '../../../src/topology/process-topology.js'
import { describeEitherMpi } from '../../support/mpi.js'
import { compilerOf } from '../../support/mpi-collectives.js'
import {
  printedSlots,
  type ReorderedKind,
  recordedGraph,
  reorderedKinds,
  writeSlots,
} from '../../support/reordered-program.js'
import { compileProgram, compileShim, runPreloaded } from '../../support/shim.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const ranks = 7
const cores = 2

/** Pairs of a vertex and another node, where vertex v is on the slot of each. */
function pairsOf(topology: ProcessTopology, slotOf: readonly number[]): number {
  const nodeOf = Int32Array.from(slotOf, (slot) => Math.floor(slot / cores))
  return new PlacedPairs(distinctOut(topology), distinctIn(topology), nodeOf).cost
}

const inOrder = (count: number) => Array.from({ length: count }, (_, v) => v)
const shifted = (topology: ProcessTopology) =>
  inOrder(topology.ranks).map((v) => (v * 5 + 1) % topology.ranks)

describeEitherMpi('reorder = 1 with the preloaded library', (mpi) => {
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

  const start = (words: string, command: readonly string[], processes = ranks) =>
    runPreloaded(mpi, processes, library, command, {
      RANKWEAVE_SHIM: words,
      RANKWEAVE_SHIM_CORES: String(cores),
    })

  /** Where each vertex is. */
  async function placesOf(words: string, kind: ReorderedKind, seed: number, stderr: unknown = '') {
    return printedSlots(await start(words, [program, kind, String(seed)]), stderr)
  }

  async function recorded(kind: ReorderedKind, seed: number): Promise<ProcessTopology> {
    const path = join(folder(), `${kind}-${seed}`)
    await placesOf(`record:${path}`, kind, seed)
    return recordedGraph(path, kind, ranks)
  }

  const fileOf = (name: string, topology: ProcessTopology, slotOf: readonly number[]) =>
    writeSlots(join(folder(), `${name}.map`), topology, slotOf)

  skipped.each(reorderedKinds)(
    'puts each vertex where a file says, and the library maps better: %s',
    async (kind) => {
      const [seed, topology] = [3, await recorded(kind, 3)]
      const slotOf = shifted(topology)
      expect(await placesOf(`reorder:${fileOf(kind, topology, slotOf)}`, kind, seed)).toEqual(slotOf)
      const own = await placesOf('reorder', kind, seed)
      expect(own.toSorted((a, b) => a - b)).toEqual(inOrder(topology.ranks))
      expect(pairsOf(topology, own)).toBeLessThanOrEqual(pairsOf(topology, inOrder(topology.ranks)))
    },
  )

  skipped('leaves ranks as they are where a graph has no edges, or a file says so', async () => {
    const topology = await recorded('adjacent', 1)
    const path = fileOf('order', topology, inOrder(ranks))
    expect(await placesOf(`reorder:${path}`, 'adjacent', 1)).toEqual(inOrder(ranks))
    expect(await placesOf('reorder', 'adjacent', 0)).toEqual(inOrder(ranks))
  })

  skipped('reorders nothing if a process does not say so', async () => {
    const others = `test "$\{OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 3 && unset RANKWEAVE_SHIM; exec ${program} adjacent 3`
    const ended = await start('reorder', ['sh', '-c', others])
    expect(ended).toEqual({ code: 0, stdout: `0 wrong\n${inOrder(ranks).join(' ')}\n`, stderr: '' })
  })

  describe('reorders nothing and says why once where the file', () => {
    const cases: readonly (readonly [string, (good: string) => string, string])[] = [
      ['is empty', () => '', 'at byte 0 it is cut off'],
      ['is cut off', (good) => good.slice(0, -20), 'it is cut off'],
      ['is a list', () => '[]', 'expected an object'],
      ['has another format', (good) => good.replace('k', 'K'), 'format: expected rankweave-mapping'],
      ['has another version', (good) => good.replace('"version":1', '"version":2'), 'version: expected 1'],
      ['has an unknown member', (good) => good.replace('{', '{"more":1,'), 'it has an unknown member'],
      ['has a member twice', (good) => good.replace('{', '{"version":1,'), 'a member occurs twice'],
      ['lacks a member', (good) => good.replace(/"graph":"\w+",/, ''), 'graph: it is missing'],
      [
        'has no digest',
        (good) => good.replace(/"graph":"\w/, '"graph":"G'),
        'graph: expected 32 hexadecimal digits',
      ],
      ['has a slot twice', (good) => good.replace('[1,6', '[1,1'), 'slotOf: expected each of 0 to 6 once'],
      ['has a slot too large', (good) => good.replace('[1,', '[7,'), 'slotOf: expected each of 0 to 6 once'],
      ['has half a slot', (good) => good.replace('[1,', '[1.5,'), 'slotOf: expected each of 0 to 6 once'],
      ['has a list of lists', (good) => good.replace('[1,', '[[1],'), 'slotOf: expected each of 0 to 7 once'],
      ['has no slots', (good) => good.replace(/\[.*\]/, '3'), 'slotOf: expected a list of slots'],
    ]
    skipped.each(cases)('%s', async (_, damage, message) => {
      const topology = parseEdgeList('ranks 7\n0 1')
      const path = fileOf('damaged', topology, shifted(topology))
      writeFileSync(path, damage(readFileSync(path, 'utf8')))
      // It is read before graphs are compared.
      const ended = await start(`reorder:${path}`, [program, 'adjacent', '1'], 1)
      expect({ ...ended, stderr: ended.stderr.replace(/at byte [1-9]\d* /, '') }).toEqual({
        code: 0,
        stdout: '0 wrong\n0\n',
        stderr: `rankweave shim: the mapping ${path} is not used: ${message}\n`,
      })
    })

    skipped('is of another graph', async () => {
      const topology = await recorded('adjacent', 2)
      const path = fileOf('another', topology, shifted(topology))
      const said = `rankweave shim: the mapping ${path} is not used on a communicator of 7 ranks: it is for another graph\n`
      expect(await placesOf(`reorder:${path}`, 'adjacent', 3, said)).toEqual(inOrder(ranks))
      expect(await placesOf(`reorder:${path}`, 'grid', 3, said)).toEqual(inOrder(ranks - 1))
    })

    skipped('does not exist', async () => {
      const path = join(folder(), 'nowhere')
      const said = `rankweave shim: the mapping ${path} is not used: it cannot be opened\n`
      expect(await placesOf(`reorder:${path}`, 'lists', 1, said)).toEqual(inOrder(ranks))
    })
  })
})
