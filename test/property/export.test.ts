import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { algorithmOf } from '../../src/collective/algorithms.js'
import { scheduleOf } from '../../src/collective/patterns/schedule-of.js'
import { simulate } from '../../src/cost/simulate/simulate.js'
import { programWords } from '../../src/export/c-program.js'
import { goalText } from '../../src/export/goal-text.js'
import { cluster } from '../../src/machine/machine.js'
import { plan } from '../../src/neighborhood/plan/plan.js'
import { parseStrategy } from '../../src/neighborhood/strategies/strategies.js'
import type { Schedule } from '../../src/schedule/ir.js'
import { lower } from '../../src/schedule/lower/lower.js'
import { upTo } from '../../src/schedule/specification.js'
import { parseGoal, stuckOperations } from '../support/goal.js'
import { readWords, runWords } from '../support/program-words.js'
import { withWaits } from '../support/random-waits.js'
import { chooseBy } from '../support/schedule-faults.js'
import { plainProfile } from '../support/simulated-machine.js'
import { cases } from '../support/soak.js'
import { smallTopologies } from './random-topology.js'

const strategies = ['direct', 'common-neighbor', 'routed', 'allgather', 'descending'] as const
const operations = ['neighbor-allgather', 'neighbor-alltoall', 'neighbor-reduce'] as const
const algorithmIds = [
  'bcast-chain',
  'allreduce-rabenseifner',
  'exscan-tree',
  'alltoall-bruck',
  'scatter-binomial',
  'gather-linear-sync',
]

const plain: fc.Arbitrary<Schedule> = fc.oneof(
  fc
    .tuple(smallTopologies(9), fc.constantFrom(...strategies), fc.constantFrom(...operations))
    .map(
      ([{ topology }, strategy, operation]) =>
        plan(topology, parseStrategy(strategy), { operation }).schedule,
    ),
  fc
    .tuple(fc.constantFrom(...algorithmIds), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 3 }))
    .map(([id, ranks, segments]) =>
      scheduleOf(algorithmOf(id), { ranks, segments: id === 'alltoall-bruck' ? 1 : segments }),
    ),
)

const schedules = fc
  .tuple(plain, fc.boolean(), fc.integer())
  .map(([schedule, waits, seed]) => (waits ? withWaits(schedule, chooseBy(seed)) : schedule))

describe('a schedule exported', () => {
  it('as GOAL has matched messages, no cycle, and the bytes of the simulation', () => {
    fc.assert(
      fc.property(schedules, fc.constantFrom(0, 1, 24, 4096), (schedule, bytes) => {
        const ranks = parseGoal(goalText(schedule, { bytes, reduceNsPerByte: 0.5 }))
        expect(stuckOperations(ranks)).toEqual([])
        const sends = ranks.flatMap((own) => [...own.values()].filter(({ kind }) => kind === 'send'))
        const machine = cluster({ nodes: ranks.length, cores: 1, profile: plainProfile })
        const { network } = simulate(schedule, machine, { bytes }).traffic
        expect(sends.reduce((sum, { size }) => sum + size, 0)).toBe(network?.bytes ?? 0)
      }),
      { numRuns: cases(200, 25) },
    )
  })

  it('as words of programs gives every rank the blocks of its specification', () => {
    fc.assert(
      fc.property(schedules, (schedule) => {
        const { specification } = schedule
        const { ranks, ownStart, ownBlock, slotStart, slotTerm, reductions } = specification
        const { programs } = lower(schedule, upTo(ranks), ranks)
        const read = programs.map((program) =>
          readWords(programWords(program, ranks, schedule.opAfter.length > 0)),
        )
        const owns = read.map((_, rank) =>
          Array.from(ownBlock.subarray(ownStart[rank], ownStart[rank + 1]), String),
        )
        const inOrder = (text: string) =>
          text
            .split('+')
            .sort((a, b) => Number(a) - Number(b))
            .join('+')
        const demanded = (term: number): string => {
          if (term >= 0) return String(term)
          const blocks: number[] = []
          for (let run = reductions.runStart[~term]; run < reductions.runStart[~term + 1]; run++)
            for (let n = 0; n < reductions.count[run]; n++)
              blocks.push(reductions.first[run] + n * reductions.stride[run])
          return inOrder(blocks.join('+'))
        }
        const slots = runWords(read, owns).map((row) => row.map(inOrder))
        expect(slots).toEqual(
          slots.map((_, rank) =>
            Array.from(slotTerm.subarray(slotStart[rank], slotStart[rank + 1]), demanded),
          ),
        )
      }),
      { numRuns: cases(200, 40) },
    )
  })
})
