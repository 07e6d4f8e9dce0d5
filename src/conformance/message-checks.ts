import type { Communicator } from '../handles/communicator.js'
import type { TypedArray } from '../messages/datatype/elements.js'
import { strided } from '../messages/datatype/strided-view.js'
import type { Message } from '../messages/mailboxes/arrived.js'
import { ANY_SOURCE, ANY_TAG, PROC_NULL } from '../messages/mailboxes/envelope.js'
import { type Request, testall, testany, waitall, waitany, waitsome } from '../messages/p2p/request.js'
import {
  drawn,
  elements,
  labeledText,
  ranksOf,
  refused,
  same,
  shuffled,
  types,
} from './collective-oracles.js'
import type { WorldCase, WorldSetting } from './world-case.js'

/** The settings: eager messages, rendezvous only, and little credit. */
export const flowSettings: readonly WorldSetting[] = [
  {},
  { eagerLimitBytes: 0 },
  { eagerLimitBytes: 1000, creditBytes: 100 },
]

export const messageChecks: readonly WorldCase[] = [
  {
    name: 'every send call matches every receive call, within and between processes',
    settings: flowSettings,
    async check(world) {
      const { rank, size } = world
      const distances = [...new Set([0, 1, size - 1, size >> 1].map((distance) => distance % size))]
      for (const [way, receive] of receives.entries()) {
        const sending: Promise<unknown>[] = []
        for (const distance of distances) {
          const dest = (rank + distance) % size
          sends.forEach((send, slot) => {
            sending.push(send(world, elements(typeAt(slot), slot, rank, dest, lengthAt(slot)), dest, slot))
          })
        }
        // Receives follow another order than the sends.
        for (const distance of distances.reverse()) {
          const source = (rank + size - distance) % size
          for (let slot = sends.length - 1; slot >= 0; slot--) {
            const type = typeAt(slot)
            const expected = elements(type, slot, source, rank, lengthAt(slot))
            const message = await receive(world, source, slot, new type(expected.length))
            const what = `way ${way} to receive, kind ${slot} of send, from rank ${source}`
            same([message.source, message.tag, message.count], [source, slot, expected.length], what)
            same(message.sizeBytes, expected.byteLength, `${what}: sizeBytes`)
            same(message.data, expected, what)
          }
        }
        await Promise.all(sending)
      }
    },
  },
  {
    name: 'values, strided arrays and views of larger buffers arrive complete',
    settings: flowSettings,
    async check(world) {
      const { rank, size } = world
      const [to, from] = [(rank + 1) % size, (rank + size - 1) % size]
      for (const length of [0, 1, 90]) {
        const whole = (src: number) => elements(Int32Array, length, src, 0, 3 * length + 2) as Int32Array
        const column = (array: Int32Array) =>
          strided(array, { offset: 1, count: length, blockLength: 1, stride: 3 })
        const value = (src: number) => ({
          ...labeledText(length, src),
          array: elements(Int8Array, 1, src, 0, length),
        })
        const sending = [
          world.isend(column(whole(rank)), to, 1),
          world.isend(whole(rank).subarray(1, 1 + length), to, 2),
          world.isend(value(rank), to, 3),
          world.isend(null, to, 4),
        ]
        const every3rd = Int32Array.from({ length }, (_, i) => whole(from)[1 + 3 * i])
        const into = new Int32Array(3 * length + 2).fill(-1)
        await world.recv(from, 1, { into: column(into) })
        const scattered = new Int32Array(3 * length + 2).fill(-1)
        every3rd.forEach((element, i) => {
          scattered[1 + 3 * i] = element
        })
        same(into, scattered, 'strided to strided')
        same((await world.recv(from, 2)).data, whole(from).subarray(1, 1 + length), 'a part of a buffer')
        const got = (await world.recv<ReturnType<typeof value>>(from, 3)).data
        same([got.text, got.parts], [value(from).text, value(from).parts], 'a value')
        same(got.array, value(from).array, 'an array in a value')
        same((await world.recv(from, 4)).data, null, 'null')
        await waitall(sending)
      }
    },
  },
  {
    name: 'empty messages arrive, each once and in order',
    settings: flowSettings,
    async check(world) {
      const perPair = 20
      const sending: Request<void>[] = []
      for (const dest of ranksOf(world)) {
        for (let n = 0; n < perPair; n++) sending.push(world.isend(new Float64Array(0), dest, n))
      }
      const next = new Array<number>(world.size).fill(0)
      for (let left = perPair * world.size; left > 0; left--) {
        const { source, tag, count, sizeBytes, data } = await world.recv<Float64Array>()
        same([tag, count, sizeBytes], [next[source]++, 0, 0], `from rank ${source}`)
        same(data, new Float64Array(0), `from rank ${source}`)
      }
      same(await world.iprobe(), null, 'no message is left')
      await waitall(sending)
    },
  },
  {
    name: 'requests report completion to every test and wait call',
    async check(world) {
      const { rank, size } = world
      const [to, from] = [(rank + 1) % size, (rank + size - 1) % size]
      const late = [0, 1, 2, 3, 4, 5].map((tag) => world.irecv<Int32Array>(from, tag))
      same(await late[0].test(), { done: false }, 'test before the send')
      same(await testall(late), { done: false }, 'testall before the send')
      same(await testany(late), { done: false }, 'testany before the send')
      await world.barrier()
      const content = (src: number, tag: number) => Int32Array.of(src, tag)
      await world.send(content(rank, 3), to, 3)
      const first = await waitany(late)
      same([first.index, first.value.tag], [3, 3], 'waitany')
      same(first.value.data, content(from, 3), 'waitany')
      await world.barrier()
      for (const tag of [0, 1]) await world.send(content(rank, tag), to, tag)
      for (;;) {
        const tested = await late[1].test()
        if (!tested.done) continue
        same(tested.value.data, content(from, 1), 'test')
        break
      }
      const some = await waitsome(late)
      for (const { index, value } of some) same(value.data, content(from, index), 'waitsome')
      same(
        some.some(({ index }) => index === 1),
        true,
        'waitsome reports completed requests',
      )
      for (const tag of [5, 4, 2]) await world.send(content(rank, tag), to, tag)
      for (;;) {
        const tested = await testall(late)
        if (!tested.done) continue
        for (const { data, tag } of tested.values) same(data, content(from, tag), 'testall')
        break
      }
      same((await waitall(late)).length, late.length, 'waitall')
      same((await testany(late)).done, true, 'testany')
    },
  },
  {
    name: 'sends to PROC_NULL and receives from it complete at once',
    async check(world) {
      await world.send(Int8Array.of(1), PROC_NULL)
      const { source, tag, count, sizeBytes } = await world.recv(PROC_NULL)
      same([source, tag, count, sizeBytes], [PROC_NULL, ANY_TAG, 0, 0], 'recv from PROC_NULL')
      same((await world.sendrecv(Int8Array.of(1), PROC_NULL, PROC_NULL)).count, 0, 'sendrecv with PROC_NULL')
      same((await world.probe(PROC_NULL)).source, PROC_NULL, 'probe for PROC_NULL')
      same((await (await world.mprobe(PROC_NULL)).recv()).count, 0, 'mprobe for PROC_NULL')
    },
  },
  {
    name: 'messages that do not fit are rejected and later messages arrive',
    settings: flowSettings,
    async check(world) {
      const { rank, size } = world
      const [to, from] = [(rank + 1) % size, (rank + size - 1) % size]
      for (const length of [2, 500]) {
        const tags = [length, length + 1, length + 2] as const
        const sending = tags.map((tag) => world.isend(elements(Int32Array, tag, rank, to, length), to, tag))
        const small = new Int32Array(1).fill(-1)
        await refused(world.recv(from, tags[0], { into: small }), 'too small a buffer', 'ERR_TRUNCATE')
        same(small, Int32Array.of(-1), 'a buffer that was too small')
        const other = new Float32Array(length)
        await refused(world.recv(from, tags[1], { into: other }), 'another type', 'ERR_TYPE_MISMATCH')
        const next = (await world.recv(from, tags[2])).data
        same(next, elements(Int32Array, tags[2], from, rank, length), 'the next message')
        for (const tag of tags) same(await world.iprobe(from, tag), null, 'a rejected message is gone')
        // The sends succeed, also those whose receive failed.
        await waitall(sending)
      }
      await refused(world.send(1, size), 'a rank too large', 'ERR_RANK')
      await refused(world.recv(size), 'a rank too large', 'ERR_RANK')
      await refused(world.send(1, 0, -1), 'a negative tag', 'ERR_TAG')
      await refused(world.send((() => 1) as never, 0), 'a function', 'ERR_CLONE')
    },
  },
  {
    name: 'operations can be cancelled until they are matched',
    settings: flowSettings,
    async check(world) {
      const { rank, size } = world
      const [to, from] = [(rank + 1) % size, (rank + size - 1) % size]
      const receive = world.irecv(from, 1)
      receive.cancel()
      await refused(receive.wait(), 'a cancelled receive', 'ERR_ABORTED')
      const stop = new AbortController()
      const waiting = refused(
        world.recv(from, 1, { signal: stop.signal }),
        'an aborted receive',
        'ERR_ABORTED',
      )
      const probing = refused(
        world.probe(from, 1, { signal: stop.signal }),
        'an aborted probe',
        'ERR_ABORTED',
      )
      stop.abort()
      await Promise.all([waiting, probing])
      // No receive above may match a send below.
      await world.barrier()
      const aborted = { signal: AbortSignal.abort() }
      await refused(world.ssend(1, to, 1, aborted), 'a send by an aborted signal', 'ERR_ABORTED')
      const synchronous = world.issend(Int8Array.of(1), to, 1)
      synchronous.cancel()
      await refused(synchronous.wait(), 'a cancelled synchronous send', 'ERR_ABORTED')
      await world.barrier()
      const sent = world.issend(Int8Array.of(2), to, 1)
      same((await world.recv(from, 1)).data, Int8Array.of(2), 'after a cancelled send')
      await sent.wait()
      await world.barrier()
      same(await world.iprobe(), null, 'no cancelled message is left')
    },
  },
  {
    name: 'communicators do not mix their messages',
    settings: flowSettings,
    async check(world, { seed }) {
      const { rank, size } = world
      const comms = [world, await world.dup(), await world.split(0, -rank), await world.split(rank % 2, 0)]
      const content = (c: number, src: number, dest: number) =>
        elements(Int16Array, 100 + c, src, dest, 30 * c)
      // Each rank starts in its own order; tags and patterns are the same on every rank.
      const order = (salt: number) =>
        shuffled(
          comms.map((_, c) => c),
          drawn(seed, rank, salt),
        )
      const sending: Request<void>[] = []
      for (const c of order(1)) {
        const comm = comms[c]
        for (const dest of ranksOf(comm)) sending.push(comm.isend(content(c, comm.rank, dest), dest, 7))
      }
      for (const c of order(2)) {
        const comm = comms[c]
        const from = new Set<number>()
        for (let left = comm.size; left > 0; left--) {
          const { source, tag, data } = await comm.recv<Int16Array>(ANY_SOURCE, ANY_TAG)
          same(tag, 7, 'tag')
          same(data, content(c, source, comm.rank), `communicator ${c}, from its rank ${source}`)
          from.add(source)
        }
        same(from.size, comm.size, `senders of communicator ${c}`)
      }
      await waitall(sending)
      for (const comm of comms.slice(1)) await comm.free()
      same(comms[1].size, size, 'size of a duplicate')
      await refused(comms[1].send(1, 0), 'a communicator that was freed', 'ERR_COMM_FREED')
    },
  },
]

