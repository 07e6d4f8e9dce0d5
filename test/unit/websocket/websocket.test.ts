import { Communicator, RankweaveError } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { CommRuntime } from '../../../src/comm/comm-state.js'
import { stridedTable } from '../../../src/comm/table/rank-table.js'
import { worldLayout } from '../../../src/messages/process/world-layout.js'
import type { Socket } from '../../../src/websocket/socket/socket.js'
import {
  fabricOf,
  inMemoryWorld,
  observed,
  Recorder,
  reportsOf,
  sendWord,
  tampering,
  turn,
  until,
} from '../../support/memory-links.js'
import { MemoryWorld } from '../../support/memory-membership.js'

describe('connections of two processes', () => {
  it('are made by the first frame, and there is one for both directions', async () => {
    const dialed: Socket[] = []
    await inMemoryWorld(
      3,
      async (world, sinks) => {
        sendWord(world, 2, 0, 7)
        await until(() => sinks[0].frames.length === 1)
        sendWord(world, 0, 2, 8)
        await until(() => sinks[2].frames.length === 1)
        expect(dialed.length).toBe(1)
      },
      { transport: observed(dialed) },
    )
  })

  it('become one when both dial at the same time, and no frame is lost or repeated', async () => {
    for (let round = 0; round < 5; round++) {
      const dialed: Socket[] = []
      await inMemoryWorld(
        2,
        async (world, sinks) => {
          const frames = 20
          for (let n = 0; n < frames; n++) {
            sendWord(world, 0, 1, n)
            sendWord(world, 1, 0, n)
            if (n % 4 === 0) await turn()
          }
          await until(() => sinks.every((sink) => sink.frames.length === frames))
          for (const sink of sinks)
            expect(sink.frames.map(({ word }) => word)).toEqual([...Array(frames).keys()])
          expect(dialed.length).toBe(2)
          await until(() => dialed.filter(({ readyState }) => readyState === 1).length === 1)
          expect(dialed.indexOf(dialed.find(({ readyState }) => readyState === 1)!)).toBe(0)
          expect(reportsOf(world)).toEqual([])
        },
        { transport: observed(dialed) },
      )
    }
  })

  it('take what waits for them, when a session is closed while both dial', async () => {
    for (let turns = 0; turns < 5; turns++) {
      for (const closing of [0, 1]) {
        await inMemoryWorld(2, async (world, sinks) => {
          sendWord(world, 0, 1, 5)
          sendWord(world, 1, 0, 5)
          for (let n = 0; n < turns; n++) await turn()
          await world.sessions[closing].close()
          await until(() => sinks[1 - closing].frames.length === 1)
          expect(reportsOf(world)).toEqual([])
        })
      }
    }
  })

  it('that break are reported with the reason and never made again; the rendezvous decides who is lost', async () => {
    const dialed: Socket[] = []
    await inMemoryWorld(
      2,
      async (world, sinks) => {
        sendWord(world, 0, 1, 1)
        await until(() => sinks[1].frames.length === 1)
        dialed[0].terminate!()
        await until(() => world.members.every(({ reports }) => reports.length === 1))
        expect(world.members[1].reports[0]).toMatchObject({
          peer: 0,
          reason: expect.stringContaining('1006'),
        })
        sendWord(world, 0, 1, 2)
        sendWord(world, 1, 0, 2)
        for (let n = 0; n < 20; n++) await turn()
        expect(dialed.length).toBe(1)
        expect(sinks.map((sink) => sink.frames.length)).toEqual([0, 1])
        expect(sinks.map((sink) => sink.lost.length)).toEqual([0, 0])
        world.lose(1, 'told so')
        await until(() => sinks[0].lost.length === 1)
        expect(sinks[0].lost).toEqual(['1: told so'])
        expect(sinks[1].lost).toEqual(['1: told so'])
      },
      { transport: observed(dialed) },
    )
  })

  it('are reported when the peer cannot be dialed', async () => {
    await inMemoryWorld(
      2,
      async (world) => {
        sendWord(world, 0, 1, 1)
        await until(() => world.members[0].reports.length === 1)
        expect(world.members[0].reports[0]).toMatchObject({
          peer: 1,
          reason: expect.stringContaining('cannot be reached'),
        })
      },
      { address: (process, url) => (process === 1 ? 'ws://127.0.0.1:9' : url) },
    )
  })
})

