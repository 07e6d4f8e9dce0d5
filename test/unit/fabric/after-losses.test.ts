import { expect, it } from 'vitest'
import { afterLosses } from '../../../src/fabric/decisions.js'
import type { Decision } from '../../../src/fabric/fabric.js'

it('a decision waits until the sink has been told of the losses before it', async () => {
  const decision: Decision = { contributions: [new Uint8Array(1), null], lost: [1] }
  let isReported = false
  const order: string[] = []
  const authority = afterLosses({ isHere: false, decide: () => Promise.resolve(decision) }, () => isReported)
  setTimeout(() => {
    isReported = true
    order.push('loss')
  }, 20)
  const decided = authority.decide('a', [0, 1], new Uint8Array(1)).then((made) => {
    order.push('decision')
    return made
  })
  expect(await decided).toBe(decision)
  expect(order).toEqual(['loss', 'decision'])
})
