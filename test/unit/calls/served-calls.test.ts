import { type Communicator, local, run } from 'rankweave'
import { describe, expect, it, test } from 'vitest'
import { callOptions } from '../../../src/calls/plan/options.js'
import { algorithms } from '../../../src/collective/algorithms.js'
import type { Algorithm } from '../../../src/collective/patterns/algorithm.js'
import { type ServedCalls, servedCalls } from '../../../src/collective/patterns/served-calls.js'
import { type CollectiveCase, collectives, type Lengths } from '../../support/collective-cases.js'
import { expectedOf } from '../../support/collective-data.js'
import { started } from '../../support/collective-walk.js'

const callsOf: Readonly<Record<string, ServedCalls>> = servedCalls

test('the calls are those of a communicator, and their forms follow from their options', () => {
  expect(Object.keys(servedCalls)).toEqual(collectives)
  const all = Object.values(servedCalls)
  expect(all.flatMap(({ calls }) => calls).sort()).toEqual(Object.keys(callOptions).sort())
  for (const { calls, uneven, inPlace } of all) {
    for (const call of calls) {
      const options = callOptions[call as keyof typeof callOptions]
      expect([call, uneven.includes(call)]).toEqual([call, call.endsWith('v') || 'counts' in options])
      expect([call, inPlace]).toEqual([call, 'into' in options])
    }
  }
})

describe.each(algorithms.map((algorithm) => [algorithm.id, algorithm] as const))('%s', (_, algorithm) => {
  const { uneven, inPlace } = callsOf[algorithm.collective]!
  const lengths: readonly Lengths[] = uneven.length > 0 ? ['equal', 'varying'] : ['equal']
  const ranks = [5, 4, 2].find((count) => (algorithm.refuses?.({ ranks: count }) ?? null) === null)!

  it.each(
    lengths.flatMap((each) => (inPlace ? [false, true] : [false]).map((placed) => [each, placed] as const)),
  )(
    'carries out calls with %s lengths, in place: %s, of short and of long blocks',
    async (each, isInPlace) => {
      for (const eagerLimitBytes of [0, 8, 1000]) {
        for (const segments of [1, 3]) {
          const given: CollectiveCase = {
            collective: algorithm.collective as CollectiveCase['collective'],
            ranks,
            root: ranks - 1,
            lengths: each,
            content: 'integers',
          }
          const main = (world: Communicator) => resultOf(world, algorithm, given, segments, isInPlace)
          const results = await run(main, { fabric: local({ processes: ranks }), ranks, eagerLimitBytes })
          expect(results).toEqual(
            results.map((_, rank) => ({ result: expectedOf(given, rank), used: [usedBy(algorithm)] })),
          )
        }
      }
    },
  )
})

/** Along paths of the tree a scan gets what precedes its ranks. */
const usedBy = ({ id, collective, isAlongPath }: Algorithm): string =>
  collective === 'scan' && isAlongPath === true ? `ex${id}` : id

/** What a rank gets, and by which algorithms. */
async function resultOf(
  world: Communicator,
  { id }: Algorithm,
  given: CollectiveCase,
  segments: number,
  isInPlace: boolean,
) {
  const result = await started(world, given, { algorithm: id, segments }, isInPlace)
  const used = new Set(world.describe().collectives.map(({ algorithm }) => algorithm))
  return { result, used: [...used] }
}