describe('a process', () => {
  it('that 80 others dial at once is reached by all', async () => {
    await inMemoryWorld(81, async (world, sinks) => {
      for (let process = 1; process < 81; process++) sendWord(world, process, 0, process)
      await until(
        () => sinks[0].frames.length === 80 || world.members.some(({ reports }) => reports.length > 0),
      )
      expect(reportsOf(world)).toEqual([])
    })
  })
})

describe('a link breaks, and delivers nothing of it, when a message is', () => {
  const held: Uint8Array[] = []
  it.each<[string, (message: Uint8Array, pass: (message: Uint8Array | string) => void) => void]>([
    ['truncated', (message, pass) => pass(message.subarray(0, message.length - 8))],
    [
      'duplicated',
      (message, pass) => {
        pass(message)
        pass(message)
      },
    ],
    [
      'reordered',
      (message, pass) => {
        held.push(message.slice())
        if (held.length === 2) for (const each of held.splice(0).reverse()) pass(each)
      },
    ],
    ['made of zeros', (message, pass) => pass(new Uint8Array(message.length))],
    ['a text', (_, pass) => pass('{"kind":"ready"}')],
    [
      'after the last',
      (message, pass) => {
        pass('{"kind":"end"}')
        pass(message)
      },
    ],
  ])('%s', async (_, change) => {
    held.length = 0
    const dialed: Socket[] = []
    await inMemoryWorld(
      2,
      async (world, sinks) => {
        sendWord(world, 0, 1, 1)
        await turn()
        await until(() => dialed[0].readyState === 1)
        await turn()
        sendWord(world, 0, 1, 2)
        await until(() => world.members[1].reports.length === 1 || held.length === 1)
        if (held.length === 1) sendWord(world, 0, 1, 3)
        await until(() => world.members[1].reports.length === 1)
        expect(world.members[1].reports[0]).toMatchObject({ peer: 0, cause: 'malformed' })
        expect(sinks[1].frames.length).toBeLessThanOrEqual(2)
        const words = sinks[1].frames.map(({ word }) => word)
        expect(words).toEqual([1, 2].slice(0, words.length))
      },
      { transport: observed(dialed, tampering('bytes', change)) },
    )
  })
})

it.each([
  ['than the world permits', 400_000],
  ['than the socket takes', 2 ** 20 + 8],
])('a link breaks by the fault of its sender when a message is longer %s', async (_, sizeBytes) => {
  const dialed: Socket[] = []
  await inMemoryWorld(
    2,
    async (world, sinks) => {
      sendWord(world, 0, 1, 1)
      await until(() => world.members.every(({ reports }) => reports.length === 1))
      expect(world.members[1].reports).toEqual([
        { peer: 0, reason: expect.stringMatching(/^a message has /), cause: 'too large' },
      ])
      expect(world.members[0].reports).toMatchObject([{ peer: 1, cause: 'closed' }])
      expect(sinks[1].frames).toEqual([])
    },
    {
      limits: { maxMessageBytes: 300_000 },
      transport: observed(
        dialed,
        tampering('bytes', (_, pass) => pass(new Uint8Array(sizeBytes))),
      ),
    },
  )
})

it('a frame that its receiver cannot read breaks the link of its sender, and no other', () =>
  inMemoryWorld(3, async (world, sinks) => {
    const frame = sinks[0].frame.bind(sinks[0])
    sinks[0].frame = (src, header, payload) => {
      if (header[0] === 13) throw new RankweaveError('ERR_PROTOCOL', 'expected less')
      frame(src, header, payload)
    }
    sendWord(world, 1, 0, 13)
    await until(() => world.members[0].reports.length === 1)
    expect(world.members[0].reports).toEqual([{ peer: 1, reason: 'expected less', cause: 'malformed' }])
    sendWord(world, 2, 0, 5)
    await until(() => sinks[0].frames.length === 1)
    expect(sinks[0].frames).toEqual([{ src: 2, word: 5, bytes: 0 }])
  }))

