import { expect, it } from 'vitest'
import { CommRuntime } from '../../../src/comm/comm-state.js'
import { Communicator } from '../../../src/comm/communicator.js'
import { stridedTable } from '../../../src/comm/table/rank-table.js'
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
import { Runtime } from '../../../src/messages/process/runtime.js'
import { worldLayout } from '../../../src/messages/process/world-layout.js'
import { MemoryWorld } from '../../support/memory-membership.js'

const creditBytes = 2 ** 20
const payload = new Uint8Array(32_768)

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

it.each(Object.entries(ignoring))(
  'a process that sends %s without credit is lost, and little is held of it',
  async (name, [header, bytes]) => {
    const world = await MemoryWorld.open(3)
    const layout = worldLayout(3, ['a', 'b', 'c'])
    const [victim, modified, other] = world.sessions.map(({ hosted }) => hosted[0])
    modified.attach({ frame: () => {}, peerLost: () => {} })
    const options = { eagerLimitBytes: 65_536, creditBytes }
    const runtimes = [victim, other].map((fabric) => new Runtime(fabric, layout, options))
    const { reports } = world.members[0]
    // No more than the victim has taken, lest the modified process exceeds the limit of its own queue.
    const { processCounters: counters } = runtimes[0]
    for (let sent = 0; reports.length === 0; ) {
      if (counters.framesReceived >= sent)
        for (const batchEnd = sent + 64; sent < batchEnd; sent++) modified.send(0, header, bytes)
      await new Promise((resolve) => setImmediate(resolve))
    }
    const what = name.startsWith('frames')
      ? 'process 1 sends what no rank here has called for'
      : name.includes('longer')
        ? 'expected 0 bytes of a message of 0'
        : 'process 1 exceeds its credit'
    expect(reports).toEqual([{ peer: 1, reason: expect.stringContaining(what), cause: 'malformed' }])
    const lost = runtimes.map((runtime) => new Promise((resolve) => (runtime.onPeerLost = resolve)))
    // As the rendezvous does with who breaks a rule.
    world.lose(1, reports[0].reason)
    expect(await Promise.all(lost)).toEqual([1, 1])
    for (const runtime of runtimes)
      expect(runtime.lostPeer(1)).toMatchObject({
        code: 'ERR_PEER_LOST',
        message: expect.stringContaining(what),
      })
    // Every frame that is held is one that has been received.
    const mostBytes = creditBytes + (name.startsWith('frames') ? 2 ** 26 : 0) + 2 * payload.length
    expect(runtimes[0].processCounters.frameBytesReceived).toBeLessThan(mostBytes)
    await world.close()
  },
)

/** Enough for empty messages that open more collectives than may wait. */
const floodCreditBytes = 2 ** 24
const open = { [headerWord.counter]: 0 }
const offer = (more: Readonly<Record<number, number>>) =>
  headerOf(frameKind.collectiveOffer, collectiveWords, { ...open, [collectiveWord.total]: 9, ...more })

/** About a rank table: its number is in word 3, a request has its own in 4, and its rows from 5 in 6. */
const lookup = (kind: number, more: Readonly<Record<number, number>>) =>
  headerOf(kind, 7, { ...open, ...more })

/** The n-th frame of a flood, and what each is charged. */
const floods: Readonly<Record<string, readonly [(n: number) => Int32Array, number]>> = {
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
    (n) => lookup(frameKind.tableGet, { 4: n, 6: 16_384 }),
    waitCharge.lookup,
  ],
  'requests for rows of tables that no split has made': [
    (n) => lookup(frameKind.tableGet, { 3: n, 6: 16_384 }),
    waitCharge.lookup,
  ],
  'requests for rows of tables of a communicator that no rank opens': [
    (n) => lookup(frameKind.tableGet, { [headerWord.counter]: 9, 3: n, 6: 16_384 }),
    waitCharge.lookup,
  ],
  'releases of tables that no split has made': [
    (n) => lookup(frameKind.tableRelease, { 3: n }),
    waitCharge.lookup,
  ],
  'frames for communicators of all names': [
    (n) => headerOf(frameKind.data, 6, { [headerWord.counter]: n + 7, [transferWord.transferId]: 1 }),
    waitCharge.frame,
  ],
}

