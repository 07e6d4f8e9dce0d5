import { local, threads } from 'rankweave'
import { collectiveConformance } from 'rankweave/conformance'
import type { FabricFactory } from 'rankweave/fabric'
import { describe, it } from 'vitest'
import { seededRandom } from '../../src/base/random.js'
import { perTier, sampled, soakSeed } from '../support/soak.js'

/** Names of tests hold the seeds of what they do. */
const random = seededRandom(soakSeed)
const below = (bound: number) => Math.floor(random() * bound)
const one = <T>(choices: readonly T[]): T => choices[below(choices.length)]!

/** Blocks of ranks for so many processes, some of them empty. */
function uneven(processes: number): number[] {
  const counts = Array.from({ length: processes }, () => below(6))
  if (!counts.some((count) => count > 0)) counts[below(processes)] = 1
  return counts
}

interface Drawn {
  readonly fabric: FabricFactory
  readonly places: 'one thread' | 'threads'
  readonly seed: number
  readonly what: object
}

function drawLocal(): Drawn {
  const processes = one([1, 2, 3, 4, 7])
  const seed = below(1e6)
  const options = {
    ranksPerProcess: uneven(processes),
    nodes: 1 + below(processes),
    maxPayloadBytes: one([1024, 5000, 2 ** 20]),
    bulk: below(2) === 0,
    seed,
    scribble: true,
    faults: { delay: below(4) },
  }
  return { fabric: local(options), places: 'one thread', seed, what: options }
}

function drawThreads(processes: number): Drawn {
  const options = { ranksPerProcess: uneven(processes), ringBytes: one([4096, 8192, 65_536, 2 ** 20]) }
  const seed = below(1e6)
  return { fabric: threads(options), places: 'threads', seed, what: options }
}

const fourThreads = [
  { ranksPerProcess: [1, 1, 1, 1], ringBytes: 4096 },
  { ranksPerProcess: [1, 0, 5, 2], ringBytes: 2 ** 20 },
].map((what): Drawn => ({ fabric: threads(what), places: 'threads', seed: 4, what }))

const draws = [
  ...Array.from({ length: perTier({ test: 1, soak: 2, long: 10 }) }, drawLocal),
  ...perTier({ test: [2], soak: [2], long: [1, 2, 2, 4] }).map(drawThreads),
  ...perTier({ test: [one(fourThreads)], soak: [one(fourThreads)], long: fourThreads }),
]

describe(`conformance, RANKWEAVE_SOAK_SEED=${soakSeed}`, () => {
  describe.each(draws)('$fabric.kind, seed $seed, $what', ({ fabric, places, seed }) => {
    const { kind, processes, ranksPerProcess } = fabric
    const ranks = ranksPerProcess!.reduce((sum, count) => sum + count, 0)
    const expected = { kind, processes, places }
    const options = {
      ranks,
      expected,
      seed,
      rounds: perTier({ test: 1, soak: 1, long: 3 }),
      sharedWorlds: true,
    }
    for (const { name, run } of collectiveConformance(fabric, options)) it(name, run)
  })

  // Two ranks hold two copies each.
  const large = [
    { fabric: local({ processes: 2 }), places: 'one thread' as const },
    { fabric: local({ processes: 2, bulk: false }), places: 'one thread' as const },
    { fabric: threads({ processes: 2 }), places: 'threads' as const },
    // Takes minutes: some 65,000 laps of the ring for each message.
    { fabric: threads({ processes: 2, ringBytes: 4096 }), places: 'threads' as const },
  ]
  describe.each(sampled(large, 2))('messages of 256 MiB on $fabric.kind', ({ fabric, places }) => {
    const { kind, processes } = fabric
    const options = { ranks: 2, expected: { kind, processes, places }, large: true }
    for (const { name, run } of collectiveConformance(fabric, options)) {
      if (/large/.test(name)) it(name, run)
    }
  })
})
