import { local } from 'rankweave'
import { collectiveConformance, fabricConformance } from 'rankweave/conformance'
import type { FabricFactory } from 'rankweave/fabric'
import { describe, expect, it } from 'vitest'

// Suites that pass whatever they are given would look just like these: each must fail for what is not as asked.

const fabricCase = 'the processes are those that were asked for, and run where they should'
const worldCase = 'the world is the one that was asked for: its fabric, its processes and where they run'

describe('a fabric that silently fell back to another is found out', () => {
  const asked = { kind: 'threads', processes: 4, places: 'threads' } as const
  /** Says that it is what was asked for. */
  const pretending = (factory: FabricFactory): FabricFactory => ({
    ...factory,
    kind: 'websocket',
    processes: 4,
    open: () => factory.open(),
  })

  it.each([
    { what: 'another kind', factory: local({ processes: 4 }), expected: asked, said: 'threads' },
    { what: 'fewer processes', factory: local({ processes: 2 }), expected: { processes: 4 }, said: '4' },
    {
      what: 'processes that share a thread',
      factory: local({ processes: 4 }),
      expected: { places: 'threads' as const },
      said: '4 processes in 1 threads of 1 OS processes',
    },
    {
      what: 'processes that share an OS process',
      factory: local({ processes: 4 }),
      expected: { places: 'OS processes' as const },
      said: '4 processes in 1 threads of 1 OS processes',
    },
    {
      what: 'a factory that says one thing and opens another',
      factory: pretending(local({ processes: 4 })),
      expected: { kind: 'websocket' as const, places: 'anywhere' as const },
      said: 'websocket',
    },
  ])('$what', async ({ factory, expected, said }) => {
    const onFabric = fabricConformance(factory, { expected }).find(({ name }) => name === fabricCase)!
    await expect(onFabric.run()).rejects.toThrow(said)
    const options = { ranks: 8, expected }
    const onWorld = collectiveConformance(factory, options).find(({ name }) => name === worldCase)!
    await expect(onWorld.run()).rejects.toThrow(said)
  })

  it('what is as asked passes', async () => {
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

describe('worlds that break their promises are found out', () => {
  /** Names of the cases that fail on a fabric that changes payloads between processes. */
  async function broken(change: (payload: Uint8Array, n: number) => void): Promise<string[]> {
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
    const names: string[] = []
    for (const { name, run } of collectiveConformance(changed, { ranks: 5 })) {
      await run().catch(() => names.push(name))
    }
    return names
  }

  it('a bit of the data is wrong', async () => {
    const names = await broken((payload, n) => {
      if (n % 7 === 3 && payload.length > 0) payload[payload.length - 1]! ^= 1
    })
    expect(names).toContain(
      'matching keeps the order of every sender, with wildcards, under random interleavings',
    )
    expect(names).toContain('alltoallv')
    expect(names).toContain('neighbor collectives by direct')
  })
})