it.each(Object.entries(floods))(
  'a process that floods others with %s is lost, and the others end',
  async (_, [frameOf, chargeBytes]) => {
    const world = await MemoryWorld.open(3)
    const layout = worldLayout(3, ['a', 'b', 'c'])
    const [victim, modified, other] = world.sessions.map(({ hosted }) => hosted[0])
    modified.attach({ frame: () => {}, peerLost: () => {} })
    const options = { eagerLimitBytes: 65_536, creditBytes: floodCreditBytes }
    const comms = [victim, other].map((fabric) => {
      const runtime = new CommRuntime(fabric, layout, options)
      return new Communicator(runtime.createContext({ leader: 0, counter: 0 }, stridedTable(3)), 0)
    })
    const { reports } = world.members[0]
    for (let sent = 0; reports.length === 0; ) {
      if (victim.counters.framesReceived >= sent)
        for (const batchEnd = sent + 512; sent < batchEnd; sent++) modified.send(0, frameOf(sent))
      await new Promise((resolve) => setImmediate(resolve))
    }
    const reason = expect.stringContaining('process 1 sends what no rank here has called for')
    expect(reports).toEqual([{ peer: 1, reason, cause: 'malformed' }])
    const most = (floodCreditBytes + waitingBytes) / chargeBytes
    expect(victim.counters.framesReceived).toBeLessThanOrEqual(most + 1)
    expect(victim.counters.framesReceived).toBeGreaterThan(most / 2)
    const ended = comms.map((comm) => comm.recv(1).catch(({ code }) => code))
    world.lose(1, reports[0].reason)
    expect(await Promise.all(ended)).toEqual(['ERR_PEER_LOST', 'ERR_PEER_LOST'])
    await world.close()
  },
)

it.each(Object.entries(floods))(
  'what waits of a process that is lost goes with it: %s',
  async (_, [frameOf, chargeBytes]) => {
    const world = await MemoryWorld.open(3)
    const layout = worldLayout(3, ['a', 'b', 'c'])
    const [victim, lost, other] = world.sessions.map(({ hosted }) => hosted[0])
    const options = { eagerLimitBytes: 65_536, creditBytes: floodCreditBytes }
    const runtime = new CommRuntime(victim, layout, options)
    runtime.createContext({ leader: 0, counter: 0 }, stridedTable(3))
    for (const fabric of [lost, other]) fabric.attach({ frame: () => {}, peerLost: () => {} })
    for (const [sender, fabric] of [lost, other].entries())
      for (let n = 0; n < 8; n++) fabric.send(0, frameOf(8 * sender + n))
    while (runtime.processCounters.framesReceived < 16) await new Promise((resolve) => setImmediate(resolve))
    const waitingBytes = [1, 2].map((process) => runtime.credit.outstanding(process).waitingBytes)
    expect(Math.max(...waitingBytes)).toBeGreaterThanOrEqual(8 * chargeBytes)
    const gone = new Promise((resolve) => (runtime.onPeerLost = resolve))
    world.lose(1, 'its host is gone')
    await gone
    expect(runtime.credit.outstanding(1).waitingBytes).toBe(0)
    // What process 2 sends of a table still waits, except requests that a failed communicator has refused.
    const { tables } = runtime.slices
    expect(tables).toBe(runtime.credit.outstanding(2).waitingBytes === 8 * waitCharge.lookup ? 8 : 0)
    await world.close()
  },
)

it('what a lost process had sent before still arrives, where its communicator is opened later', async () => {
  const world = await MemoryWorld.open(2)
  const [here, lost] = world.sessions.map(({ hosted }) => hosted[0])
  const most = here.maxPayloadBytes
  const options = { eagerLimitBytes: 2 * most, creditBytes: 8 * most }
  const runtime = new CommRuntime(here, worldLayout(2, ['a', 'b']), options)
  lost.attach({ frame: () => {}, peerLost: () => {} })
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
  for (const [header, bytes] of sent) lost.send(0, header, bytes)
  while (runtime.processCounters.framesReceived < sent.length)
    await new Promise((resolve) => setImmediate(resolve))
  const gone = new Promise((resolve) => (runtime.onPeerLost = resolve))
  world.lose(1, 'its host is gone')
  await gone
  expect(runtime.credit.outstanding(1).waitingBytes).toBe(0)
  const comm = new Communicator(runtime.createContext({ leader: 0, counter: 7 }, stridedTable(2)), 0)
  expect([...(await comm.recv<Uint8Array>(1, 1)).data]).toEqual([11, 12])
  const long = (await comm.recv<Uint8Array>(1, 2)).data
  expect([long.length, ...long.subarray(most - 1)]).toEqual([most + 2, 21, 22, 23])
  await expect(comm.recv(1, 3)).rejects.toMatchObject({ code: 'ERR_PEER_LOST' })
  expect(runtime.credit.outstanding(1).waitingBytes).toBe(0)
  await world.close()
})

