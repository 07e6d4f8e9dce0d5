import fc from 'fast-check'
import { type Algorithm, algorithmOf, type Shape } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { drawnPermutation, mulberry32 } from '../../src/base/random.js'
import { bitFields } from '../../src/collective/ways/bit-order.js'
import { boxOf, pathBox } from '../../src/collective/ways/box.js'
import { faultsOf } from '../support/algorithm-checks.js'
import { cases, isSoak } from '../support/soak.js'

const mostPlaces = isSoak ? 130 : 40

/** A part of a network, and where its participants are. */
const networks = fc
  .record({
    nodes: fc.array(fc.record({ extent: fc.integer({ min: 1, max: 7 }), wrap: fc.boolean() }), {
      minLength: 1,
      maxLength: 4,
    }),
    perNode: fc.constantFrom(1, 1, 1, 2, 3),
    isIrregular: fc.boolean(),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    seed: fc.nat(),
  })
  .filter(
    ({ nodes, perNode }) =>
      nodes.reduce<number>((product, { extent }) => product * extent, perNode) <= mostPlaces,
  )

const calls = fc.record({
  network: fc.option(networks, { nil: undefined, freq: 4 }),
  ranks: fc.integer({ min: 1, max: 24 }),
  collective: fc.constantFrom('allgather', 'reduce-scatter', 'bcast', 'reduce', 'allreduce'),
  family: fc.constantFrom('reordered', 'bucket'),
  order: fc.constantFrom('network', 'doubling', 'halving', 'path', 'drawn'),
  ports: fc.constantFrom(1, 1, 2, 3, 4, 6, 8),
  doubling: fc.constantFrom(0, 1),
  shuffle: fc.constantFrom(0, 1),
  rounds: fc.constantFrom(1, 1, 1, 2, 3),
  root: fc.nat(),
  seed: fc.nat(),
})

type Call = typeof calls extends fc.Arbitrary<infer T> ? T : never

function shapeOf({ network, ranks: inRow, rounds, ports, root }: Call): Shape {
  const segments = rounds * ports
  if (network === undefined) return { ranks: inRow, segments, root: root % inRow }
  const { nodes, perNode, isIrregular, share, seed } = network
  const places = nodes.reduce<number>((product, { extent }) => product * extent, perNode)
  const ranks = isIrregular ? Math.max(1, Math.ceil(places * share)) : places
  const place = drawnPermutation(mulberry32(seed), places).slice(0, ranks)
  const grid = {
    dims: nodes.map(({ extent }) => extent),
    wraps: nodes.map(({ wrap }) => wrap),
    perNode,
    ...(isIrregular || seed % 2 === 0 ? { place } : {}),
  }
  return { ranks, segments, root: root % ranks, grid }
}

function settingOf(
  { collective, family, order, ports, doubling, shuffle, seed }: Call,
  { grid, ranks }: Shape,
): Algorithm {
  const shuffled = collective === 'allgather' || collective === 'reduce-scatter' ? { shuffle } : {}
  const algorithm = algorithmOf(`${collective}-${family}`)
  if (family === 'bucket') return algorithm.with!({ ports, doubling, ...shuffled })
  const box = order === 'path' ? pathBox(grid, ranks, 0) : boxOf(grid, ranks)
  const drawn = [...drawnPermutation(mulberry32(seed), bitFields(box.dims).bits)].join('.')
  const given = order !== 'drawn' ? order : drawn === '' ? 'network' : drawn
  return algorithm.with!({ order: given, ports, ...shuffled })
}

describe('collectives along the dimensions of a network', () => {
  it('end at every rank with its data, each once, for random networks, partitions and orders', () => {
    let served = 0
    fc.assert(
      fc.property(calls, (call) => {
        const shape = shapeOf(call)
        const algorithm = settingOf(call, shape)
        if ((algorithm.refuses?.(shape) ?? null) !== null) return
        served++
        expect(faultsOf(algorithm, shape)).toEqual([])
      }),
      { numRuns: cases(400, 100), seed: 20261128 },
    )
    expect(served).toBeGreaterThan(cases(400, 100) / 3)
  })
})