type Send = (comm: Communicator, data: TypedArray, dest: number, tag: number) => Promise<unknown>

const sends: readonly Send[] = [
  (comm, data, dest, tag) => comm.send(data, dest, tag),
  (comm, data, dest, tag) => comm.ssend(data, dest, tag),
  (comm, data, dest, tag) => comm.isend(data, dest, tag).wait(),
  (comm, data, dest, tag) => comm.issend(data, dest, tag).wait(),
  (comm, data, dest, tag) => comm.sendrecv(data, dest, PROC_NULL, { sendTag: tag }),
  (comm, data, dest, tag) => comm.send(data, dest, tag, { signal: new AbortController().signal }),
]

type Receive = (comm: Communicator, source: number, tag: number, into: TypedArray) => Promise<Message>

const receives: readonly Receive[] = [
  (comm, source, tag) => comm.recv(source, tag),
  (comm, source, tag, into) => comm.recv(source, tag, { into }),
  (comm, source, tag) => comm.irecv(source, tag).wait(),
  (comm, source, tag, into) => comm.irecv(source, tag, { into }).wait(),
  async (comm, source, tag) => {
    const status = await comm.probe(source, tag)
    return comm.recv(status.source, status.tag)
  },
  async (comm, source, tag) => {
    while ((await comm.iprobe(source, tag)) === null);
    return comm.recv(source, tag)
  },
  async (comm, source, tag) => (await comm.mprobe(source, tag)).recv(),
  async (comm, source, tag, into) => {
    for (;;) {
      const matched = await comm.improbe(source, tag)
      if (matched !== null) return matched.recv({ into })
    }
  },
  (comm, source, tag) => comm.sendrecv(null, PROC_NULL, source, { recvTag: tag }),
  (comm, source, tag) => comm.recv(source, tag, { signal: new AbortController().signal }),
]

const typeAt = (slot: number) => types[slot % types.length]
const lengthAt = (slot: number) => [0, 1, 30, 200, 7, 2000][slot % 6]
