import { RankweaveError } from '../errors.js'
import {
  type BulkRole,
  type BulkTransfer,
  type Fabric,
  type FabricSession,
  maxHeaderWords,
} from '../fabric/fabric.js'
import { equalWords, expect, expectBytes, expectRefused, patternBytes, TestPeer, turns } from './test-peer.js'
import { type ExpectedFabric, misplaced, placeHere } from './world-case.js'

/** The part of one process in a case. It knows what every process sends, and hence what it must receive. */
export interface ProcessCase {
  readonly name: string
  program(fabric: Fabric, session: FabricSession, context: FabricContext): Promise<void>
}

/** The facts that all processes of a case know. */
export interface FabricContext {
  readonly expected: ExpectedFabric
  readonly seed: number
  readonly rounds: number
  /** The size of the largest transfer. */
  readonly largeBytes: number
}

const framesPerPair = 100

export const processCases: readonly ProcessCase[] = [
  {
    name: 'the session has the expected processes, which run in the expected threads and OS processes',
    async program(fabric, session, { expected }) {
      const me = new TestPeer(fabric, session)
      expect(fabric.kind === expected.kind, `kind ${expected.kind}`, fabric.kind)
      expect(fabric.processes === expected.processes, `${expected.processes} processes`, fabric.processes)
      const here = Int32Array.of(fabric.process, ...placeHere())
      for (let peer = 0; peer < fabric.processes; peer++) fabric.send(peer, here)
      await me.until(() => me.received.length >= fabric.processes, 'the places of all')
      const places: (readonly number[])[] = []
      for (const { src, header } of me.received) {
        expect(header[0] === src, `process ${src}`, header[0])
        places[src] = header.slice(1)
      }
      const wrong = misplaced(places, expected.places)
      if (wrong !== undefined) throw new Error(wrong)
      await me.part()
    },
  },
  {
    name: 'frames of a pair arrive in order, each exactly once, also from a process to itself',
    async program(fabric, session) {
      const me = new TestPeer(fabric, session)
      for (let n = 0; n < framesPerPair; n++) {
        for (let peer = 0; peer < fabric.processes; peer++) {
          me.fabric.send(
            peer,
            Int32Array.of(fabric.process, peer, n),
            patternBytes(fabric.process, peer, n, n % 40),
          )
        }
      }
      await me.until(() => me.received.length >= framesPerPair * fabric.processes, 'all frames')
      await me.part()
      expect(
        me.received.length === framesPerPair * fabric.processes,
        'each frame once',
        `${me.received.length} frames`,
      )
      const next = new Array<number>(fabric.processes).fill(0)
      for (const { src, header, payload } of me.received) {
        const n = next[src]++
        expect(equalWords(header, [src, fabric.process, n]), `frame ${n} of process ${src}`, header)
        expectBytes(payload, patternBytes(src, fabric.process, n, n % 40))
      }
    },
  },
  {
    name: 'the sender may overwrite header and payload as soon as send returns',
    async program(fabric, session) {
      const me = new TestPeer(fabric, session)
      const header = new Int32Array(3)
      const payload = new Uint8Array(33)
      for (let n = 0; n < framesPerPair; n++) {
        for (let peer = 0; peer < fabric.processes; peer++) {
          header.set([fabric.process, peer, n])
          payload.set(patternBytes(fabric.process, peer, n, 33))
          fabric.send(peer, header, payload)
          header.fill(-1)
          payload.fill(0xff)
        }
      }
      await me.until(() => me.received.length >= framesPerPair * fabric.processes, 'all frames')
      for (const {
        src,
        header: [from, to, n],
        payload: got,
      } of me.received) {
        expect(from === src && to === fabric.process, `a frame of ${src} to ${fabric.process}`, [from, to])
        expectBytes(got, patternBytes(src, fabric.process, n, 33))
      }
      await me.part()
    },
  },
  {
    name: 'headers of every length and payloads from nothing to the largest arrive complete',
    async program(fabric, session) {
      const me = new TestPeer(fabric, session)
      const max = fabric.maxPayloadBytes
      const sizes = [0, 1, 2, 3, 4, 5, 7, 8, 9, 1000, max - 1, max]
      const headers = Array.from({ length: maxHeaderWords + 1 }, (_, words) =>
        Int32Array.from({ length: words }, (_, word) =>
          word % 2 === 0 ? -(2 ** 31) + word : 2 ** 31 - 1 - word,
        ),
      )
      for (let peer = 0; peer < fabric.processes; peer++) {
        for (const header of headers) fabric.send(peer, header)
        for (const [n, size] of sizes.entries()) {
          // The payload is a view somewhere inside a larger buffer, unaligned.
          const within = new Uint8Array(size + 6)
          within.set(patternBytes(fabric.process, peer, n, size), 3)
          fabric.send(peer, Int32Array.of(n), within.subarray(3, 3 + size))
        }
      }
      const perPeer = headers.length + sizes.length
      await me.until(() => me.received.length >= perPeer * fabric.processes, 'all frames')
      for (let src = 0; src < fabric.processes; src++) {
        const frames = me.received.filter((frame) => frame.src === src)
        expect(frames.length === perPeer, `${perPeer} frames of process ${src}`, frames.length)
        headers.forEach((header, n) => {
          expect(equalWords(frames[n].header, header), `header ${header}`, frames[n].header)
          expect(frames[n].payload.byteLength === 0, 'no payload', frames[n].payload.byteLength)
        })
        sizes.forEach((size, n) => {
          expectBytes(frames[headers.length + n].payload, patternBytes(src, fabric.process, n, size))
        })
      }
      await me.part()
    },
  },
  {
    name: 'send rejects oversized frames and unknown peers, counting and delivering nothing',
    async program(fabric, session) {
      const me = new TestPeer(fabric, session)
      const header = Int32Array.of(1)
      const before = { ...fabric.counters }
      expectRefused(() => fabric.send(0, new Int32Array(maxHeaderWords + 1)), 'a header too long')
      const oversized = new Uint8Array(fabric.maxPayloadBytes + 1)
      expectRefused(() => fabric.send(0, header, oversized), 'a payload too long')
      for (const peer of [-1, fabric.processes, 0.5, Number.NaN]) {
        expectRefused(() => fabric.send(peer, header), `process ${peer}`)
      }
      expect(fabric.counters.framesSent === before.framesSent, 'no frame counted', fabric.counters.framesSent)
      expect(fabric.counters.bytesSent === before.bytesSent, 'no byte counted', fabric.counters.bytesSent)
      await me.part()
      expect(me.received.length === 0, 'no frame', me.received.length)
    },
  },
  {
    name: 'a sink is never called from inside send, and never re-entered',
    async program(fabric, session) {
      const hops = 50
      let inside = 0
      let deepest = 0
      const me = new TestPeer(fabric, session, (_src, header) => {
        inside++
        deepest = Math.max(deepest, inside)
        const hop = header[0]
        if (hop < hops) {
          fabric.send(fabric.process, Int32Array.of(hop + 1))
          fabric.send((fabric.process + 1) % fabric.processes, Int32Array.of(hops))
          fabric.poll()
        }
        inside--
      })
      let sending = true
      const counted = me.received.length
      fabric.send(fabric.process, Int32Array.of(0))
      expect(me.received.length === counted, 'no delivery inside send', 'one')
      sending = false
      await me.until(() => me.received.length >= 2 * hops + 1, 'all frames')
      expect(!sending && deepest === 1, 'one frame at a time', deepest)
      await me.part()
    },
  },
  {
    name: 'poll delivers what has arrived and returns whether it delivered anything',
    async program(fabric, session) {
      const me = new TestPeer(fabric, session)
      const next = (fabric.process + 1) % fabric.processes
      for (let n = 0; n < 10; n++) fabric.send(next, Int32Array.of(n))
      await me.until(() => {
        const before = me.delivered
        const given = fabric.poll()
        const delivered = me.delivered - before
        expect(given === delivered > 0, `poll to return ${delivered > 0}`, given)
        return me.received.length >= 10
      }, 'all frames')
      await me.part()
      expect(!fabric.poll(), 'nothing left to poll', 'something')
      expect(me.received.length === 10, '10 frames', me.received.length)
      me.received.forEach(({ header }, n) => {
        expect(header[0] === n, `frame ${n}`, header[0])
      })
    },
  },
  {
    name: 'a frame forwarded from inside the sink travels around the ring',
    async program(fabric, session) {
      const rounds = 20
      const last = rounds * fabric.processes
      const next = (fabric.process + 1) % fabric.processes
      const me = new TestPeer(fabric, session, (_src, header, payload) => {
        // This forwards the memory that was lent.
        if (header[0] < last) fabric.send(next, Int32Array.of(header[0] + 1), payload)
      })
      if (fabric.process === 0) fabric.send(next, Int32Array.of(1), patternBytes(0, 0, 0, 100))
      await me.until(() => me.received.length >= rounds, 'the token')
      for (const { payload } of me.received) expectBytes(payload, patternBytes(0, 0, 0, 100))
      await me.part()
      expect(me.received.length === rounds, `the token ${rounds} times`, me.received.length)
    },
  },
  {
    name: 'counters include headers and frames to the process itself',
    async program(fabric, session) {
      const me = new TestPeer(fabric, session)
      const before = { ...fabric.counters }
      expect(
        before.framesSent === 0 && before.bytesReceived === 0,
        'counters that start at 0',
        before.framesSent,
      )
      for (let peer = 0; peer < fabric.processes; peer++) {
        fabric.send(peer, new Int32Array(4), new Uint8Array(10))
        fabric.send(peer, new Int32Array(2))
      }
      const { framesSent, bytesSent } = fabric.counters
      expect(framesSent === 2 * fabric.processes, `${2 * fabric.processes} frames sent`, framesSent)
      expect(bytesSent === 34 * fabric.processes, `${34 * fabric.processes} bytes sent`, bytesSent)
      await me.until(() => me.received.length >= 2 * fabric.processes, 'all frames')
      const { framesReceived, bytesReceived } = me.countersOfCase()
      expect(framesReceived === 2 * fabric.processes, `${2 * fabric.processes} received`, framesReceived)
      expect(
        bytesReceived === 34 * fabric.processes,
        `${34 * fabric.processes} bytes received`,
        bytesReceived,
      )
      await me.part()
    },
  },
]

