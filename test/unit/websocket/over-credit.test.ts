import { expect, it, onTestFinished } from 'vitest'
import { CommRuntime } from '../../../src/comm/comm-state.js'
import { stridedTable } from '../../../src/comm/table/rank-table.js'
import { Communicator } from '../../../src/handles/communicator.js'
import { typeCode } from '../../../src/messages/datatype/elements.js'
import { waitCharge, waitingBytes } from '../../../src/messages/process/credit.js'
import {
  collectiveWord,
  collectiveWords,
  envelopeWord,
  envelopeWords,
  frameKind,
  headerWord,
  transferWord,
} from '../../../src/messages/process/frames.js'
import { worldLayout } from '../../../src/messages/process/world-layout.js'
import { batchPayloadBytes } from '../../../src/websocket/batch.js'
import { turn, until } from '../../support/memory-links.js'
import { MemoryWorld, type MemoryWorldOptions } from '../../support/memory-membership.js'

const creditBytes = 2 ** 20
const payload = new Uint8Array(32_768)
/** Of the communicator of all ranks. */
const worldId = { leader: 0, counter: 0 }

/** Header words of a kind for a communicator that no rank opens. */
function headerOf(kind: number, words: number, more: Readonly<Record<number, number>> = {}): Int32Array {
  const header = new Int32Array(words)
  header[headerWord.kind] = kind
  header[headerWord.counter] = 7
  for (const [at, value] of Object.entries(more)) header[Number(at)] = value
  return header
}

const ignoring = {
  'eager messages': [headerOf(frameKind.eager, envelopeWords, { [envelopeWord.sizeBytes]: 32_768 }), payload],
  'messages that are longer than they say': [headerOf(frameKind.eager, envelopeWords), payload],
  'empty messages': [headerOf(frameKind.eager, envelopeWords), undefined],
  'messages of collectives': [
    headerOf(frameKind.collective, collectiveWords, { [collectiveWord.total]: 32_768 }),
    payload,
  ],
  'a collective message of 3 GiB': [
    headerOf(frameKind.collective, collectiveWords, { [collectiveWord.total]: 3 * 2 ** 30 }),
    payload,
  ],
  'frames for which no credit is taken': [
    headerOf(frameKind.data, 6, { [transferWord.transferId]: 1 }),
    payload,
  ],
} as const

const open = { [headerWord.counter]: 0 }
const offer = (more: Readonly<Record<number, number>>) =>
  headerOf(frameKind.collectiveOffer, collectiveWords, { ...open, [collectiveWord.total]: 9, ...more })

/** About a rank table: its number is in word 3, a request has its own in 4, and its rows from 5 in 6. */
const lookup = (kind: number, more: Readonly<Record<number, number>>) =>
  headerOf(kind, 7, { ...open, ...more })

/** The n-th frame of a flood, and what each is charged. */
const flooding: Readonly<Record<string, readonly [(n: number) => Int32Array, number]>> = {
  'offers to collectives': [
    (n) => offer({ [collectiveWord.seq]: n, [collectiveWord.offset]: n + 1 }),
    waitCharge.collective + waitCharge.offer,
  ],
  'offers to persistent operations': [
    (n) => offer({ [collectiveWord.lane]: n + 1, [collectiveWord.offset]: n + 1 }),
    waitCharge.collective + waitCharge.offer,
  ],
  'offers to one collective': [
    (n) => offer({ [collectiveWord.step]: n, [collectiveWord.offset]: n + 1 }),
    waitCharge.offer,
  ],
  'empty messages of collectives': [
    (n) => headerOf(frameKind.collective, collectiveWords, { ...open, [collectiveWord.seq]: n }),
    waitCharge.collective,
  ],
  'envelopes of long messages': [
    (n) =>
      headerOf(frameKind.rendezvous, envelopeWords, {
        ...open,
        [envelopeWord.sizeBytes]: 2 ** 20,
        [envelopeWord.transferId]: n + 1,
      }),
    waitCharge.envelope,
  ],
  'requests for rows of one table that no split has made': [
    (n) => lookup(frameKind.sliceLookup, { 4: n, 6: 16_384 }),
    waitCharge.lookup,
  ],
  'requests for rows of tables that no split has made': [
    (n) => lookup(frameKind.sliceLookup, { 3: n, 6: 16_384 }),
    waitCharge.lookup,
  ],
  'requests for rows of tables of a communicator that no rank opens': [
    (n) => lookup(frameKind.sliceLookup, { [headerWord.counter]: 9, 3: n, 6: 16_384 }),
    waitCharge.lookup,
  ],
  'releases of tables that no split has made': [
    (n) => lookup(frameKind.sliceRelease, { 3: n }),
    waitCharge.lookup,
  ],
  'frames for communicators of all names': [
    (n) => headerOf(frameKind.data, 6, { [headerWord.counter]: n + 7, [transferWord.transferId]: 1 }),
    waitCharge.frame,
  ],
}