describe('an error of the process itself while it handles a frame', () => {
  it('ends its own world with ERR_FABRIC; its peers report it, and nothing is said against them', () =>
    inMemoryWorld(3, async (world, sinks) => {
      const seen: number[] = []
      sinks[0].frame = (_, header) => {
        seen.push(header[0])
        if (header[0] === 1) throw new RangeError('offset is out of bounds')
        if (header[0] === 2) throw new RankweaveError('ERR_PROTOCOL', 'what the defect leads to')
      }
      // Each in its own message, so that several come in one read.
      for (const word of [1, 3, 2]) {
        sendWord(world, 1, 0, word)
        fabricOf(world, 1).poll()
      }
      await until(() => sinks[0].ended.length === 1 && world.members[1].reports.length === 1)
      expect(sinks[0].ended[0]).toMatchObject({
        code: 'ERR_FABRIC',
        message: 'process 0 has failed while it handled a frame of process 1: offset is out of bounds',
      })
      // Nothing more of the peer was delivered.
      expect(seen).toEqual([1])
      expect(world.members.map(({ reports }) => reports.map(({ peer }) => peer))).toEqual([[], [0], []])
    }))

  it('that is one of its own array fails the receive with ERR_TYPE, and the sender stays', async () => {
    const world = await MemoryWorld.open(2)
    const options = { eagerLimitBytes: 65_536, creditBytes: 2 ** 20 }
    const [receiver, sender] = world.sessions.map(({ hosted }) => {
      const runtime = new CommRuntime(hosted[0], worldLayout(2, ['a', 'b']), options)
      return new Communicator(runtime.createContext({ leader: 0, counter: 0 }, stridedTable(2)), 0)
    })
    let stated: number | undefined
    /** States another length once it has been checked. */
    class Later extends Float64Array {
      override get length() {
        return stated ?? super.length
      }
    }
    const failed = receiver.recv(1, 0, { into: new Later(4) }).catch(({ code }) => code)
    stated = 1_000
    await sender.send(new Float64Array(500), 0)
    expect(await failed).toBe('ERR_TYPE')
    await sender.send(Float64Array.of(7), 0)
    expect([...((await receiver.recv(1)).data as Float64Array)]).toEqual([7])
    expect(reportsOf(world)).toEqual([])
    await world.close()
  })
})

describe('losses', () => {
  it('are reported to the sink in a task of their own, once, after what has arrived', () =>
    inMemoryWorld(3, async (world, sinks) => {
      sendWord(world, 1, 0, 4)
      await until(() => sinks[0].frames.length === 1)
      world.lose(1, 'killed')
      world.lose(1, 'again')
      expect(sinks[0].lost).toEqual([])
      await until(() => sinks.every(({ lost }) => lost.length > 0))
      expect(sinks.map(({ lost }) => lost)).toEqual([['1: killed'], ['1: killed'], ['1: killed']])
      sendWord(world, 0, 1, 5)
      sendWord(world, 0, 2, 6)
      await until(() => sinks[2].frames.length === 1)
      expect(sinks[1].frames).toEqual([])
    }))

  it('fail bulk transfers with the lost process, and no others', () =>
    inMemoryWorld(3, async (world) => {
      const bytes = new Uint8Array(1000)
      const withLost = fabricOf(world, 0).bulk.send(1, 1, bytes)
      const into = new Uint8Array(1000)
      const others = [
        fabricOf(world, 0).bulk.send(2, 1, bytes.fill(3)),
        fabricOf(world, 2).bulk.receive(0, 1, into),
      ]
      world.lose(1, 'killed')
      await expect(withLost).rejects.toMatchObject({ code: 'ERR_PEER_LOST', details: { process: 1 } })
      await Promise.all(others)
      expect(into).toEqual(bytes)
    }))

  it('of the rendezvous end the world with its error', () =>
    inMemoryWorld(3, async (world, sinks) => {
      world.members[0].loseWorld(new RankweaveError('ERR_WORLD_LOST', 'the rendezvous is lost'))
      await until(() => sinks[0].lost.length === 2)
      expect(sinks[0].ended).toMatchObject([{ code: 'ERR_WORLD_LOST' }])
      expect(sinks[0].lost).toEqual(['1: the rendezvous is lost', '2: the rendezvous is lost'])
    }))

  it('do not keep a session from closing that has frames for the lost process', async () => {
    const world = await MemoryWorld.open(2)
    const [first, second] = world.sessions
    first.hosted[0].attach(new Recorder())
    // Process 1 has no sink, so it accepts no connection.
    sendWord(world, 0, 1, 1)
    await turn()
    const closing = first.close()
    await turn()
    world.lose(1, 'killed')
    await closing
    await second.close()
  })
})

/** A dialed socket that sends nothing more, and takes no note of what comes, once `isDead()`. */
function stalling(isDead: () => boolean) {
  return (socket: Socket): Socket => {
    const [send, ping] = [socket.send.bind(socket), socket.ping!.bind(socket)]
    socket.send = (data, sent) => (isDead() ? undefined : send(data, sent))
    socket.ping = () => (isDead() ? undefined : ping())
    return socket
  }
}