type Ending = 'cancel' | 'detach'

/** The sides that end a transfer, before the other side is cancelled too. */
const scenarios: readonly { readonly roles: readonly BulkRole[]; readonly ending: Ending }[] = [
  { roles: ['receiver'], ending: 'cancel' },
  { roles: ['sender'], ending: 'cancel' },
  { roles: ['sender', 'receiver'], ending: 'cancel' },
  { roles: ['receiver'], ending: 'detach' },
  { roles: ['sender'], ending: 'detach' },
]

/** A size larger than what any fabric has in flight at a time. */
const largeCancelledBytes = 80 * 2 ** 20

const id = 7
const [hasEnded, isOver] = [1, 2]

export const cancelCases: readonly ProcessCase[] = [
  {
    name: 'a cancelled bulk transfer releases its buffers, and its id can be used again',
    async program(fabric, session, { largeBytes }) {
      const me = new TestPeer(fabric, session)
      fabric.ref()
      const { bulk, process, processes } = fabric
      const [next, before] = [(process + 1) % processes, (process + processes - 1) % processes]
      const sizes = largeBytes > 2 ** 20 ? [largeCancelledBytes] : [0, 5, 3 * fabric.maxPayloadBytes + 5]
      let n = 0
      /** Waits for what `peer` reports about round n. */
      const report = async (peer: number, what: number) => {
        const round = n
        const is = (frame: { src: number; header: readonly number[] }) =>
          frame.src === peer && frame.header[0] === what && frame.header[1] === round
        await me.until(() => me.received.some(is), `report ${what} of process ${peer} in round ${round}`)
      }
      const releasedBuffers: Side[] = []
      for (const sizeBytes of sizes) {
        for (const { roles, ending } of bulk === undefined ? [] : scenarios) {
          for (const turnsBefore of [0, 1, 4]) {
            n++
            const sender = new Side(bulk!, 'sender', next, sizeBytes, byteOf(process, n))
            const receiver = new Side(bulk!, 'receiver', before, sizeBytes, 0)
            await turns(turnsBefore)
            for (const side of [sender, receiver]) if (roles.includes(side.role)) side.end(ending)
            if (roles.includes('receiver')) {
              await receiver.endedAs(ending)
              fabric.send(before, Int32Array.of(hasEnded, n))
              await report(next, hasEnded)
              sender.end('cancel')
            }
            if (roles.includes('sender')) {
              await sender.endedAs(ending)
              fabric.send(next, Int32Array.of(hasEnded, n))
              await report(before, hasEnded)
              receiver.end('cancel')
            }
            // A side that no process touched may not know that its buffer is detached.
            for (const side of [sender, receiver]) side.end('cancel')
            await Promise.all([sender.settled, receiver.settled])
            if (receiver.error === undefined) receiver.expectFilled(byteOf(before, n))
            if (sizeBytes < largeCancelledBytes) releasedBuffers.push(receiver)
            receiver.overwrite()
            for (const peer of new Set([next, before])) fabric.send(peer, Int32Array.of(isOver, n))
            for (const peer of new Set([next, before])) await report(peer, isOver)
            await turns(1)
            receiver.expectFilled(overwritten)
          }
        }
        if (bulk === undefined) continue
        n++
        const sender = new Side(bulk, 'sender', next, sizeBytes, byteOf(process, n))
        const receiver = new Side(bulk, 'receiver', before, sizeBytes, 0)
        await Promise.all([sender.settled, receiver.settled])
        expect(sender.error === undefined, 'a sender that completes', sender.error)
        expect(receiver.error === undefined, 'a receiver that completes', receiver.error)
        receiver.expectFilled(byteOf(before, n))
        for (const side of releasedBuffers.splice(0)) side.expectFilled(overwritten)
      }
      fabric.unref()
      await me.part()
      await me.until(() => session.quiet(), 'no transfer in flight')
    },
  },
  {
    name: 'a side of a bulk transfer whose partner was cancelled moves all of it with the next one',
    async program(fabric, session, { largeBytes }) {
      const me = new TestPeer(fabric, session)
      fabric.ref()
      const { bulk, process, processes } = fabric
      const [next, before] = [(process + 1) % processes, (process + processes - 1) % processes]
      if (bulk !== undefined) {
        const sizeBytes = largeBytes > 2 ** 20 ? largeCancelledBytes : 3 * fabric.maxPayloadBytes + 5
        const isOut = (word: number) => () => me.received.some(({ header }) => header[0] === word)
        // Receivers leave before their senders arrive.
        const left = new Side(bulk, 'receiver', before, sizeBytes, 0)
        left.end('cancel')
        await left.endedAs('cancel')
        fabric.send(before, Int32Array.of(1))
        await me.until(isOut(1), 'a receiver that has left')
        const sender = new Side(bulk, 'sender', next, sizeBytes, byteOf(process, 1))
        await turns(2)
        const receiver = new Side(bulk, 'receiver', before, sizeBytes, 0)
        await Promise.all([sender.settled, receiver.settled])
        receiver.expectFilled(byteOf(before, 1))
        left.expectFilled(overwritten)
        // Senders leave before their receivers arrive.
        const leftSender = new Side(bulk, 'sender', next, sizeBytes, byteOf(process, 2))
        leftSender.end('cancel')
        await leftSender.endedAs('cancel')
        fabric.send(next, Int32Array.of(2))
        await me.until(isOut(2), 'a sender that has left')
        const second = new Side(bulk, 'receiver', before, sizeBytes, 0)
        await turns(2)
        const secondSender = new Side(bulk, 'sender', next, sizeBytes, byteOf(process, 3))
        await Promise.all([second.settled, secondSender.settled])
        second.expectFilled(byteOf(before, 3))
      }
      fabric.unref()
      await me.part()
      await me.until(() => session.quiet(), 'no transfer in flight')
    },
  },
  {
    name: 'cancelling a bulk transfer that is unknown or complete has no effect',
    async program(fabric, session) {
      const me = new TestPeer(fabric, session)
      fabric.ref()
      const { bulk, process, processes } = fabric
      const [next, before] = [(process + 1) % processes, (process + processes - 1) % processes]
      if (bulk !== undefined) {
        const cancelBoth = () => {
          bulk.cancel('sender', next, id, cancelled)
          bulk.cancel('receiver', before, id, cancelled)
        }
        cancelBoth()
        const sender = new Side(bulk, 'sender', next, 1000, byteOf(process, 1))
        const receiver = new Side(bulk, 'receiver', before, 1000, 0)
        await Promise.all([sender.settled, receiver.settled])
        cancelBoth()
        expect(sender.error === undefined, 'a sender that completes', sender.error)
        receiver.expectFilled(byteOf(before, 1))
      }
      fabric.unref()
      await me.part()
      await me.until(() => session.quiet(), 'no transfer in flight')
    },
  },
]