/**
 * A world in which some processes run the library, and the others send frames of the test's choice; process 0
 * is the victim.
 */
async function attackedWorld(
  processes: number,
  honest: readonly number[],
  {
    creditBytes: inCredit = creditBytes,
    eagerLimitBytes = 65_536,
    ...options
  }: MemoryWorldOptions & { readonly creditBytes?: number; readonly eagerLimitBytes?: number } = {},
) {
  const world = await MemoryWorld.open(processes, options)
  onTestFinished(() => world.close())
  const layout = worldLayout(
    processes,
    Array.from({ length: processes }, (_, process) => `node ${process}`),
  )
  const fabrics = world.sessions.map(({ hosted }) => hosted[0])
  const runtimes = honest.map(
    (process) => new CommRuntime(fabrics[process], layout, { eagerLimitBytes, creditBytes: inCredit }),
  )
  for (const [process, fabric] of fabrics.entries())
    if (!honest.includes(process)) fabric.attach({ frame: () => {}, peerLost: () => {} })
  const { reports } = world.members[0]
  return {
    world,
    runtimes,
    reports,
    modified: fabrics[1],
    counters: fabrics[0].counters,
    /** The communicator of all ranks, at each process that runs the library. */
    comms: () =>
      runtimes.map((runtime) => new Communicator(runtime.createContext(worldId, stridedTable(processes)), 0)),
    /** Resolves when the victim has said what process 1 did: its cause, and a part of its reason. */
    async reported(cause: string, reason: string) {
      await until(() => reports.length > 0)
      expect(reports).toEqual([{ peer: 1, reason: expect.stringContaining(reason), cause }])
    },
    /** As the rendezvous does with who breaks a rule; resolves when all know it. */
    async loses() {
      const lost = runtimes.map((runtime) => new Promise((resolve) => (runtime.onPeerLost = resolve)))
      world.lose(1, reports[0]?.reason ?? 'its host is gone')
      expect(await Promise.all(lost)).toEqual(honest.map(() => 1))
    },
    /** What waits of a process at the victim. */
    waiting: (process: number) => runtimes[0].credit.outstanding(process).waitingBytes,
    received: (frames: number) => until(() => fabrics[0].counters.framesReceived >= frames),
    /** Sends frames until the victim reports them, no faster than it takes them. */
    async floods(send: (n: number) => void, batch: number) {
      for (let sent = 0; reports.length === 0; ) {
        if (fabrics[0].counters.framesReceived >= sent)
          for (const end = sent + batch; sent < end; sent++) send(sent)
        await turn()
      }
    },
  }
}

it.each(Object.entries(ignoring))(
  'a process that sends %s without credit is lost, and little is held of it',
  async (name, [header, bytes]) => {
    const { runtimes, modified, reported, loses, floods } = await attackedWorld(3, [0, 2])
    await floods(() => modified.send(0, header, bytes), 64)
    const what = name.startsWith('frames')
      ? 'process 1 sends what no rank here has called for'
      : name.includes('longer')
        ? 'expected 0 bytes of a message of 0'
        : 'process 1 exceeds its credit'
    await reported('malformed', what)
    await loses()
    for (const runtime of runtimes)
      expect(runtime.lostPeer(1)).toMatchObject({
        code: 'ERR_PEER_LOST',
        message: expect.stringContaining(what),
      })
    // Every frame that is held is one that has been received.
    const mostBytes = creditBytes + (name.startsWith('frames') ? 2 ** 26 : 0) + 2 * payload.length
    expect(runtimes[0].processCounters.frameBytesReceived).toBeLessThan(mostBytes)
  },
)

