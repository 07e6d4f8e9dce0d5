import { describe, expect, it } from 'vitest'
import { processOf, worldLayout } from '../../../../src/messages/process/world-layout.js'
import { coded } from '../../../support/on-ranks.js'

const labels = (processes: number) => new Array<string>(processes).fill('n')

describe('worldLayout', () => {
  it('distributes ranks evenly, the first processes get one more', () => {
    for (const ranks of [1, 2, 3, 4, 7, 8, 16]) {
      for (const processes of [1, 2, 3, 5, 20]) {
        const { firstRank } = worldLayout(ranks, labels(processes))
        const counts = Array.from({ length: processes }, (_, p) => firstRank[p + 1] - firstRank[p])
        expect(counts.reduce((a, b) => a + b)).toBe(ranks)
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
        expect(counts).toEqual([...counts].sort((a, b) => b - a))
      }
    }
  })

  it('finds the process of a rank, past processes without ranks', () => {
    const counts = [0, 2, 0, 0, 3, 1, 0]
    const layout = worldLayout(6, labels(7), counts)
    const expected = counts.flatMap((count, p) => new Array<number>(count).fill(p))
    expect(Array.from({ length: 6 }, (_, rank) => processOf(layout, rank))).toEqual(expected)
  })

  it('numbers nodes by the first process with the label', () => {
    expect([...worldLayout(4, ['a', 'b', 'a', 'c']).nodeOfProcess]).toEqual([0, 1, 0, 3])
  })

  it('rejects counts that do not add up', () => {
    const bad: [number, string[], number[] | undefined][] = [
      [0, ['a'], undefined],
      [2.5, ['a'], undefined],
      [2 ** 22 + 1, ['a'], undefined],
      [1, [], undefined],
      [3, ['a', 'b'], [1, 1]],
      [3, ['a', 'b'], [3]],
      [3, ['a', 'b'], [4, -1]],
      [3, ['a', 'b'], [1.5, 1.5]],
    ]
    for (const [ranks, nodes, counts] of bad) {
      expect(() => worldLayout(ranks, nodes, counts)).toThrowError(coded('ERR_WORLD'))
    }
  })
})
