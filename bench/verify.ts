import { algorithmOf } from '../src/collective/algorithms.js'
import { scheduleOf } from '../src/collective/patterns/schedule-of.js'
import { plan } from '../src/neighborhood/plan/plan.js'
import type { Schedule } from '../src/schedule/ir.js'
import { verify } from '../src/schedule/verify/verify.js'
import { countMessages } from '../src/schedule/walk.js'
import { buildTopology } from '../src/topology/files/topology-from-spec.js'
import { type Bench, ownFigure } from './bench.js'

interface Case {
  readonly name: string
  readonly make: () => Schedule
  /** Target milliseconds; null for none. */
  readonly target: number | null
}

const ofAlgorithm = (id: string, ranks: number, segments = 1, target: number | null = null): Case => ({
  name: `${id} ranks=${ranks} segments=${segments}`,
  make: () => scheduleOf(algorithmOf(id), { ranks, segments }),
  target,
})

/**
 * 80 messages for every one of 4,096 ranks, in blocks and in partial results; then what is hard to follow.
 */
const cases: readonly Case[] = [
  {
    name: 'moore:64x64:r=4 direct',
    make: () => plan(buildTopology('moore:64x64:r=4'), { kind: 'direct' }).schedule,
    target: 500,
  },
  ofAlgorithm('allreduce-recursive-doubling', 4096, 7, 500),
  ofAlgorithm('allreduce-tree', 4096, 40, 500),
  ofAlgorithm('bcast-chain', 4096, 80, 500),
  // Every rank's result is another term, of contributors that are consecutive ranks, counted cyclically.
  ofAlgorithm('barrier-dissemination', 4095),
  ofAlgorithm('scan-recursive-doubling', 4095),
  // Results whose contributors are not consecutive on the way.
  ofAlgorithm('reduce-scatter-pairwise', 512),
  ofAlgorithm('allreduce-ring', 256),
]

const runs = 9

/** The proof of a schedule. */
export const verifyBench: Bench = {
  name: 'verify',
  question: 'How long does it take to prove a schedule?',
  async *measure({ quick = false } = {}) {
    for (const { name, make, target } of cases) {
      const schedule = make()
      const first = verify(schedule)
      if (!first.ok) throw new Error(`${name} does not verify: ${first.violations[0]?.message}`)
      const samples = Array.from({ length: quick ? 3 : runs }, () => {
        const start = performance.now()
        verify(schedule)
        return performance.now() - start
      })
      yield ownFigure(name, 'ms', samples, target, {
        ranks: schedule.specification.ranks,
        ...countMessages(schedule),
        operations: schedule.opKind.length,
        entries: schedule.entryBlock.length,
      })
    }
  },
}
