import { expect, it } from 'vitest'
import {
  mostListBytes,
  planningBytes,
  requireMemory,
  requirePlannable,
} from '../../../../src/service/jobs/tasks.js'
import { refusal } from '../../../support/refusal.js'

it('a topology is refused before planning when its arrays alone are beyond the bound', () => {
  expect(planningBytes(100_000, 800_000)).toBe(900_000 * 256)
  expect(() => requirePlannable(100_000, 800_000, 2048)).not.toThrow()
  expect(() => requirePlannable(1 << 20, (1 << 23) - (1 << 20), 2048)).not.toThrow()
  for (const [ranks, edges] of [
    [1 << 20, 1 << 23],
    [(1 << 23) + 1, 0],
  ] as const)
    expect(() => requirePlannable(ranks, edges, 2048)).toThrow(refusal('ERR_LIMIT', /jobArraysMb/))
})

it('what is in use is bounded, and so is each list that grows', () => {
  expect(() => requireMemory(1, () => 2 ** 20)).not.toThrow()
  expect(() => requireMemory(1, () => 2 ** 20 + 1)).toThrow(expect.objectContaining({ code: 'ERR_LIMIT' }))
  expect(mostListBytes(2048)).toBe(2 ** 26)
})

it('arrays that are no longer used are collected, and do not count', () => {
  const used = [2 ** 20 + 1, 2 ** 20]
  expect(() =>
    requireMemory(
      1,
      () => used.shift()!,
      () => {},
    ),
  ).not.toThrow()
  const most = Math.ceil(process.memoryUsage().arrayBuffers / 2 ** 20) + 100
  for (let n = 0; n < 200; n++) {
    new Uint8Array(2 ** 20).fill(n)
    requireMemory(most)
  }
  const held = Array.from({ length: 200 }, () => new Uint8Array(2 ** 20))
  expect(() => requireMemory(most)).toThrow(expect.objectContaining({ code: 'ERR_LIMIT' }))
  expect(held).toHaveLength(200)
})
