import { writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseEdgeList } from '../../../src/topology/files/edge-list.js'
import { mapTopology } from '../../../src/topology/mapping/map-topology.js'
import {
  printedSlots,
  recordedGraph,
  reorderedKinds,
  shifted,
  writeSlots,
} from '../../support/reordered-program.js'
import { describeShim } from '../../support/shim.js'
import { sampled } from '../../support/soak.js'

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i)

describeShim('reorder = 1 with the preloaded library', (shim) => {
  const isMpich = shim.mpi.name === 'MPICH'

  /** Where each vertex of each case is. */
  async function slotsOf(
    words: string,
    ranks: number,
    cores: number,
    cases: readonly string[],
    stderr?: unknown,
  ) {
    const env = { RANKWEAVE_SHIM: words, RANKWEAVE_SHIM_CORES: String(cores) }
    return printedSlots(await shim.run(ranks, cases, env), cases, stderr)
  }

  it.each(sampled(upTo(48), 11))(
    'has the neighbors of each vertex on random topologies: seed %i',
    async (seed) => {
      const ranks = 2 + ((seed + 3) % (isMpich ? 4 : 7))
      const cores = 1 + (seed % 3)
      const all = reorderedKinds.map((kind, i) => `reorder ${kind} ${seed + i}`)
      for (const own of await slotsOf('always,reorder', ranks, cores, all))
        expect(own.toSorted((a, b) => a - b)).toEqual(upTo(own.length))
      const kind = reorderedKinds[seed % reorderedKinds.length]
      const [path, cases] = [shim.path(`random-${seed}`), [`reorder ${kind} ${seed}`]]
      await slotsOf(`record:${path}`, ranks, cores, cases)
      const topology = recordedGraph(path, kind, ranks)
      const nodeOfSlot = Int32Array.from({ length: topology.ranks }, (_, slot) => Math.floor(slot / cores))
      const { slotOf } = mapTopology(topology, { nodeOfSlot, mostWork: 1e5 })
      writeSlots(path, topology, slotOf)
      expect(await slotsOf(`reorder:${path}`, ranks, cores, cases)).toEqual([[...slotOf]])
    },
  )

  it('leaves ranks as they are where a graph has no edges, or a file says so', async () => {
    const [path, cases] = [shim.path('order'), ['reorder adjacent 1']]
    await slotsOf(`record:${path}`, 7, 2, cases)
    writeSlots(path, recordedGraph(path, 'adjacent', 7), upTo(7))
    expect(await slotsOf(`reorder:${path}`, 7, 2, cases)).toEqual([upTo(7)])
    expect(await slotsOf('reorder', 7, 2, ['reorder adjacent 0'])).toEqual([upTo(7)])
  })

  it('reorders nothing if a process does not say so', async () => {
    const env = { RANKWEAVE_SHIM: 'reorder', RANKWEAVE_SHIM_CORES: '2' }
    const command = shim.unless(3, 'unset RANKWEAVE_SHIM', 'reorder adjacent 3')
    expect(printedSlots(await shim.start(7, command, env), ['reorder adjacent 3'])).toEqual([upTo(7)])
  })

  const damagedMapping = () => {
    writeFileSync(shim.path('damaged.packed'), '{}')
    return shim.path('damaged')
  }

  it.each([
    [
      'does not exist',
      () => shim.path('nowhere'),
      'the file beside it that ends with .packed cannot be opened',
    ],
    ['is damaged', damagedMapping, 'the file beside it that ends with .packed is of another kind'],
  ] as const)('reorders nothing and says why once where the file %s', async (_, pathOf, why) => {
    const said = `rankweave shim: the mapping ${pathOf()} is not used: ${why}`
    const only = expect.stringMatching(new RegExp(`^${said}.*\\n$`))
    const words = `reorder:${pathOf()}`
    expect(await slotsOf(words, 7, 2, ['reorder lists 1', 'reorder grid 1'], only)).toEqual([
      upTo(7),
      upTo(6),
    ])
  })

  it.each([
    ['reorder', '2'],
    ['reorder:FILE', '0'],
  ])('gives right data whichever allocation fails on one rank: %s', async (words, cores) => {
    const ranks = isMpich ? 2 : 5
    const degree = Math.min(3, ranks - 1)
    const edges = upTo(ranks).flatMap((from) =>
      upTo(degree).map((step) => `${from} ${(from + 1 + step) % ranks}`),
    )
    const topology = parseEdgeList([`ranks ${ranks}`, ...edges].join('\n'))
    const path = writeSlots(shim.path('failing.map'), topology, shifted(topology))
    const ended = await shim.start(ranks, [shim.program('failing'), '1', '1'], {
      RANKWEAVE_SHIM: words.replace('FILE', path),
      RANKWEAVE_SHIM_CORES: isMpich ? '1' : cores,
    })
    expect(ended.code).toBe(0)
    expect(ended.stdout).toMatch(/^right: 0 wrong elements after [1-9]\d* failures\n$/)
  })
})
