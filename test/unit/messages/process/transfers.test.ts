import { describe, expect, it } from 'vitest'
import { RankweaveError } from '../../../../src/errors.js'
import { local } from '../../../../src/fabric/local/local.js'
import type { FrameContext } from '../../../../src/messages/process/frame-router.js'
import { transferWords } from '../../../../src/messages/process/frames.js'
import { Runtime } from '../../../../src/messages/process/runtime.js'
import type { Incoming, Outgoing } from '../../../../src/messages/process/transfer-sides.js'
import { Transfers } from '../../../../src/messages/process/transfers.js'
import { worldLayout } from '../../../../src/messages/process/world-layout.js'

const id = { leader: 0, counter: 0 }
const turn = () => new Promise((resolve) => setImmediate(resolve))

class Process extends Runtime<FrameContext> {
  readonly transfers = new Transfers(this, id)

  open(): this {
    this.router.open(id, () => ({
      id,
      eagerSink: { arrive: () => false },
      frame: (src, header, payload) => this.transfers.frame(src, header, payload),
      peerLost: (peer, error) => this.transfers.fail(error, peer),
      fail: (error) => this.transfers.fail(error),
    }))
    return this
  }
}

async function twoProcesses(bulk: boolean, creditBytes: number) {
  const session = await local({ processes: 2, bulk, maxPayloadBytes: 64 }).open()
  const layout = worldLayout(2, session.nodes)
  const [from, to] = session.hosted.map((fabric) =>
    new Process(fabric, layout, { eagerLimitBytes: 64, creditBytes }).open(),
  )
  return { from: from, to: to, session }
}

/** What happened to one side, in order. */
function outgoing(payload: Uint8Array | RankweaveError) {
  const seen: string[] = []
  const side: Outgoing = {
    process: 1,
    begin: () => {
      seen.push('begin')
      return payload
    },
    sent: () => seen.push('sent'),
    failed: (error) => seen.push(error.code),
  }
  return { side, seen }
}

function incoming(sizeBytes: number) {
  const seen: string[] = []
  const side: Incoming = {
    into: new Uint8Array(sizeBytes),
    landed: () => seen.push('landed'),
    failed: (error) => seen.push(error.code),
    lost: () => new RankweaveError('ERR_TYPE', 'lost'),
  }
  return { side, seen }
}

async function settled(...sides: { seen: string[] }[]) {
  for (let turns = 0; turns < 1000; turns++) {
    if (sides.every(({ seen }) => seen.some((event) => event !== 'begin'))) return
    await turn()
  }
}

const detach = ({ buffer }: Uint8Array) => void structuredClone(buffer, { transfer: [buffer as ArrayBuffer] })

const payloadOf = (sizeBytes: number) => Uint8Array.from({ length: sizeBytes }, (_, i) => i % 251)