it.each(['offers to collectives', 'requests for rows of tables that no split has made'])(
  'a process that floods others with %s is lost, and the others end',
  async (name) => {
    const [frameOf, chargeBytes] = flooding[name]
    const { modified, counters, comms, reported, loses, floods } = await attackedWorld(3, [0, 2])
    const all = comms()
    await floods((n) => modified.send(0, frameOf(n)), 512)
    await reported('malformed', 'process 1 sends what no rank here has called for')
    const most = (creditBytes + waitingBytes) / chargeBytes
    expect(counters.framesReceived).toBeLessThanOrEqual(most + 1)
    expect(counters.framesReceived).toBeGreaterThan(most / 2)
    const ended = all.map((comm) => comm.recv(1).catch(({ code }) => code))
    await loses()
    expect(await Promise.all(ended)).toEqual(['ERR_PEER_LOST', 'ERR_PEER_LOST'])
  },
)

it.each(Object.entries(flooding))(
  'what waits of a process is charged, and goes with it when it is lost: %s',
  async (_, [frameOf, chargeBytes]) => {
    const { world, runtimes, comms, loses, waiting, received } = await attackedWorld(3, [0])
    comms()
    for (const sender of [1, 2])
      for (let n = 0; n < 8; n++) world.sessions[sender].hosted[0].send(0, frameOf(8 * sender + n))
    await received(16)
    expect(Math.max(waiting(1), waiting(2))).toBeGreaterThanOrEqual(8 * chargeBytes)
    await loses()
    expect(waiting(1)).toBe(0)
    // What process 2 sends of a table still waits, except requests that a failed communicator has refused.
    expect(runtimes[0].slices.tables).toBe(waiting(2) === 8 * waitCharge.lookup ? 8 : 0)
  },
)

it('what a lost process had sent before still arrives, where its communicator is opened later', async () => {
  const most = batchPayloadBytes
  const credit = { eagerLimitBytes: 2 * most, creditBytes: 8 * most }
  const { runtimes, modified, loses, waiting, received } = await attackedWorld(2, [0], credit)
  const message = (tag: number, sizeBytes: number, transferId: number) =>
    headerOf(frameKind.eager, envelopeWords, {
      ...{ [envelopeWord.destWorldRank]: 0, [envelopeWord.dest]: 0, [envelopeWord.source]: 1 },
      ...{ [envelopeWord.tag]: tag, [envelopeWord.type]: typeCode.Uint8Array },
      ...{ [envelopeWord.sizeBytes]: sizeBytes, [envelopeWord.transferId]: transferId },
    })
  const rest = (transferId: number) => headerOf(frameKind.data, 6, { [transferWord.transferId]: transferId })
  const sent: readonly (readonly [Int32Array, Uint8Array])[] = [
    [message(1, 2, 0), Uint8Array.of(11, 12)],
    [message(2, most + 2, 5), new Uint8Array(most).fill(21)],
    [message(3, most + 2, 6), new Uint8Array(most).fill(31)],
    [rest(5), Uint8Array.of(22, 23)],
    // Of the third no more arrives, and this is of no message.
    [rest(7), Uint8Array.of(71, 72)],
  ]
  for (const [header, bytes] of sent) modified.send(0, header, bytes)
  await received(sent.length)
  await loses()
  expect(waiting(1)).toBe(0)
  const opened = runtimes[0].createContext({ leader: 0, counter: 7 }, stridedTable(2))
  const comm = new Communicator(opened, 0)
  expect([...(await comm.recv<Uint8Array>(1, 1)).data]).toEqual([11, 12])
  const long = (await comm.recv<Uint8Array>(1, 2)).data
  expect([long.length, ...long.subarray(most - 1)]).toEqual([most + 2, 21, 22, 23])
  await expect(comm.recv(1, 3)).rejects.toMatchObject({ code: 'ERR_PEER_LOST' })
  expect(waiting(1)).toBe(0)
})

const table = { leader: 0, counter: 0, seq: 0 } as const
const slice = { worldRanks: new Int32Array(2 ** 16), start: 0 }

it('a process that asks for large parts of a rank table without reading them is lost, within the bound of its queue', async () => {
  const limits = { maxQueuedBytes: 2 ** 22 }
  const { runtimes, modified, reported } = await attackedWorld(3, [0], { limits })
  runtimes[0].slices.host(table, slice, 0)
  for (let n = 0; n < 10_000; n++) modified.send(0, lookup(frameKind.sliceLookup, { 4: n, 6: 16_384 }))
  await reported('unread', 'does not take them')
  // A queue full of parts, and as much that the socket may have taken.
  expect(runtimes[0].processCounters.frameBytesSent).toBeLessThan(4 * limits.maxQueuedBytes)
})

