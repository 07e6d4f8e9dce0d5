import { local, threads, websocket } from 'rankweave'
import { collectiveConformance } from 'rankweave/conformance'
import type { FabricFactory } from 'rankweave/fabric'
import { describe, it } from 'vitest'
import { seededRandom } from '../../src/base/random.js'
import {
  defaultMailboxDesign,
  type MailboxDesign,
  mailboxDesigns,
} from '../../src/messages/process/matching-options.js'
import { expectedOf } from '../support/shared-world.js'
import { inTurn, perTier, sampled, soakSeed, tier } from '../support/soak.js'

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

interface Layout {
  readonly fabric: FabricFactory
  readonly seed: number
  readonly matchingDesign: MailboxDesign
  readonly what: object
}

function layoutOn<T extends object>(
  fabric: (options: T) => FabricFactory,
  what: T,
  matchingDesign = one(mailboxDesigns),
) {
  return { fabric: fabric(what), seed: below(1e6), matchingDesign, what } satisfies Layout
}

const drawnLocal = () => {
  const processes = one([1, 2, 3, 4, 7])
  return layoutOn(local, {
    ...{ ranksPerProcess: uneven(processes), nodes: 1 + below(processes), seed: below(1e6), scribble: true },
    ...{ maxPayloadBytes: one([1024, 5000, 2 ** 20]), bulk: below(2) === 0, faults: { delay: below(4) } },
  })
}
const drawnThreads = () =>
  layoutOn(threads, { ranksPerProcess: uneven(2), ringBytes: one([4096, 8192, 65_536, 2 ** 20]) })

const withEveryDesign = <T extends object>(fabric: (options: T) => FabricFactory, what: T) =>
  (tier === 'long' ? mailboxDesigns : [one(mailboxDesigns)]).map((design) => layoutOn(fabric, what, design))

const layouts: readonly Layout[] = [
  ...Array.from({ length: perTier({ test: 0, soak: 1, long: 10 }) }, drawnLocal),
  ...Array.from({ length: perTier({ test: 0, soak: 1, long: 4 }) }, drawnThreads),
  ...inTurn(
    [
      { ranksPerProcess: [1, 0, 3], ringBytes: 4096 },
      { ranksPerProcess: [1, 1, 1, 1], ringBytes: 4096 },
      { ranksPerProcess: [1, 0, 5, 2], ringBytes: 2 ** 20 },
    ],
    3,
  ).flatMap((what) => withEveryDesign(threads, what)),
  ...inTurn([[2, 3], [3], [1, 0, 3, 2], [1, 1, 1, 1]], 4).flatMap((ranksPerProcess) =>
    withEveryDesign(websocket, { ranksPerProcess }),
  ),
]

describe(`conformance, RANKWEAVE_SOAK_SEED=${soakSeed}`, () => {
  describe.each(layouts)(
    '$fabric.kind, seed $seed, queues of $matchingDesign, $what',
    ({ fabric, seed, matchingDesign }) => {
      const ranks = fabric.ranksPerProcess!.reduce((sum, count) => sum + count, 0)
      const rounds = tier === 'long' ? 3 : 1
      const queues = matchingDesign === defaultMailboxDesign ? {} : { matchingDesign }
      const options = { ranks, expected: expectedOf(fabric), seed, rounds, sharedWorlds: true, ...queues }
      for (const { name, run } of collectiveConformance(fabric, options)) it(name, run)
    },
  )

  // Two ranks hold two copies each.
  const large = [
    local({ processes: 2 }),
    local({ processes: 2, bulk: false }),
    threads({ processes: 2 }),
    // Takes minutes: some 65,000 laps of the ring for each message.
    threads({ processes: 2, ringBytes: 4096 }),
  ]
  describe.each(sampled(large, 2))('messages of 256 MiB on $kind', (fabric) => {
    const options = { ranks: 2, large: true }
    for (const { name, run } of collectiveConformance(fabric, options)) {
      if (/large/.test(name)) it(name, run)
    }
  })
})
