import { readFileSync } from 'node:fs'
import { algorithmOf, plan, scheduleOf } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { planWords } from '../../../src/shim/plan-words.js'
import { topologyFromEdges } from '../../../src/topology/topology-builders.js'

describe('the file of a plan', () => {
  const topology = topologyFromEdges(3, { sources: [0, 0, 2], destinations: [1, 1, 0] })

  it('has a part for every rank, one after the other', () => {
    const words = planWords(plan(topology, { kind: 'direct' }).schedule)
    expect([...words.subarray(1, 3)]).toEqual([1, 3])
    const starts = [0, 1, 2, 3].map((rank) => words[4 + 2 * rank])
    expect([starts[0], starts[3]]).toEqual([12, words.length])
    // Sources and destinations of rank 1.
    expect([...words.subarray(starts[1] + 1, starts[1] + 5)]).toEqual([2, 0, 0, 0])
  })

  it('is of neighbor allgathers only', () => {
    const schedule = scheduleOf(algorithmOf('bcast-binomial'), { ranks: 4 })
    expect(() => planWords(schedule)).toThrow('expected the plan of a neighbor allgather, got one of bcast')
  })

  it('refuses a plan in which messages wait', () => {
    const { schedule } = plan(topology, { kind: 'direct' })
    const opAfter = new Int32Array(schedule.opKind.length).fill(-1)
    expect(() => planWords({ ...schedule, opAfter })).toThrow(expect.objectContaining({ code: 'ERR_SHIM' }))
  })
})

it('the settings of the cost rule have the defaults that the page states', () => {
  const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
  const [latency, overhead, gap] = ['LATENCY_US', 'OVERHEAD_US', 'GAP_US_PER_BYTE'].map((name) =>
    Number(new RegExp(`RANKWEAVE_SHIM_${name}", ([\\d.]+)`).exec(read('src/shim/c/settings.c'))?.[1]),
  )
  expect(read('docs/preloaded-library.md')).toContain(
    `of the cost rule: ${latency}, ${overhead} and ${gap} unless set`,
  )
})
