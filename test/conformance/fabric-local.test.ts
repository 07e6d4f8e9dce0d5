import { describe, expect, it } from 'vitest'
import { fabricConformance } from '../../src/fabric/conformance/fabric-conformance.js'
import type { FabricFactory } from '../../src/fabric/fabric.js'
import { local } from '../../src/fabric/local/local.js'

const processCounts = [1, 2, 5]
const rankCounts = [1, 3, 7, 16]
const seeds = [undefined, 1, 77]

/** Deals ranks unevenly, processes without ranks included. */
function uneven(ranks: number, processes: number): number[] {
  const dealt = new Array<number>(processes).fill(0)
  for (let rank = 0; rank < ranks; rank++) dealt[(rank * rank) % processes]!++
  return dealt
}

for (const processes of processCounts) {
  for (const ranks of rankCounts) {
    for (const seed of seeds) {
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

/** Names of the cases that a fabric breaks. */
async function broken(factory: FabricFactory): Promise<string[]> {
  const names: string[] = []
  for (const { name, run } of fabricConformance(factory)) await run().catch(() => names.push(name))
  return names
}

describe('the suite finds fabrics that break the contract', () => {
  it('loss of one frame in a hundred', async () => {
    const failed = await broken(local({ processes: 3, faults: { lose: (_src, _dst, n) => n % 100 === 42 } }))
    expect(failed).toContain('frames of a pair arrive in order, each exactly once, to oneself too')
    expect(failed).toContain('a flood is neither refused nor lost')
  })

  it('loss of a process', async () => {
    const kill = [{ process: 1, afterFrames: 5 }]
    expect(await broken(local({ processes: 2, faults: { kill } }))).toContain(
      'a flood is neither refused nor lost',
    )
  })

  it('a send that keeps the lent header, delivers at once, doubles or accepts anything', async () => {
    const names = new Set<string>()
    for (const flaw of ['keeps', 'at once', 'doubles', 'accepts'] as const) {
      const failed = await broken(flawed(flaw))
      expect(failed, flaw).not.toEqual([])
      for (const name of failed) names.add(name)
    }
    expect([...names]).toContain('the sender may overwrite header and payload as soon as send returns')
    expect([...names]).toContain('a sink is never entered from inside send, nor while it runs')
    expect([...names]).toContain(
      'what is too large or goes nowhere is refused, counted by nobody and never arrives',
    )
  })
})

/** The local fabric with one rule broken. */
function flawed(flaw: 'keeps' | 'at once' | 'doubles' | 'accepts'): FabricFactory {
  const factory = local({ processes: 2 })
  return {
    ...factory,
    open: async () => {
      const session = await factory.open()
      for (const fabric of session.hosted) {
        const send = fabric.send.bind(fabric)
        fabric.send = (peer, header, payload) => {
          if (flaw === 'keeps') {
            if (payload === undefined || payload.byteLength > 0)
              setImmediate(() => tried(peer, header, payload))
            else send(peer, header, payload)
          } else if (flaw === 'at once') {
            send(peer, header, payload)
            session.hosted[peer]!.poll()
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
            // The flaw: nobody hears of it.
          }
        }
      }
      return session
    },
  }
}
