import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rangeAt } from '../../../../../../src/base/search.js'
import {
  nothing,
  type TreePlan,
  treePlan,
  treeShape,
} from '../../../../../../src/comm/calls/collectives/reduce/reduction-tree.js'
import { worldLayout } from '../../../../../../src/comm/process/world-layout.js'
import { type ProcessTable, processTable } from '../../../../../../src/comm/table/process-table.js'
import { rankTable } from '../../../../../../src/comm/table/rank-table.js'
import { cases } from '../../../../../support/soak.js'

/** The tree by its definition, as text. */
function expression(first: number, end: number): string {
  if (end - first === 1) return `${first}`
  const half = 2 ** Math.ceil(Math.log2(end - first) - 1)
  return `(${expression(first, first + half)} ${expression(first + half, end)})`
}

function ranksOn({ runStart, runProcess }: ProcessTable, me: number): Int32Array {
  const ranks: number[] = []
  for (let run = 0; run < runProcess.length; run++) {
    if (runProcess[run] !== me) continue
    for (let rank = runStart[run]!; rank < runStart[run + 1]!; rank++) ranks.push(rank)
  }
  return Int32Array.from(ranks)
}

function planOf(table: ProcessTable, me: number): TreePlan {
  const { runStart, runProcess } = table
  const processOf = (rank: number) => runProcess[rangeAt(runStart, rank)]!
  const shape = treeShape(runStart[runProcess.length]!, ranksOn(table, me))
  return treePlan(shape, { processOf, endOfRun: (rank) => table.endOfRun(rank) })
}

/** Runs the plans of all processes, values being texts, and counts what travels. */
function execute(worldRanks: readonly number[], layout: ReturnType<typeof worldLayout>) {
  const table = processTable(rankTable(Int32Array.from(worldRanks)), layout)
  const ranksHere = Array.from({ length: table.count }, (_, me) => ranksOn(table, me))
  const plans = ranksHere.map((_, me) => planOf(table, me))
  const mail = new Map<string, string[]>()
  const put = (from: number, to: number, kind: number, value: string) => {
    const key = `${from}>${to}:${kind}`
    mail.set(key, [...(mail.get(key) ?? []), value])
  }
  const slots: string[][] = plans.map((plan, me) =>
    Array.from({ length: plan.pieces }, (_, piece) => {
      const first = ranksHere[me]![plan.pieceLocal[piece]!]!
      const value = expression(first, first + plan.pieceRanks[piece]!)
      expect(plan.isFirst[piece]).toBe(first === 0 ? 1 : 0)
      if (plan.owner[piece]! >= 0) put(me, plan.owner[piece]!, 1, value)
      return value
    }),
  )
  const next = plans.map(() => 0)
  let moved = true
  while (moved) {
    moved = false
    plans.forEach((plan, me) => {
      while (next[me]! < plan.nodes) {
        const node = next[me]!
        const left = slots[me]![plan.left[node]!]!
        const from = plan.right[node]!
        let value = left
        if (from !== nothing) {
          const right =
            from >= 0 ? slots[me]![from] : mail.get(`${~from}>${me}:${plan.rightIsPiece[node]}`)?.shift()
          if (right === undefined) return
          value = `(${left} ${right})`
        }
        slots[me]!.push(value)
        const owner = plan.owner[plan.pieces + node]!
        if (owner >= 0) put(me, owner, 0, value)
        next[me]!++
        moved = true
      }
    })
  }
  expect([...mail.values()].flat()).toEqual([])
  plans.forEach((plan, me) => {
    expect(slots[me]).toHaveLength(plan.pieces + plan.nodes)
  })
  return slots[0]!.at(-1)
}

describe('the reduction tree', () => {
  it('splits ranges of ranks at powers of two', () => {
    expect(expression(0, 7)).toBe('(((0 1) (2 3)) ((4 5) 6))')
  })

  it.each([1, 2, 3, 4, 7, 8, 16])('is one piece on one process: %i ranks', (ranks) => {
    const layout = worldLayout(ranks, ['a'])
    const table = processTable(rankTable(Int32Array.from({ length: ranks }, (_, r) => r)), layout)
    const plan = planOf(table, 0)
    expect([plan.pieces, plan.nodes, plan.pieceRanks[0]]).toEqual([1, 0, ranks])
  })

  it('is the same for every layout and every order of ranks', () => {
    const layouts = fc.record({
      ranksPerProcess: fc
        .array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 7 })
        .filter((counts) => counts.some((count) => count > 0)),
      keys: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 63, maxLength: 63 }),
      stays: fc.array(fc.boolean(), { minLength: 63, maxLength: 63 }),
    })
    fc.assert(
      fc.property(layouts, ({ ranksPerProcess, keys, stays }) => {
        const world = ranksPerProcess.reduce((a, b) => a + b, 0)
        const layout = worldLayout(
          world,
          ranksPerProcess.map(() => 'a'),
          ranksPerProcess,
        )
        const members = Array.from({ length: world }, (_, rank) => rank)
          .filter((rank) => rank === 0 || stays[rank])
          .sort((a, b) => keys[a]! - keys[b]! || a - b)
        expect(execute(members, layout)).toBe(expression(0, members.length))
      }),
      { numRuns: cases(1000), seed: 20240612 },
    )
  })

  it('has at most two pieces per level when processes host blocks of ranks', () => {
    const layout = worldLayout(100_000, new Array(8).fill('a'))
    const table = processTable(rankTable(Int32Array.from({ length: 100_000 }, (_, r) => r)), layout)
    for (let me = 0; me < 8; me++) {
      const plan = planOf(table, me)
      expect(plan.pieces).toBeLessThanOrEqual(2 * 17)
      expect(plan.nodes).toBeLessThanOrEqual(2 * 17)
    }
  })
})