const table = { leader: 0, counter: 0, seq: 0 } as const
const slice = { worldRanks: new Int32Array(2 ** 16), start: 0 }

it('a process that asks for large parts of a rank table without reading them is lost, within the bound of its queue', async () => {
  const limits = { maxQueuedBytes: 2 ** 23 }
  const world = await MemoryWorld.open(3, { limits })
  const [victim, modified] = world.sessions.map(({ hosted }) => hosted[0])
  modified.attach({ frame: () => {}, peerLost: () => {} })
  const options = { eagerLimitBytes: 65_536, creditBytes }
  const runtime = new CommRuntime(victim, worldLayout(3, ['a', 'b', 'c']), options)
  runtime.slices.host(table, slice, 0)
  const { reports } = world.members[0]
  for (let n = 0; n < 20_000; n++) modified.send(0, lookup(frameKind.tableGet, { 4: n, 6: 16_384 }))
  while (reports.length === 0) await new Promise((resolve) => setImmediate(resolve))
  expect(reports).toEqual([
    { peer: 1, reason: expect.stringContaining('does not take them'), cause: 'unread' },
  ])
  // A queue full of parts, and as much that the socket may have taken.
  expect(runtime.processCounters.frameBytesSent).toBeLessThan(4 * limits.maxQueuedBytes)
  await world.close()
})

it.each<[string, readonly Int32Array[], string]>([
  [
    'releases a rank table twice, as if it were two processes',
    [lookup(frameKind.tableRelease, {}), lookup(frameKind.tableRelease, {})],
    'expected one release of a process, got two of 1',
  ],
  [
    'drops a rank table in the name of its home',
    [lookup(frameKind.tableDrop, {})],
    'expected process 0 to drop it, got 1',
  ],
  [
    'answers a request to another process',
    [lookup(frameKind.tableRows, { 4: 1 })],
    'expected them of process 2, got 1',
  ],
])('a process that %s is lost, and the table stays', async (_, frames, fault) => {
  const world = await MemoryWorld.open(3)
  const layout = worldLayout(3, ['a', 'b', 'c'])
  const [victim, modified, other] = world.sessions.map(({ hosted }) => hosted[0])
  modified.attach({ frame: () => {}, peerLost: () => {} })
  const options = { eagerLimitBytes: 65_536, creditBytes }
  const [{ slices }, { slices: served }] = [victim, other].map(
    (fabric) => new CommRuntime(fabric, layout, options),
  )
  slices.host(table, slice, 0)
  slices.keepHome(table, { users: 2, hosts: 1, host: () => 0 })
  const rows = slices.getRange(table, 2, 0, 3)
  for (const frame of frames) modified.send(0, frame)
  const { reports } = world.members[0]
  while (reports.length === 0) await new Promise((resolve) => setImmediate(resolve))
  expect(reports).toEqual([{ peer: 1, reason: expect.stringContaining(fault), cause: 'malformed' }])
  expect(slices.hostedRows).toBe(slice.worldRanks.length)
  served.host(table, { worldRanks: Int32Array.of(2, 1, 0), start: 0 }, 0)
  expect(await rows).toEqual(Int32Array.of(2, 1, 0))
  await world.close()
})