describe.each([
  { way: 'in bulk', bulk: true },
  { way: 'in frames', bulk: false },
])('a payload that is transferred $way', ({ bulk }) => {
  it.each([0, 1, 64, 65, 10_000])('arrives when its receiver is ready: %i bytes', async (sizeBytes) => {
    const { from, to, session } = await twoProcesses(bulk, 128)
    const sender = outgoing(payloadOf(sizeBytes))
    const receiver = incoming(sizeBytes)
    const transferId = from.transfers.offer(sender.side)
    await turn()
    expect(sender.seen).toEqual([])
    to.transfers.fetch(0, transferId, receiver.side)
    await settled(sender, receiver)
    expect([sender.seen, receiver.seen]).toEqual([sizeBytes === 0 ? ['sent'] : ['begin', 'sent'], ['landed']])
    expect(receiver.side.into).toEqual(payloadOf(sizeBytes))
    expect(from.transfers.offered(transferId)).toBeUndefined()
    await session.close()
  })

  it('ends both sides when the sender no longer has it', async () => {
    const { from, to, session } = await twoProcesses(bulk, 128)
    const sender = outgoing(new RankweaveError('ERR_TYPE', 'detached'))
    const receiver = incoming(1000)
    to.transfers.fetch(0, from.transfers.offer(sender.side), receiver.side)
    await settled(sender, receiver)
    expect([sender.seen, receiver.seen]).toEqual([['begin', 'ERR_TYPE'], ['ERR_TYPE']])
    await session.close()
  })

  it('is sent without being begun when its receiver declines it', async () => {
    const { from, to, session } = await twoProcesses(bulk, 128)
    const sender = outgoing(payloadOf(1000))
    to.transfers.decline(0, from.transfers.offer(sender.side))
    await settled(sender)
    expect(sender.seen).toEqual(['sent'])
    await session.close()
  })

  it.each([0, 1, 3])('ends on both sides when its receiver abandons it after %i turns', async (turns) => {
    const { from, to, session } = await twoProcesses(bulk, 128)
    const [sender, next] = [outgoing(payloadOf(10_000)), outgoing(payloadOf(500))]
    const [receiver, after] = [incoming(10_000), incoming(500)]
    const transferId = from.transfers.offer(sender.side)
    to.transfers.fetch(0, transferId, receiver.side)
    for (let n = 0; n < turns; n++) await turn()
    const done = receiver.seen.length > 0
    to.transfers.abandon(0, transferId, new RankweaveError('ERR_ABORTED', 'enough'))
    await settled(receiver)
    receiver.side.into.fill(99)
    await settled(sender)
    expect(receiver.seen).toEqual([done ? 'landed' : 'ERR_ABORTED'])
    expect(sender.seen.at(-1)).toBe('sent')
    // Nothing is retained of it: neither credit nor a transfer that is in the way of the next one.
    to.transfers.fetch(0, from.transfers.offer(next.side), after.side)
    await settled(next, after)
    expect(after.side.into).toEqual(payloadOf(500))
    expect(receiver.side.into).toEqual(new Uint8Array(10_000).fill(99))
    expect([from, to].map(({ transfers }) => transfers.isIdle)).toEqual([true, true])
    expect(session.quiet()).toBe(true)
    await session.close()
  })

  it('ends on both sides when its sender withdraws it, before or after its receiver is ready', async () => {
    for (const turns of [0, 1, 2, 3]) {
      const { from, to, session } = await twoProcesses(bulk, 128)
      const sender = outgoing(payloadOf(10_000))
      const receiver = incoming(10_000)
      const transferId = from.transfers.offer(sender.side)
      if (turns > 0) to.transfers.fetch(0, transferId, receiver.side)
      for (let n = 0; n < turns; n++) await turn()
      from.transfers.settle(transferId, new RankweaveError('ERR_REVOKED', 'enough'))
      if (turns === 0) to.transfers.fetch(0, transferId, receiver.side)
      await settled(sender, receiver)
      const ends = `${sender.seen.at(-1)} ${receiver.seen.at(-1)}`
      expect(['ERR_REVOKED ERR_TYPE', 'sent landed', 'ERR_REVOKED landed']).toContain(ends)
      if (turns === 0) expect(ends).toBe('ERR_REVOKED ERR_TYPE')
      expect([from, to].map(({ transfers }) => transfers.isIdle)).toEqual([true, true])
      await session.close()
    }
  })

  it('ends on both sides when the buffer of the receiver is detached', async () => {
    const { from, to, session } = await twoProcesses(bulk, 128)
    const sender = outgoing(payloadOf(10_000))
    const receiver = incoming(10_000)
    to.transfers.fetch(0, from.transfers.offer(sender.side), receiver.side)
    detach(receiver.side.into)
    await settled(sender, receiver)
    expect([sender.seen, receiver.seen]).toEqual([['begin', 'sent'], ['ERR_FABRIC']])
    expect(session.quiet()).toBe(true)
    await session.close()
  })

  it('fails on both sides with the communicator, once', async () => {
    const { from, to, session } = await twoProcesses(bulk, 128)
    const sender = outgoing(payloadOf(1000))
    const receiver = incoming(1000)
    to.transfers.fetch(0, from.transfers.offer(sender.side), receiver.side)
    const error = new RankweaveError('ERR_REVOKED', 'revoked')
    for (const { transfers } of [from, to, from, to]) transfers.fail(error)
    for (let turns = 0; turns < 20; turns++) await turn()
    expect([sender.seen, receiver.seen]).toEqual([['ERR_REVOKED'], ['ERR_REVOKED']])
    await session.close()
  })
})

describe('payload in frames', () => {
  it('ends on both sides when the buffer of the sender is detached between two of them', async () => {
    const { from, to, session } = await twoProcesses(false, 128)
    const payload = payloadOf(10_000)
    const sender = outgoing(payload)
    const receiver = incoming(10_000)
    to.transfers.fetch(0, from.transfers.offer(sender.side), receiver.side)
    while (sender.seen.length === 0) await turn()
    detach(payload)
    await settled(sender, receiver)
    expect([sender.seen, receiver.seen]).toEqual([['begin', 'ERR_FABRIC'], ['ERR_TYPE']])
    await session.close()
  })

  it('is in flight no further than it has been granted', async () => {
    const { from, to, session } = await twoProcesses(false, 128)
    const sizes = [1000, 2000, 3000]
    const senders = sizes.map((sizeBytes) => outgoing(payloadOf(sizeBytes)))
    const receivers = sizes.map(incoming)
    senders.forEach(({ side }, i) => {
      to.transfers.fetch(0, from.transfers.offer(side), receivers[i].side)
    })
    let mostBytes = 0
    for (let turns = 0; turns < 2000 && receivers.some(({ seen }) => seen.length === 0); turns++) {
      const { framesSent, frameBytesSent } = from.processCounters
      const { framesReceived, frameBytesReceived } = to.processCounters
      const headerBytes = (framesSent - framesReceived) * transferWords * 4
      mostBytes = Math.max(mostBytes, frameBytesSent - frameBytesReceived - headerBytes)
      await turn()
    }
    expect(receivers.map(({ seen }) => seen)).toEqual(sizes.map(() => ['landed']))
    expect(mostBytes).toBe(128)
    await session.close()
  })
})
