import { local } from 'rankweave'
import { collectiveConformance, fabricConformance } from 'rankweave/conformance'
import type { FabricFactory } from 'rankweave/fabric'
import { describe, expect, it } from 'vitest'

// A suite that passes for any fabric would be useless: each must fail for a fabric other than the expected
// one.

const fabricCase =
  'the session has the expected processes, which run in the expected threads and OS processes'
const worldCase = 'the world has the expected fabric, processes, threads and OS processes'

describe('conformance suites detect a silent fallback to another fabric', () => {
  const requested = { kind: 'threads', processes: 4, places: 'threads' } as const
  /** Declares another kind than it opens. */
  const pretending = (factory: FabricFactory): FabricFactory => ({
    ...factory,
    kind: 'websocket',
    processes: 4,
    open: () => factory.open(),
  })

  it.each([
    { what: 'another kind', factory: local({ processes: 4 }), expected: requested, message: 'threads' },
    { what: 'fewer processes', factory: local({ processes: 2 }), expected: { processes: 4 }, message: '4' },
    {
      what: 'processes that share a thread',
      factory: local({ processes: 4 }),
      expected: { places: 'threads' as const },
      message: '4 processes in 1 threads of 1 OS processes',
    },
    {
      what: 'processes that share an OS process',
      factory: local({ processes: 4 }),
      expected: { places: 'OS processes' as const },
      message: '4 processes in 1 threads of 1 OS processes',
    },
    {
      what: 'a factory that opens another kind than it declares',
      factory: pretending(local({ processes: 4 })),
      expected: { kind: 'websocket' as const, places: 'anywhere' as const },
      message: 'websocket',
    },
  ])('fail for $what', async ({ factory, expected, message }) => {
    const onFabric = fabricConformance(factory, { expected }).find(({ name }) => name === fabricCase)!
    await expect(onFabric.run()).rejects.toThrow(message)
    const options = { ranks: 8, expected }
    const onWorld = collectiveConformance(factory, options).find(({ name }) => name === worldCase)!
    await expect(onWorld.run()).rejects.toThrow(message)
  })

  it('pass for the expected fabric', async () => {
    const expected = { kind: 'local', processes: 4, places: 'one thread' } as const
    const factory = local({ processes: 4 })
    await fabricConformance(factory, { expected })
      .find(({ name }) => name === fabricCase)!
      .run()
    await collectiveConformance(factory, { ranks: 8, expected })
      .find(({ name }) => name === worldCase)!
      .run()
  })
})

describe('collectiveConformance detects a fabric that corrupts data', () => {
  /** Which of some cases fail on a fabric that changes payloads between processes. */
  async function broken(
    names: readonly string[],
    change: (payload: Uint8Array, n: number) => void,
  ): Promise<string[]> {
    const factory = local({ processes: 3 })
    const changed: FabricFactory = {
      ...factory,
      open: async () => {
        const session = await factory.open()
        for (const fabric of session.hosted) {
          const send = fabric.send.bind(fabric)
          let n = 0
          fabric.send = (peer, header, payload = new Uint8Array(0)) => {
            const own = payload.slice()
            if (peer !== fabric.process) change(own, n++)
            send(peer, header, own)
          }
        }
        return session
      },
    }
    const failed: string[] = []
    for (const { name, run } of collectiveConformance(changed, { ranks: 5 })) {
      if (names.includes(name)) await run().catch(() => failed.push(name))
    }
    return failed
  }

  it('fails when a bit of a payload is flipped', async () => {
    const names = [
      'matching keeps the order of every sender, with wildcards, under random interleavings',
      'alltoallv',
      'neighbor collectives by direct',
    ]
    const failed = await broken(names, (payload, n) => {
      if (n % 7 === 3 && payload.length > 0) payload[payload.length - 1] ^= 1
    })
    expect(failed).toEqual(names)
  })
})
