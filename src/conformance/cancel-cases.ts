import { RankweaveError } from '../errors.js'
import type { BulkRole, BulkTransfer } from '../fabric/fabric.js'
import { expect, turns } from './frame-checks.js'
import type { ProcessCase } from './process-cases.js'
import { TestPeer } from './test-peer.js'

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