const cancelled = new RankweaveError('ERR_ABORTED', 'cancelled by a conformance case')
const overwritten = 0xee

/**
 * Returns the byte that a sender sends in a round: never 0, and never the one with which released buffers are
 * overwritten.
 */
const byteOf = (process: number, round: number): number => 1 + ((process * 89 + round) % 200)

class Side {
  readonly role: BulkRole
  readonly settled: Promise<void>
  error: unknown
  readonly #bulk: BulkTransfer
  readonly #peer: number
  readonly #bytes: Uint8Array<ArrayBuffer>
  /** The memory of a buffer that was detached. */
  #taken: Uint8Array | undefined

  constructor(bulk: BulkTransfer, role: BulkRole, peer: number, sizeBytes: number, value: number) {
    this.role = role
    this.#bulk = bulk
    this.#peer = peer
    this.#bytes = new Uint8Array(sizeBytes).fill(value)
    const promise = role === 'sender' ? bulk.send(peer, id, this.#bytes) : bulk.receive(peer, id, this.#bytes)
    this.settled = promise.catch((error: unknown) => {
      this.error = error
      this.overwrite()
    })
  }

  end(ending: Ending): void {
    if (ending === 'cancel') this.#bulk.cancel(this.role, this.#peer, id, cancelled)
    else
      this.#taken ??= new Uint8Array(structuredClone(this.#bytes.buffer, { transfer: [this.#bytes.buffer] }))
  }

  /**
   * Waits until a side that was cancelled has settled. A fabric may notice late that a buffer is detached, or not at
   * all.
   */
  async endedAs(ending: Ending): Promise<void> {
    if (ending === 'detach') return
    await this.settled
    expect(this.error === undefined || this.error === cancelled, 'the error of cancel', this.error)
  }

  /** Overwrites a released buffer, as its owner may. */
  overwrite(): void {
    this.#memory.fill(overwritten)
  }

  expectFilled(value: number): void {
    const memory = this.#memory
    const allEqual = memory.length < 2 || Buffer.compare(memory.subarray(1), memory.subarray(0, -1)) === 0
    if (allEqual && (memory.length === 0 || memory[0] === value)) return
    const at = memory.findIndex((byte) => byte !== value)
    expect(false, `bytes of ${value} in the buffer of the ${this.role}`, `${memory[at]} at ${at}`)
  }

  get #memory(): Uint8Array {
    return this.#taken ?? this.#bytes
  }
}
