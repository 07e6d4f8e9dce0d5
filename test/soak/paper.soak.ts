import { expect, test } from 'vitest'
import { countHyperedges } from '../../src/topology/friends/hyperedges.js'
import { erdosRenyiTopology } from '../../src/topology/generate/erdos-renyi.js'
import { mooreTopology } from '../../src/topology/generate/moore.js'
import { asPrinted, nodesOf, printedRules, sends } from '../paper/printed.js'
import { sampled } from '../support/soak.js'

// What of the reference tables takes too long for every day; see test/paper.

/** The value for an argument, made once. */
function once<Key extends string | number, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new Map<Key, Value>()
  return (key) => {
    if (!made.has(key)) made.set(key, make(key))
    return made.get(key)!
  }
}

const randomGraph = once((density: number) => erdosRenyiTopology({ ranks: 1024, density, seed: 1 }))

/** On nodes of 32 ranks; both tables of random graphs have some in common. */
const sendsOf = once((key: `${number} ${'agnostic' | 'aware'} ${number}`) => {
  const [density, mode, k] = key.split(' ') as [string, 'agnostic' | 'aware', string]
  return sends(randomGraph(Number(density)), 32, printedRules(Number(k), mode))
})

test.each(
  sampled(
    [
      [[64, 64], 4, 126_556],
      [[16, 16, 16], 2, 362_720],
    ] as const,
    2,
  ),
)('hyperedges per rank, Moore %j, r=%i, agnostic k=4: %i', (dims, radius, meanPerRank) => {
  const topology = mooreTopology({ dims, radius })
  expect(countHyperedges(topology, { k: 4, theta: 12, workLimit: 1e11 })).toMatchObject({ meanPerRank })
})

test.each(
  sampled(
    [
      [0.4, 'agnostic', 2, '227/253/217/424'],
      [0.4, 'aware', 4, '291/322/226/467'],
      [0.6, 'agnostic', 2, '330/356/315/630'],
      [0.6, 'aware', 2, '337/362/312/629'],
      [0.6, 'aware', 3, '311/338/262.5'],
      [0.6, 'aware', 4, '346/369/276/676'],
      [0.8, 'agnostic', 2, '430/450/411/833'],
      [0.8, 'aware', 2, '438/457/411/833'],
      [0.8, 'aware', 3, '362/422/319'],
      [0.8, 'aware', 4, '366/393/309/866'],
    ] as const,
    3,
  ),
)('random graph of density %f, %s k=%i: %s', (density, mode, k, printed) => {
  expect(asPrinted(sendsOf(`${density} ${mode} ${k}`), printed)).toBe(printed)
})

// Ghazimirsaeed 2019 Figure 7.10 has 2, 2, 3, 4, 4.
test.each(
  sampled(
    [
      [0.05, 2, '39.7/49.5/49.5/49.5'],
      [0.2, 2, '114/130/174/199'],
      [0.4, 3, '213/196/226/322'],
      [0.6, 3, '312/262.5/276/351'],
      [0.8, 4, '411/319/309/342'],
    ] as const,
    3,
  ),
)('random graph of density %f: k=%i sends least between nodes', (density, best, printed) => {
  const sizes = [2, 3, 4, 6]
  const interNode = sizes.map((k) => sendsOf(`${density} aware ${k}`)[2])
  expect(asPrinted(interNode, printed)).toBe(printed)
  expect(sizes[interNode.indexOf(Math.min(...interNode))]).toBe(best)
})

test.each(
  sampled(
    [
      [0.6, 629_381, '615/663/596/615'],
      [0.8, 838_479, '819/855/794/819'],
    ] as const,
    2,
  ),
)('random graph of density %f: %i edges, direct %s', (density, edges, direct) => {
  const topology = randomGraph(density)
  expect(topology.outRank.length).toBe(edges)
  expect(asPrinted(sends(topology, 32, { kind: 'direct' }), direct)).toBe(direct)
})

test('random graph of density 0.4, aware k=4: dedupe and elide take 291 sends per rank to 256', () => {
  const topology = randomGraph(0.4)
  const sent = sends(topology, 32, { kind: 'common-neighbor', k: 4, mode: 'aware' })
  expect(asPrinted(sent, '256')).toBe('256')
})

test.each([
  [0.4, 6, '22414'],
  [0.6, 6, '169911'],
])('hyperedges per rank, random graph of density %f, aware k=%i: %s', (density, k, printed) => {
  const topology = randomGraph(density)
  const counted = countHyperedges(topology, { k, theta: k, nodeOf: nodesOf(1024, 32) })
  if (counted.kind !== 'counted') throw new Error(counted.reason)
  expect(asPrinted([counted.meanPerRank], printed)).toBe(printed)
})

test('hyperedges per rank, Moore 8x8x8x8, r=1, agnostic k=4 with weights of exactly theta: 9880', () => {
  const topology = mooreTopology({ dims: [8, 8, 8, 8], radius: 1 })
  const counted = countHyperedges(topology, { k: 4, theta: 11, nodeOf: null })
  if (counted.kind !== 'counted') throw new Error(counted.reason)
  expect(asPrinted([counted.meanPerRank], '9880')).toBe('9880')
})
