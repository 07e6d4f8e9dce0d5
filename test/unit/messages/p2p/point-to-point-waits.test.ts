import { type Communicator, PROC_NULL, waitall } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { waitLines } from '../../../../src/world/diagnosis.js'
import { codeOf, drained, onEveryRank, openWorld, thrownCode, waitsOf } from './point-to-point-world.js'

describe('matched messages', () => {
  it('can be received exactly once', async () => {
    const { comms, session } = await openWorld({ ranks: 1 })
    await comms[0].send(1, 0)
    const matched = await comms[0].mprobe()
    expect(await comms[0].iprobe()).toBeNull()
    expect((await matched.recv()).data).toBe(1)
    expect(await codeOf(matched.recv())).toBe('ERR_REQUEST')
    expect(thrownCode(() => matched.irecv())).toBe('ERR_REQUEST')
    await session.close()
  })
})

describe('reports of blocked ranks', () => {
  it('name rank, call and communicator of every wait, what has arrived for it, and nothing else', async () => {
    for (const processes of [1, 3]) {
      const world = await openWorld({ ranks: 3, processes, eagerLimitBytes: 0 })
      const [a, b, c] = world.comms
      const waits = [
        a.recv(2, 5),
        a.ssend(Int8Array.of(1), 1, 9),
        b.recv(),
        b.probe(0, 3),
        c.mprobe(1),
        c.irecv(1, 8).wait(),
        c.isend(Int8Array.of(1), 0, 6).wait(),
      ]
      a.irecv(1, 1)
      c.isend(Int8Array.of(1), 0, 7)
      await drained(world)
      const lines = waitLines(world.runtimes).sort()
      expect(lines).toEqual([
        'rank 0 has 2 messages that its receives do not take on the world: source 2, tag 6; source 2, tag 7',
        'rank 0 waits in recv(source 2, tag 5) on the world',
        'rank 1 waits in probe(source 0, tag 3) on the world',
        'rank 2 waits in mprobe(source 1, tag any) on the world',
        'rank 2 waits in recv(source 1, tag 8) on the world',
        'rank 2 waits in send(dest 0, tag 6) on the world',
      ])
      expect(world.runtimes.map(({ waits }) => waits.awake).reduce((x, y) => x + y)).toBe(0)
      await a.recv(2, 7)
      // The matched probe is older and takes any tag, so it gets its message first.
      const probed = b.isend(2, 2, 4)
      b.isend(1, 2, 8)
      a.isend(1, 1, 3)
      await a.recv(2, 6)
      c.isend(1, 0, 5)
      await (await (waits[4] as ReturnType<Communicator['mprobe']>)).recv()
      await probed.wait()
      await Promise.all(waits)
      expect(waitLines(world.runtimes)).toEqual([])
      expect(waitsOf(world)).toBe(0)
      await world.session.close()
    }
  })
})

describe('a shared event loop', () => {
  it('runs timers while two ranks only answer each other', async () => {
    for (const eagerLimitBytes of [0, 1000]) {
      let rung = false
      setTimeout(() => {
        rung = true
      }, 5)
      await onEveryRank({ ranks: 2, eagerLimitBytes }, async (comm) => {
        while (!rung) {
          if (comm.rank === 0) {
            await comm.send(Int32Array.of(1), 1)
            await comm.recv(1, 0)
          } else {
            await comm.recv(0, 0)
            await comm.send(Int32Array.of(1), 0)
          }
        }
        // The first to hear the bell leaves the other one waiting; let it go.
        comm.isend(Int32Array.of(1), 1 - comm.rank)
        comm.irecv(1 - comm.rank)
      })
    }
  })

  it('runs timers while a rank polls, sends to itself, or probes messages that have arrived', async () => {
    const { comms, session } = await openWorld({ ranks: 1 })
    const comm = comms[0]
    const until = async (step: () => Promise<unknown>) => {
      let rung = false
      setTimeout(() => {
        rung = true
      }, 1)
      while (!rung) await step()
    }
    await until(() => comm.iprobe())
    await until(() => comm.improbe())
    const request = comm.irecv(0, 1)
    await until(() => request.test())
    request.cancel()
    await until(() => comm.send(1, PROC_NULL))
    await until(async () => {
      await comm.send(1, 0)
      await comm.recv()
    })
    const done = comm.isend(1, 0)
    await until(() => comm.iprobe())
    await until(() => done.test())
    await until(() => done.wait())
    await until(() => waitall([done]))
    await session.close()
  })
})