it.each<[string, readonly Int32Array[], string]>([
  [
    'releases a rank table twice, as if it were two processes',
    [lookup(frameKind.sliceRelease, {}), lookup(frameKind.sliceRelease, {})],
    'expected one release of a process, got two of 1',
  ],
  [
    'drops a rank table in the name of its home',
    [lookup(frameKind.sliceDrop, {})],
    'expected process 0 to drop it, got 1',
  ],
  [
    'answers a request to another process',
    [lookup(frameKind.sliceRows, { 4: 1 })],
    'expected them of process 2, got 1',
  ],
])('a process that %s is lost, and the table stays', async (_, frames, fault) => {
  const { runtimes, modified, reported } = await attackedWorld(3, [0, 2])
  const [{ slices }, { slices: served }] = runtimes
  slices.host(table, slice, 0)
  slices.keepHome(table, { users: 2, hosts: 1, host: () => 0 })
  const rows = slices.getRange(table, 2, 0, 3)
  for (const frame of frames) modified.send(0, frame)
  await reported('malformed', fault)
  expect(slices.hostedRows).toBe(slice.worldRanks.length)
  served.host(table, { worldRanks: Int32Array.of(2, 1, 0), start: 0 }, 0)
  expect(await rows).toEqual(Int32Array.of(2, 1, 0))
})

it('requests and releases that came before their table are no longer counted, and rows that it lacks are refused', async () => {
  const { runtimes, waiting, received } = await attackedWorld(2, [0, 1])
  const [one, two] = runtimes
  const early = Promise.all([
    two.slices.getRange(table, 0, 5, 3),
    two.slices.get(table, 0, Int32Array.of(9, 4)),
  ])
  const lacking = Promise.allSettled([
    two.slices.getRange(table, 0, 8, 5),
    two.slices.get(table, 0, Int32Array.of(4, 3)),
  ])
  await received(4)
  expect(waiting(1)).toBe(4 * waitCharge.lookup + 16)
  one.slices.host(table, { worldRanks: Int32Array.of(7, 6, 5, 4, 3, 2), start: 4 }, 0)
  expect(await early).toEqual([Int32Array.of(6, 5, 4), Int32Array.of(2, 7)])
  for (const outcome of await lacking)
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'ERR_REVOKED' } })
  two.slices.release(table, 0)
  await received(5)
  expect(waiting(1)).toBe(waitCharge.lookup)
  one.slices.keepHome(table, { users: 1, hosts: 1, host: () => 0 })
  expect([waiting(1), one.slices.tables]).toEqual([0, 0])
})

it('what calls have taken is no longer counted', async () => {
  const small = { eagerLimitBytes: 8, creditBytes: 0 }
  const { runtimes, comms, waiting, received } = await attackedWorld(2, [0, 1], small)
  const [two, one] = comms()
  const input = new Float64Array(4)
  const ahead = Array.from({ length: 100 }, () => one.allreduce(input, 'sum'))
  const sends = Array.from({ length: 100 }, () => one.send(input, 0, 1))
  await received(200)
  expect(waiting(1)).toBe(100 * (waitCharge.collective + waitCharge.offer + waitCharge.envelope))
  const after = ahead.map(() => two.allreduce(input, 'sum'))
  const receives = sends.map(() => two.recv(1, 1))
  await Promise.all([...ahead, ...after, ...sends, ...receives])
  expect([waiting(1), runtimes[1].credit.outstanding(0).waitingBytes]).toEqual([0, 0])
})

it.each([
  ['no JSON', '{'],
  ['JSON of no error', '{"kind":"value","value":7}'],
  ['an error of no code', '{"kind":"rankweave","record":{"code":"ERR_NONE","message":"","details":{}}}'],
  ['an error of another library', '{"kind":"foreign","name":"Error","message":"x"}'],
])('a process that revokes a communicator with %s is lost, and the others continue', async (_, text) => {
  const { world, modified, comms, reported } = await attackedWorld(3, [0, 2])
  const [one, two] = comms()
  const fromModified = one.recv(1).catch(({ code }) => code)
  const fromOther = one.recv(2)
  modified.send(0, Int32Array.of(frameKind.revoke, 0, 0), new TextEncoder().encode(text))
  await reported('malformed', 'expected an error')
  world.lose(1, 'it broke a rule')
  expect(await fromModified).toBe('ERR_PEER_LOST')
  await two.send(Uint8Array.of(7), 0)
  expect((await fromOther).data).toEqual(Uint8Array.of(7))
  expect(world.members.map((member) => member.reports.length)).toEqual([1, 0, 0])
})
