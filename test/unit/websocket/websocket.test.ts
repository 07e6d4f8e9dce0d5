import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import { RankweaveError } from '../../../src/errors.js'
import type { FrameSink } from '../../../src/fabric/fabric.js'
import { closeCode, dataVersion, encodeIntroduction } from '../../../src/websocket/introduction.js'
import { newNonce } from '../../../src/websocket/proof.js'
import type { Socket, SocketTransport } from '../../../src/websocket/socket/socket.js'
import { nodeTransport } from '../../../src/websocket/socket/transport-nodejs.js'
import { MemoryWorld, type MemoryWorldOptions } from '../../support/memory-membership.js'

/** What a sink was told. */
class Recorder implements FrameSink {
  readonly frames: { readonly src: number; readonly word: number | undefined; readonly bytes: number }[] = []
  readonly lost: string[] = []
  readonly ended: string[] = []

  frame(src: number, header: Int32Array, payload: Uint8Array): void {
    this.frames.push({ src, word: header[0], bytes: payload.length })
  }

  peerLost(peer: number, reason: string): void {
    this.lost.push(`${peer}: ${reason}`)
  }

  worldLost(error: RankweaveError): void {
    this.ended.push(error.code)
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn()
}

/** Runs `use` in a world of processes, each with a sink. */
async function inWorld(
  processes: number,
  use: (world: MemoryWorld, sinks: readonly Recorder[]) => Promise<void>,
  options: MemoryWorldOptions = {},
): Promise<void> {
  const world = await MemoryWorld.open(processes, options)
  const sinks = world.sessions.map(({ hosted }) => {
    const sink = new Recorder()
    hosted[0].attach(sink)
    return sink
  })
  try {
    await use(world, sinks)
  } finally {
    await world.close()
  }
}

const fabricOf = (world: MemoryWorld, process: number) => world.sessions[process].hosted[0]
const send = (world: MemoryWorld, from: number, to: number, word: number, bytes = 0) =>
  fabricOf(world, from).send(to, Int32Array.of(word), new Uint8Array(bytes))

/** A transport of Node whose sockets the test sees. */
function observed(
  dialed: Socket[],
  change: (socket: Socket) => Socket = (socket) => socket,
): () => SocketTransport {
  return () => {
    const transport = nodeTransport({ maxMessageBytes: 2 ** 20 })
    return {
      ...transport,
      dial: (url) => {
        const socket = change(transport.dial(url))
        dialed.push(socket)
        return socket
      },
    }
  }
}

/** A socket to a process that says what a test wants. */
async function stranger(world: MemoryWorld, process: number): Promise<Socket & { closed: Promise<number> }> {
  const socket = nodeTransport({ maxMessageBytes: 2 ** 20 }).dial(world.members[0].addresses[process]!)
  const closed = new Promise<number>((resolve) =>
    socket.addEventListener('close', ({ code }) => resolve(code)),
  )
  await new Promise<void>((resolve) => socket.addEventListener('open', () => resolve()))
  return Object.assign(socket, { closed })
}

const messageOf = (socket: Socket) =>
  new Promise<string>((resolve) => socket.addEventListener('message', ({ data }) => resolve(String(data))))

describe('connections of two processes', () => {
  it('are made by the first frame, and there is one for both directions', async () => {
    const dialed: Socket[] = []
    await inWorld(
      3,
      async (world, sinks) => {
        send(world, 2, 0, 7)
        await until(() => sinks[0].frames.length === 1)
        send(world, 0, 2, 8)
        await until(() => sinks[2].frames.length === 1)
        expect(dialed.length).toBe(1)
      },
      { transport: observed(dialed) },
    )
  })

  it('become one when both dial at the same time, and no frame is lost or repeated', async () => {
    for (let round = 0; round < 5; round++) {
      const dialed: Socket[] = []
      await inWorld(
        2,
        async (world, sinks) => {
          const frames = 20
          for (let n = 0; n < frames; n++) {
            send(world, 0, 1, n)
            send(world, 1, 0, n)
            if (n % 4 === 0) await turn()
          }
          await until(() => sinks.every((sink) => sink.frames.length === frames))
          for (const sink of sinks)
            expect(sink.frames.map(({ word }) => word)).toEqual([...Array(frames).keys()])
          expect(dialed.length).toBe(2)
          await until(() => dialed.filter(({ readyState }) => readyState === 1).length === 1)
          expect(dialed.indexOf(dialed.find(({ readyState }) => readyState === 1)!)).toBe(0)
          expect(world.members.flatMap(({ reports }) => reports)).toEqual([])
        },
        { transport: observed(dialed) },
      )
    }
  })

  it('take what waits for them, when a session is closed while both dial', async () => {
    for (let turns = 0; turns < 5; turns++) {
      for (const closing of [0, 1]) {
        await inWorld(2, async (world, sinks) => {
          send(world, 0, 1, 5)
          send(world, 1, 0, 5)
          for (let n = 0; n < turns; n++) await turn()
          await world.sessions[closing].close()
          await until(() => sinks[1 - closing].frames.length === 1)
          expect(world.members.flatMap(({ reports }) => reports)).toEqual([])
        })
      }
    }
  })

  it('that break are reported with the reason and never made again; the rendezvous decides who is lost', async () => {
    const dialed: Socket[] = []
    await inWorld(
      2,
      async (world, sinks) => {
        send(world, 0, 1, 1)
        await until(() => sinks[1].frames.length === 1)
        dialed[0].terminate!()
        await until(() => world.members.every(({ reports }) => reports.length === 1))
        expect(world.members[1].reports[0]).toMatchObject({
          peer: 0,
          reason: expect.stringContaining('1006'),
        })
        send(world, 0, 1, 2)
        send(world, 1, 0, 2)
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
    await inWorld(
      2,
      async (world) => {
        send(world, 0, 1, 1)
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

describe('a process that computes, or is asked by many, is not lost', () => {
  it('one that closes a connection as late is dialed again', async () => {
    const dialed: Socket[] = []
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    // The first four connections arrive at a process that has no time for them.
    const late = 4
    server.on('connection', (socket) => socket.close(closeCode.late))
    await once(server, 'listening')
    const elsewhere = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
    const transport = () => {
      const transport = nodeTransport({ maxMessageBytes: 2 ** 20 })
      return {
        ...transport,
        dial: (url: string) => {
          dialed.push(transport.dial(dialed.length < late ? elsewhere : url))
          return dialed.at(-1)!
        },
      }
    }
    await inWorld(
      2,
      async (world, sinks) => {
        send(world, 0, 1, 7)
        await until(() => sinks[1].frames.length === 1)
        expect(dialed.length).toBe(5)
        expect(world.members.flatMap(({ reports }) => reports)).toEqual([])
      },
      { transport },
    )
    server.close()
  })

  it('one that 80 others dial at once', async () => {
    await inWorld(81, async (world, sinks) => {
      for (let process = 1; process < 81; process++) send(world, process, 0, process)
      await until(
        () => sinks[0].frames.length === 80 || world.members.some(({ reports }) => reports.length > 0),
      )
      expect(world.members.flatMap(({ reports }) => reports)).toEqual([])
    })
  })
})

describe('what a process accepts', () => {
  const hello = (over: object = {}) =>
    JSON.stringify({
      ...{ kind: 'hello', version: dataVersion, world: 'memory', from: 1, to: 0, nonce: newNonce() },
      ...over,
    })

  it.each([
    ['bytes', new Uint8Array(64)],
    ['no JSON', 'hello'],
    ['too long a text', ' '.repeat(2000)],
    ['another message', encodeIntroduction<'ready'>({ kind: 'ready' })],
    ['more than the message has', hello({ more: 1 })],
    ['another version', hello({ version: dataVersion - 1 })],
    ['another world', hello({ world: 'other' })],
    ['another process', hello({ to: 1 })],
    ['a process that there is not', hello({ from: 2 })],
    ['itself', hello({ from: 0 })],
  ])('is not %s', (_, message) =>
    inWorld(2, async (world, sinks) => {
      const socket = await stranger(world, 0)
      socket.send(message as string)
      await socket.closed
      send(world, 1, 0, 5)
      await until(() => sinks[0].frames.length === 1)
      expect(sinks[0].frames).toEqual([{ src: 1, word: 5, bytes: 0 }])
    }),
  )

  it('is not a peer that does not know the key, or repeats what it has heard', () =>
    inWorld(2, async (world, sinks) => {
      for (const proofOf of [() => newNonce(), (answer: { readonly proof: string }) => answer.proof]) {
        const socket = await stranger(world, 0)
        const answer = messageOf(socket)
        socket.send(hello())
        socket.send(encodeIntroduction<'proof'>({ kind: 'proof', proof: proofOf(JSON.parse(await answer)) }))
        expect(await socket.closed).toBe(4103)
      }
      send(world, 1, 0, 5)
      await until(() => sinks[0].frames.length === 1)
    }))

  it('is no second connection of a peer', () =>
    inWorld(2, async (world, sinks) => {
      send(world, 1, 0, 5)
      await until(() => sinks[0].frames.length === 1)
      const socket = await stranger(world, 0)
      socket.send(hello())
      expect(await socket.closed).toBe(4101)
      send(world, 1, 0, 6)
      await until(() => sinks[0].frames.length === 2)
    }))

  it('is a peer at its first attempt, while 80 connections that say nothing stay open', () => {
    const dialed: Socket[] = []
    const transport = () => {
      const transport = nodeTransport({ maxMessageBytes: 2 ** 20 })
      return {
        ...transport,
        dial: (url: string) => {
          dialed.push(transport.dial(url))
          return dialed.at(-1)!
        },
      }
    }
    return inWorld(
      2,
      async (world, sinks) => {
        const strangers = await Promise.all(Array.from({ length: 80 }, () => stranger(world, 0)))
        // The oldest have made room for the newest.
        await Promise.all(strangers.slice(0, 16).map(({ closed }) => closed))
        send(world, 1, 0, 5)
        await until(() => sinks[0].frames.length === 1)
        expect(dialed.length).toBe(1)
      },
      { transport },
    )
  })
})

/** A dialed socket whose messages a test changes on their way out. */
function tampering(change: (message: Uint8Array, send: (message: Uint8Array) => void) => void) {
  return (socket: Socket): Socket => {
    const original = socket.send.bind(socket)
    socket.send = (data, sent) => {
      if (typeof data === 'string') original(data, sent)
      else change(data, (message) => original(message.slice() as Uint8Array<ArrayBuffer>, sent))
    }
    return socket
  }
}

describe('a link breaks, and delivers nothing of it, when a message is', () => {
  const held: Uint8Array[] = []
  it.each<[string, (message: Uint8Array, send: (message: Uint8Array) => void) => void]>([
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
  ])('%s', async (_, change) => {
    held.length = 0
    const dialed: Socket[] = []
    await inWorld(
      2,
      async (world, sinks) => {
        send(world, 0, 1, 1)
        await turn()
        await until(() => dialed[0].readyState === 1)
        await turn()
        send(world, 0, 1, 2)
        await until(() => world.members[1].reports.length === 1 || held.length === 1)
        if (held.length === 1) send(world, 0, 1, 3)
        await until(() => world.members[1].reports.length === 1)
        expect(world.members[1].reports[0].reason).toMatch(/^expected /)
        expect(sinks[1].frames.length).toBeLessThanOrEqual(2)
        const words = sinks[1].frames.map(({ word }) => word)
        expect(words).toEqual([1, 2].slice(0, words.length))
      },
      { transport: observed(dialed, tampering(change)) },
    )
  })
})

it.each([
  ['than the world permits', 400_000],
  ['than the socket takes', 2 ** 20 + 8],
])('a link breaks by the fault of its sender when a message is longer %s', async (_, sizeBytes) => {
  const dialed: Socket[] = []
  await inWorld(
    2,
    async (world, sinks) => {
      send(world, 0, 1, 1)
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
        tampering((_, pass) => pass(new Uint8Array(sizeBytes))),
      ),
    },
  )
})

describe('a frame that its receiver cannot read', () => {
  it('breaks the link of its sender, and no other', async () => {
    const world = await MemoryWorld.open(3)
    const frames: number[] = []
    for (const { hosted } of world.sessions) {
      hosted[0].attach({
        frame: (_src, header) => {
          if (header[0] === 13) throw new RankweaveError('ERR_PROTOCOL', 'expected less')
          frames.push(header[0])
        },
        peerLost: () => {},
      })
    }
    send(world, 1, 0, 13)
    await until(() => world.members[0].reports.length === 1)
    expect(world.members[0].reports).toEqual([{ peer: 1, reason: 'expected less', cause: 'malformed' }])
    send(world, 2, 0, 5)
    await until(() => frames.length === 1)
    expect(frames).toEqual([5])
    await world.close()
  })
})

describe('an error of the process itself while it handles a frame', () => {
  it('ends its own world with ERR_FABRIC, and its peers report it', async () => {
    const world = await MemoryWorld.open(3)
    const ended: RankweaveError[] = []
    world.sessions[0].hosted[0].attach({
      frame: () => {
        throw new RangeError('offset is out of bounds')
      },
      peerLost: () => {},
      worldLost: (error) => ended.push(error),
    })
    for (const { hosted } of world.sessions.slice(1))
      hosted[0].attach({ frame: () => {}, peerLost: () => {} })
    send(world, 1, 0, 1)
    await until(() => ended.length === 1 && world.members[1].reports.length === 1)
    expect(ended[0]).toMatchObject({
      code: 'ERR_FABRIC',
      message: 'process 0 has failed while it handled a frame of process 1: offset is out of bounds',
    })
    expect(world.members.map(({ reports }) => reports.map(({ peer }) => peer))).toEqual([[], [0], []])
    await world.close()
  })
})

describe('losses', () => {
  it('are reported to the sink in a task of their own, once, after what has arrived', () =>
    inWorld(3, async (world, sinks) => {
      send(world, 1, 0, 4)
      await until(() => sinks[0].frames.length === 1)
      world.lose(1, 'killed')
      world.lose(1, 'again')
      expect(sinks[0].lost).toEqual([])
      await until(() => sinks.every(({ lost }) => lost.length > 0))
      expect(sinks.map(({ lost }) => lost)).toEqual([['1: killed'], ['1: killed'], ['1: killed']])
      send(world, 0, 1, 5)
      send(world, 0, 2, 6)
      await until(() => sinks[2].frames.length === 1)
      expect(sinks[1].frames).toEqual([])
    }))

  it('fail bulk transfers with the lost process, and no others', () =>
    inWorld(3, async (world) => {
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
    inWorld(3, async (world, sinks) => {
      world.members[0].loseWorld(new RankweaveError('ERR_WORLD_LOST', 'the rendezvous is lost'))
      await until(() => sinks[0].lost.length === 2)
      expect(sinks[0].ended).toEqual(['ERR_WORLD_LOST'])
      expect(sinks[0].lost).toEqual(['1: the rendezvous is lost', '2: the rendezvous is lost'])
    }))

  it('do not keep a session from closing that has frames for the lost process', async () => {
    const world = await MemoryWorld.open(2)
    const [first, second] = world.sessions
    first.hosted[0].attach(new Recorder())
    // Process 1 has no sink, so it accepts no connection.
    send(world, 0, 1, 1)
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
  await inWorld(
    2,
    async (world, sinks) => {
      send(world, 0, 1, 1)
      await until(() => sinks[1].frames.length === 1)
      const { receivedBytes } = dialed[0]
      // Pings keep it alive that has nothing to say.
      await until(() => dialed[0].receivedBytes! > receivedBytes! + 20)
      expect(world.members.flatMap(({ reports }) => reports)).toEqual([])
      isDead = true
      const net = (dialed[0] as unknown as { readonly _socket: { pause(): void } })._socket
      net.pause()
      await until(() => world.members.some(({ reports }) => reports.length === 1))
      const first = world.members.flatMap(({ reports }) => reports)[0]
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
  inWorld(
    2,
    async (world) => {
      for (let n = 0; n < 40; n++) send(world, 0, 1, n, 60_000)
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
  await inWorld(
    2,
    async (world, sinks) => {
      send(world, 1, 0, 1)
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
        const transport = observed(process === 1 ? dialed : [])()
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
  send(world, 1, 0, 1)
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
  const world = await MemoryWorld.open(2)
  const sinks = world.sessions.map(({ hosted }) => {
    const sink = new Recorder()
    hosted[0].attach(sink)
    return sink
  })
  for (let n = 0; n < 100; n++) send(world, 0, 1, n, 10_000)
  await world.sessions[0].close()
  await until(() => sinks[1].frames.length === 100)
  expect(world.members[1].reports).toEqual([])
  await world.sessions[1].close()
})