it('requests and releases that came before their table are no longer counted, and rows that it lacks are refused', async () => {
  const world = await MemoryWorld.open(2)
  const layout = worldLayout(2, ['a', 'b'])
  const options = { eagerLimitBytes: 65_536, creditBytes }
  const [one, two] = world.sessions.map(({ hosted: [fabric] }) => new CommRuntime(fabric, layout, options))
  const early = Promise.all([
    two.slices.getRange(table, 0, 5, 3),
    two.slices.get(table, 0, Int32Array.of(9, 4)),
  ])
  const lacking = Promise.allSettled([
    two.slices.getRange(table, 0, 8, 5),
    two.slices.get(table, 0, Int32Array.of(4, 3)),
  ])
  while (one.processCounters.framesReceived < 4) await new Promise((resolve) => setImmediate(resolve))
  expect(one.credit.outstanding(1).waitingBytes).toBe(4 * waitCharge.lookup + 16)
  one.slices.host(table, { worldRanks: Int32Array.of(7, 6, 5, 4, 3, 2), start: 4 }, 0)
  expect(await early).toEqual([Int32Array.of(6, 5, 4), Int32Array.of(2, 7)])
  for (const outcome of await lacking)
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'ERR_REVOKED' } })
  two.slices.release(table, 0)
  while (one.processCounters.framesReceived < 5) await new Promise((resolve) => setImmediate(resolve))
  expect(one.credit.outstanding(1).waitingBytes).toBe(waitCharge.lookup)
  one.slices.keepHome(table, { users: 1, hosts: 1, host: () => 0 })
  expect([one.credit.outstanding(1).waitingBytes, one.slices.tables]).toEqual([0, 0])
  await world.close()
})

it('what calls have taken is no longer counted', async () => {
  const world = await MemoryWorld.open(2)
  const layout = worldLayout(2, ['a', 'b'])
  const options = { eagerLimitBytes: 8, creditBytes: 0 }
  const runtimes = world.sessions.map(({ hosted: [fabric] }) => new CommRuntime(fabric, layout, options))
  const [one, two] = runtimes.map(
    (runtime) => new Communicator(runtime.createContext({ leader: 0, counter: 0 }, stridedTable(2)), 0),
  )
  const input = new Float64Array(4)
  const ahead = Array.from({ length: 100 }, () => one.allreduce(input, 'sum'))
  const sends = Array.from({ length: 100 }, () => one.send(input, 1, 1))
  const { processCounters: counters, credit } = runtimes[1]
  while (counters.framesReceived < 200) await new Promise((resolve) => setImmediate(resolve))
  const charge = waitCharge.collective + waitCharge.offer + waitCharge.envelope
  expect(credit.outstanding(0).waitingBytes).toBe(100 * charge)
  const after = ahead.map(() => two.allreduce(input, 'sum'))
  const receives = sends.map(() => two.recv(0, 1))
  await Promise.all([...ahead, ...after, ...sends, ...receives])
  expect(runtimes.map(({ credit }, process) => credit.outstanding(1 - process).waitingBytes)).toEqual([0, 0])
  await world.close()
})

it.each([
  ['no JSON', '{'],
  ['JSON of no error', '{"kind":"value","value":7}'],
  ['an error of no code', '{"kind":"rankweave","record":{"code":"ERR_NONE","message":"","details":{}}}'],
  ['an error of another library', '{"kind":"foreign","name":"Error","message":"x"}'],
])('a process that revokes a communicator with %s is lost, and the others continue', async (_, text) => {
  const world = await MemoryWorld.open(3)
  const layout = worldLayout(3, ['a', 'b', 'c'])
  const [victim, modified, other] = world.sessions.map(({ hosted }) => hosted[0])
  modified.attach({ frame: () => {}, peerLost: () => {} })
  const options = { eagerLimitBytes: 65_536, creditBytes }
  const [one, two] = [victim, other].map((fabric) => {
    const runtime = new CommRuntime(fabric, layout, options)
    return new Communicator(runtime.createContext({ leader: 0, counter: 0 }, stridedTable(3)), 0)
  })
  const fromModified = one.recv(1).catch(({ code }) => code)
  const fromOther = one.recv(2)
  modified.send(0, Int32Array.of(frameKind.revoke, 0, 0), new TextEncoder().encode(text))
  const { reports } = world.members[0]
  while (reports.length === 0) await new Promise((resolve) => setImmediate(resolve))
  const reason = expect.stringMatching(/expected an error/)
  expect(reports).toEqual([{ peer: 1, reason, cause: 'malformed' }])
  world.lose(1, reports[0].reason)
  expect(await fromModified).toBe('ERR_PEER_LOST')
  await two.send(Uint8Array.of(7), 0)
  expect((await fromOther).data).toEqual(Uint8Array.of(7))
  expect(world.members.map((member) => member.reports.length)).toEqual([1, 0, 0])
  await world.close()
})