it('a connection that goes dead without a word is reported when its peer answers on another way', async () => {
  const dialed: Socket[] = []
  let isDead = false
  await inMemoryWorld(
    2,
    async (world, sinks) => {
      sendWord(world, 0, 1, 1)
      await until(() => sinks[1].frames.length === 1)
      const { receivedBytes } = dialed[0]
      // Pings keep it alive that has nothing to say.
      await until(() => dialed[0].receivedBytes! > receivedBytes! + 20)
      expect(reportsOf(world)).toEqual([])
      isDead = true
      const net = (dialed[0] as unknown as { readonly _socket: { pause(): void } })._socket
      net.pause()
      await until(() => world.members.some(({ reports }) => reports.length === 1))
      const first = reportsOf(world)[0]
      expect(first).toMatchObject({ cause: 'silent', reason: expect.stringContaining('for 100 ms') })
    },
    {
      transport: observed(
        dialed,
        stalling(() => isDead),
      ),
      limits: { heartbeatMs: 20, silenceMs: 100 },
    },
  )
})

it('frames that wait for a connection are bounded: a peer that takes none is reported', () =>
  inMemoryWorld(
    2,
    async (world) => {
      for (let n = 0; n < 40; n++) sendWord(world, 0, 1, n, 60_000)
      expect(world.members[0].reports).toEqual([
        {
          peer: 1,
          reason: expect.stringMatching(/bytes are queued for process 1.*at most 1000000/),
          cause: 'unread',
        },
      ])
    },
    { limits: { maxQueuedBytes: 1_000_000 } },
  ))

it('a peer that does not read holds back bulk transfers: 1 MiB waits in the socket, not the transfer', async () => {
  const [dialed, accepted]: Socket[][] = [[], []]
  await inMemoryWorld(
    2,
    async (world, sinks) => {
      sendWord(world, 1, 0, 1)
      await until(() => sinks[0].frames.length === 1)
      const reader = dialed[0] as Socket & { pause(): void; resume(): void }
      const bytes = new Uint8Array(2 ** 25).fill(5)
      const into = new Uint8Array(bytes.length)
      const received = fabricOf(world, 1).bulk.receive(0, 1, into)
      await until(() => accepted[0].bufferedAmount === 0)
      let sent = false
      const sending = fabricOf(world, 0)
        .bulk.send(1, 1, bytes)
        .then(() => {
          sent = true
        })
      reader.pause()
      await until(() => accepted[0].bufferedAmount > 2 ** 19)
      for (let n = 0; n < 50; n++) {
        await turn()
        expect(accepted[0].bufferedAmount).toBeLessThan(2 ** 20 + 1024)
      }
      expect(sent).toBe(false)
      reader.resume()
      await Promise.all([sending, received])
      expect(Buffer.compare(bytes, into)).toBe(0)
    },
    {
      transport: (process) => {
        const transport = observed(process === 1 ? dialed : [])(process)
        return {
          ...transport,
          listen: (accept) =>
            transport.listen!((socket, remote) => {
              accepted.push(socket)
              accept(socket, remote)
            }),
        }
      },
    },
  )
})

it('frames that are sent before there is a sink for their answers wait for it', async () => {
  const world = await MemoryWorld.open(2)
  sendWord(world, 1, 0, 1)
  const [first, second] = [new Recorder(), new Recorder()]
  fabricOf(world, 0).attach(first)
  for (let n = 0; n < 20; n++) await turn()
  expect(first.frames).toEqual([])
  fabricOf(world, 1).attach(second)
  await until(() => first.frames.length === 1)
  await world.close()
})

it('a session is refused in a world whose messages are too small for the fabric', async () => {
  await expect(MemoryWorld.open(1, { limits: { maxMessageBytes: 100_000 } })).rejects.toMatchObject({
    code: 'ERR_FABRIC',
  })
})

it('what was sent before a session closes arrives, also when the connection is not made yet', async () => {
  await inMemoryWorld(2, async (world, sinks) => {
    for (let n = 0; n < 100; n++) sendWord(world, 0, 1, n, 10_000)
    await world.sessions[0].close()
    await until(() => sinks[1].frames.length === 100)
    expect(world.members[1].reports).toEqual([])
  })
})
