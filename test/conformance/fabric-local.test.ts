import { describe, expect, it } from 'vitest'
import { fabricConformance } from '../../src/conformance/fabric-conformance.js'
import type { FabricFactory } from '../../src/fabric/fabric.js'
import { local } from '../../src/fabric/local/local.js'
import { isSoak } from '../support/soak.js'

const processCounts = [1, 2, 5]
const rankCounts = [1, 7, 16]
const seeds = [undefined, 1, 77]

/** Distributes ranks unevenly; some processes have none. */
function uneven(ranks: number, processes: number): number[] {
  const dealt = new Array<number>(processes).fill(0)
  for (let rank = 0; rank < ranks; rank++) dealt[(rank * rank) % processes]++
  return dealt
}

for (const processes of processCounts) {
  for (const ranks of rankCounts) {
    // Each seed with every number of processes and of ranks; all combinations in `npm run soak`.
    const one = seeds[(processCounts.indexOf(processes) + rankCounts.indexOf(ranks)) % seeds.length]
    for (const seed of !isSoak ? [one] : seeds) {
      const bulk = seed !== 1
      describe(`local: ${processes} processes, ${ranks} ranks, seed ${seed}, bulk ${bulk}`, () => {
        const factory = local({
          processes,
          ranksPerProcess: uneven(ranks, processes),
          bulk,
          scribble: true,
          maxPayloadBytes: 5000,
          ...(seed === undefined ? {} : { seed }),
        })
        for (const { name, run } of fabricConformance(factory)) it(name, run)
      })
    }
  }
}

describe('local with delays', () => {
  for (const seed of [3, 4]) {
    const factory = local({ processes: 3, seed, scribble: true, maxPayloadBytes: 5000, faults: { delay: 5 } })
    for (const { name, run } of fabricConformance(factory)) it(`${name} (seed ${seed})`, run)
  }
})

describe('the suite fails for a fabric that breaks the contract', () => {
  const inOrder = 'frames of a pair arrive in order, each exactly once, also from a process to itself'
  const flood = 'a flood of frames is neither rejected nor lost'
  const kill = [{ process: 1, afterFrames: 5 }]

  it.each<[string, FabricFactory, string]>([
    [
      'loses one frame in a hundred',
      local({ processes: 3, faults: { lose: (_src, _dst, n) => n % 100 === 42 } }),
      inOrder,
    ],
    ['loses a process', local({ processes: 2, faults: { kill } }), flood],
    [
      'retains the lent header',
      flawed('retains'),
      'the sender may overwrite header and payload as soon as send returns',
    ],
    ['delivers at once', flawed('at once'), 'a sink is never called from inside send, and never re-entered'],
    ['sends twice', flawed('doubles'), inOrder],
    [
      'rejects nothing',
      flawed('accepts'),
      'send rejects oversized frames and unknown peers, counting and delivering nothing',
    ],
  ])('that %s', async (_, factory, name) => {
    await expect(
      fabricConformance(factory)
        .find((each) => each.name === name)!
        .run(),
    ).rejects.toThrow()
  })
})

/** The local fabric with one rule broken. */
function flawed(flaw: 'retains' | 'at once' | 'doubles' | 'accepts'): FabricFactory {
  const factory = local({ processes: 2 })
  return {
    ...factory,
    open: async () => {
      const session = await factory.open()
      for (const fabric of session.hosted) {
        const send = fabric.send.bind(fabric)
        fabric.send = (peer, header, payload) => {
          if (flaw === 'retains') {
            if (payload === undefined || payload.byteLength > 0)
              setImmediate(() => tried(peer, header, payload))
            else send(peer, header, payload)
          } else if (flaw === 'at once') {
            send(peer, header, payload)
            session.hosted[peer].poll()
          } else if (flaw === 'doubles') {
            send(peer, header, payload)
            send(peer, header, payload)
          } else {
            tried(peer, header, payload)
          }
        }
        const tried = (peer: number, header: Int32Array, payload?: Uint8Array) => {
          try {
            send(peer, header, payload)
          } catch {
            // The flaw: the error is dropped.
          }
        }
      }
      return session
    },
  }
}
