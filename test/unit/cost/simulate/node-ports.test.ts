import fc from 'fast-check'
import { expect, it } from 'vitest'
import { NodePorts } from '../../../../src/cost/simulate/transport.js'
import { cases } from '../../../support/soak.js'

it('frames of a node get its ports in the order of their coming, never more at once than it has', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 40 }),
      fc.infiniteStream(fc.boolean()),
      (limit, senders, choices) => {
        const node = Int32Array.of(0, 0, 1, 2)
        const ports = new NodePorts({ from: Int32Array.from(senders) }, node, 3, limit)
        const [onTheWay, begun]: [number[][], number[][]] = [
          [[], [], []],
          [[], [], []],
        ]
        const begin = (frame: number): void => {
          const at = node[senders[frame]]
          begun[at].push(frame)
          onTheWay[at].push(frame)
          expect(onTheWay[at].length).toBeLessThanOrEqual(limit)
        }
        const end = (at: number): void => {
          const next = ports.release(onTheWay[at].shift()!)
          if (next !== -1) begin(next)
        }
        for (let frame = 0; frame < senders.length; frame++) {
          if (ports.take(frame)) begin(frame)
          const at = node[senders[frame]]
          if (choices.next().value && onTheWay[at].length > 0) end(at)
        }
        for (const at of [0, 1, 2]) {
          while (onTheWay[at].length > 0) end(at)
          expect(begun[at]).toEqual([...senders.keys()].filter((frame) => node[senders[frame]] === at))
        }
      },
    ),
    { numRuns: cases(200, 60), seed: 20261128 },
  )
})
