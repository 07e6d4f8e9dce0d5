import { expect, it } from 'vitest'
import { seededRandom } from '../../../../src/base/random.js'
import { EventQueue } from '../../../../src/cost/simulate/event-queue.js'

it('takes events out by time, then number, while others are added', () => {
  const draw = seededRandom(13)
  const queue = new EventQueue(1)
  const expected: [number, number][] = []
  let now = 0
  for (let step = 0; step < 5000; step++) {
    expect(queue.length).toBe(expected.length)
    if (expected.length > 0 && draw() < 0.5 - step / 20_000) {
      expected.sort((a, b) => a[0] - b[0] || a[1] - b[1])
      const [time, number] = expected.shift()!
      if (draw() < 0.3) expect(queue.first).toBe(time)
      expect([queue.next(), queue.number]).toEqual([time, number])
      now = time
    } else {
      const event: [number, number] = [now + Math.floor(4 * draw()), Math.floor(50 * draw())]
      expected.push(event)
      queue.push(...event)
    }
  }
  expect(expected.length).toBeGreaterThan(100)
})

it('reports no first event when it is empty', () => {
  const queue = new EventQueue(4)
  expect(queue.first).toBe(Number.POSITIVE_INFINITY)
  queue.push(3, 1)
  queue.next()
  expect(queue.length).toBe(0)
  expect(queue.first).toBe(Number.POSITIVE_INFINITY)
})
