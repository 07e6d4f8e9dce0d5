import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../../src/base/random.js'
import { CommRuntime } from '../../../../src/comm/comm-state.js'
import { Communicator } from '../../../../src/comm/communicator.js'
import { stridedTable } from '../../../../src/comm/table/rank-table.js'
import { isRankweaveError, type RankweaveError } from '../../../../src/errors.js'
import { type Fabric, type FrameSink, maxHeaderWords } from '../../../../src/fabric/fabric.js'
import { typeCode } from '../../../../src/messages/datatype/elements.js'
import {
  collectiveWord,
  collectiveWords,
  creditWords,
  envelopeWord,
  envelopeWords,
  frameKind,
  headerWord,
  sharedWords,
  transferMode,
  transferWord,
  transferWords,
} from '../../../../src/messages/process/frames.js'
import { defaultRuntimeOptions } from '../../../../src/messages/process/runtime.js'
import { worldLayout } from '../../../../src/messages/process/world-layout.js'
import { Batch, BatchReader, batchBytes, batchPayloadBytes } from '../../../../src/websocket/batch.js'
import { cases } from '../../../support/soak.js'

type Words = Readonly<Record<number, number>>

function headerOf(kind: number, words: number, more: Words = {}): Int32Array {
  const header = new Int32Array(words)
  header[headerWord.kind] = kind
  for (const [at, value] of Object.entries(more)) header[Number(at)] = value
  return header
}

const eager = (more: Words = {}) =>
  headerOf(frameKind.eager, envelopeWords, { [envelopeWord.type]: 2, ...more })
const offer = (more: Words = {}) =>
  headerOf(frameKind.rendezvous, envelopeWords, {
    [envelopeWord.type]: typeCode.Float64Array,
    [envelopeWord.sizeBytes]: 800,
    [envelopeWord.transferId]: 1,
    ...more,
  })
const part = (more: Words = {}) => headerOf(frameKind.collective, collectiveWords, more)
const transfer = (kind: number, more: Words = {}) =>
  headerOf(kind, transferWords, { [transferWord.transferId]: 1, ...more })

/** Process 0 of three, one rank each, with a receive and a barrier in progress: what others send it is given here. */
function victim() {
  let sink!: FrameSink
  const sent: { readonly peer: number; readonly header: Int32Array; readonly sizeBytes: number }[] = []
  const bulk = {
    send: () => new Promise<void>(() => {}),
    receive: () => new Promise<void>(() => {}),
    cancel() {},
  }
  const fabric: Partial<Fabric> = {
    ...{ kind: 'websocket', process: 0, processes: 3, nodes: ['a', 'b', 'c'] },
    ...{ maxPayloadBytes: batchPayloadBytes, bulk, counters: {} as never },
    ...{ ref() {}, unref() {}, poll: () => false },
    attach: (given) => {
      sink = given
    },
    send: (peer, header, payload) => {
      sent.push({ peer, header: header.slice(), sizeBytes: header.length * 4 + (payload?.length ?? 0) })
    },
  }
  const layout = worldLayout(3, fabric.nodes!)
  const runtime = new CommRuntime(fabric as Fabric, layout, {
    ...defaultRuntimeOptions,
    creditBytes: 2 ** 18,
  })
  const state = runtime.createContext({ leader: 0, counter: 0 }, stridedTable(3))
  const comm = new Communicator(state, 0)
  const frame = (src: number, header: Int32Array, payload: Uint8Array = new Uint8Array(0)) =>
    sink.frame(src, header, payload)
  return { runtime, comm, sent, frame }
}

/** The words of the fault that a frame is refused with. */
function faultOf(give: () => void): string {
  try {
    give()
  } catch (error) {
    if (isRankweaveError(error, 'ERR_PROTOCOL')) return error.message
    throw error
  }
  return 'none'
}

const bytes = (length: number) => new Uint8Array(length)

describe('a frame that no process sends is refused with the fault in words', () => {
  it.each<[string, Int32Array, Uint8Array, string]>([
    ['no header', new Int32Array(0), bytes(0), 'expected a kind of frame, got no header'],
    ['an unknown kind', headerOf(9, 3), bytes(0), 'expected a kind of frame, got 9'],
    ['a kind above all', headerOf(40, 4), bytes(0), 'expected a kind of frame, got 40'],
    ['a negative kind', headerOf(-1, 11), bytes(0), 'expected a kind of frame, got -1'],
    [
      'a short header',
      headerOf(frameKind.eager, 5),
      bytes(0),
      'expected 11 words in a frame of kind 1, got 5',
    ],
    [
      'a long header',
      headerOf(frameKind.revoke, 4),
      bytes(0),
      'expected 3 words in a frame of kind 17, got 4',
    ],
    ['a type of none', eager({ [envelopeWord.type]: 12 }), bytes(0), 'expected a type of elements'],
    ['a negative type', eager({ [envelopeWord.type]: -1 }), bytes(0), 'expected a type of elements'],
    [
      'half an element',
      eager({ [envelopeWord.type]: 9, [envelopeWord.sizeBytes]: 12 }),
      bytes(12),
      'a multiple of 8',
    ],
    [
      'a short eager message',
      eager({ [envelopeWord.sizeBytes]: 9 }),
      bytes(8),
      'expected 9 bytes of a message of 9',
    ],
    [
      'a long eager message',
      eager({ [envelopeWord.sizeBytes]: 7 }),
      bytes(8),
      'expected 7 bytes of a message of 7',
    ],
    [
      'a message in parts without id',
      eager({ [envelopeWord.sizeBytes]: 70_000 }),
      bytes(65_536),
      'id of a transfer',
    ],
    ['a negative tag', eager({ [envelopeWord.tag]: -1 }), bytes(0), 'expected a tag from 0'],
    [
      'a source that is no rank',
      eager({ [envelopeWord.source]: 3 }),
      bytes(0),
      'expected a source from 0 to 2, got 3',
    ],
    ['a negative source', eager({ [envelopeWord.source]: -1 }), bytes(0), 'expected a source from 0 to 2'],
    [
      'a rank elsewhere',
      eager({ [envelopeWord.dest]: 1 }),
      bytes(0),
      'expected a rank of this process, got 1',
    ],
    [
      'an offer of half an element',
      offer({ [envelopeWord.sizeBytes]: 801 }),
      bytes(0),
      'a multiple of 8 bytes',
    ],
    ['an offer with payload', offer(), bytes(8), 'expected no payload in a frame of kind 2, got 8'],
    [
      'an offer without id',
      offer({ [envelopeWord.transferId]: 0 }),
      bytes(0),
      'expected the id of a transfer',
    ],
    [
      'shared memory',
      headerOf(frameKind.shared, sharedWords),
      bytes(0),
      'expected no frame about shared memory',
    ],
    ['shared tables', headerOf(frameKind.askTable, 4), bytes(0), 'expected no frame about shared memory'],
    ['a location', headerOf(frameKind.collectiveOffer, collectiveWords), bytes(16), 'expected no payload'],
    [
      'more than a part',
      part({ [collectiveWord.total]: 4 }),
      bytes(8),
      'expected at most 4 bytes, as it says',
    ],
    ['an empty part', part({ [collectiveWord.total]: 4 }), bytes(0), 'expected a part of 4 bytes'],
    ['a negative step', part({ [collectiveWord.step]: -1 }), bytes(0), 'expected a step from 0'],
    [
      'a part without a beginning',
      part({ [collectiveWord.total]: 9, [collectiveWord.offset]: 1 }),
      bytes(8),
      'first frame',
    ],
    [
      'a mode of none',
      transfer(frameKind.clearToSend, { [transferWord.argument]: 3 }),
      bytes(0),
      'from 0 to 2',
    ],
    [
      'a transfer without id',
      transfer(frameKind.data, { [transferWord.transferId]: 0 }),
      bytes(8),
      'id of a transfer',
    ],
    [
      'more credit than it got',
      headerOf(frameKind.credit, creditWords, { 3: 1 }),
      bytes(0),
      'returns more credit',
    ],
    [
      'two million rows',
      headerOf(frameKind.tableGet, 7, { 6: 2_000_000 }),
      bytes(0),
      'rows that fit in a frame',
    ],
    [
      'other rows than it counts',
      headerOf(frameKind.tableGet, 7, { 6: 3 }),
      bytes(8),
      'as many rows as in its payload',
    ],
    ['half a row', headerOf(frameKind.tableGet, 7), bytes(6), 'expected whole numbers of 4 bytes'],
    ['an error that is none', headerOf(frameKind.revoke, 3), bytes(1), 'expected an error'],
  ])('%s', (_, header, payload, fault) => {
    const { frame, comm, runtime } = victim()
    expect(faultOf(() => frame(1, header, payload))).toContain(fault)
    expect([runtime.ended, comm.rank]).toEqual([undefined, 0])
  })

  it('a part that overfills its message, and a second message by one id', () => {
    const { frame } = victim()
    const first = eager({ [envelopeWord.sizeBytes]: 65_537, [envelopeWord.transferId]: 5 })
    frame(1, first, bytes(65_536))
    expect(faultOf(() => frame(1, first, bytes(65_536)))).toBe('expected one message by the id 5, got two')
    const rest = transfer(frameKind.data, { [transferWord.transferId]: 5 })
    expect(faultOf(() => frame(1, rest, bytes(2)))).toContain('expected at most 1 more, got 2')
  })

  it('parts of a collective that do not follow each other, or mix two forms', () => {
    const { frame } = victim()
    const first = part({ [collectiveWord.total]: 16 })
    frame(1, first, bytes(8))
    const skipped = part({ [collectiveWord.total]: 16, [collectiveWord.offset]: 12 })
    expect(faultOf(() => frame(1, skipped, bytes(4)))).toContain(
      'expected its frame from byte 8 of 16, got 12 of 16',
    )
    const longer = part({ [collectiveWord.total]: 17, [collectiveWord.offset]: 8 })
    expect(faultOf(() => frame(1, longer, bytes(8)))).toContain('byte 8 of 16, got 8 of 17')
    const offered = headerOf(frameKind.collectiveOffer, collectiveWords, {
      [collectiveWord.total]: 16,
      [collectiveWord.offset]: 1,
    })
    expect(faultOf(() => frame(1, offered))).toContain('not both')
  })

  it('answers of a process that is not the receiver, and grants of more than there is', async () => {
    const { frame, comm, sent } = victim()
    const long = new Float64Array(2 ** 16)
    const outcome = comm.send(long, 1, 3).then(
      () => 'sent',
      ({ code }: RankweaveError) => code,
    )
    const { header } = sent[0]
    const transferId = header[envelopeWord.transferId]
    expect([header[0], transferId > 0]).toEqual([frameKind.rendezvous, true])
    const answer = (kind: number, argument = 0, grant = 0) =>
      headerOf(kind, transferWords, {
        [transferWord.transferId]: transferId,
        [transferWord.argument]: argument,
        [transferWord.bytes]: grant,
      })
    for (const kind of [frameKind.clearToSend, frameKind.acknowledge, frameKind.cancelled])
      expect(faultOf(() => frame(2, answer(kind)))).toContain('expected an answer of process 1, got 2')
    const tooMuch = answer(frameKind.clearToSend, transferMode.frames, 2 ** 19 + 1)
    expect(faultOf(() => frame(1, tooMuch))).toContain('expected a grant of 0 to 524288 bytes, got 524289')
    frame(1, answer(frameKind.clearToSend, transferMode.frames, 8))
    const less = answer(frameKind.clearToSend, transferMode.frames, 4)
    expect(faultOf(() => frame(1, less))).toContain('expected a grant of 8 to 524288 bytes, got 4')
    frame(1, answer(frameKind.clearToSend, transferMode.frames, 2 ** 19))
    expect(await outcome).toBe('sent')
  })

  it('a collective of a process that has no rank of the communicator', () => {
    const { frame, runtime } = victim()
    runtime.createContext({ leader: 0, counter: 1 }, stridedTable(2))
    const header = part({ [headerWord.counter]: 1 })
    expect(faultOf(() => frame(2, header))).toContain('expected a process of the communicator, got 2')
  })
})

/** Frames that a process sends, which a generator then damages. */
const templates: readonly (readonly [Int32Array, number])[] = [
  [eager({ [envelopeWord.sizeBytes]: 16, [envelopeWord.type]: typeCode.Float64Array }), 16],
  [eager({ [envelopeWord.sizeBytes]: 8, [envelopeWord.transferId]: 2, [envelopeWord.acknowledge]: 1 }), 8],
  [eager({ [envelopeWord.sizeBytes]: 65_544, [envelopeWord.transferId]: 3 }), 65_536],
  [offer(), 0],
  [headerOf(frameKind.shared, sharedWords), 0],
  [part({ [collectiveWord.total]: 8 }), 8],
  [part({ [collectiveWord.total]: 24, [collectiveWord.seq]: 1 }), 8],
  [
    headerOf(frameKind.collectiveOffer, collectiveWords, {
      [collectiveWord.total]: 9,
      [collectiveWord.offset]: 4,
    }),
    0,
  ],
  ...Object.values(frameKind).map((kind) => [headerOf(kind, 7), 8] as const),
  ...[3, 4, 5, 6, 7].map((kind) => [transfer(kind), 0] as const),
  [transfer(frameKind.data, { [transferWord.transferId]: 3 }), 8],
  [headerOf(frameKind.revoke, 3), 4],
  [headerOf(frameKind.credit, creditWords), 0],
  [headerOf(frameKind.tableGet, 7, { 6: 16_384 }), 0],
  [headerOf(frameKind.tableGet, 7, { 6: 2 }), 8],
  [headerOf(frameKind.tableRelease, 7), 0],
]

it.each(Object.entries(frameKind))(
  'a frame of kind %s is answered with no more bytes than it has',
  (_, kind) => {
    const { frame, sent } = victim()
    for (const [header, length] of templates) {
      if (header[headerWord.kind] !== kind) continue
      const before = sent.length
      faultOf(() => frame(1, header, bytes(length)))
      const answered = sent.slice(before).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
      expect(answered).toBeLessThanOrEqual(header.length * 4 + length)
    }
  },
)

const odd = [0, 1, -1, 2, 3, 7, 8, 64, 255, 65_535, 2 ** 31 - 1, -(2 ** 31)]

it('whatever frames arrive, each is taken or refused with ERR_PROTOCOL', () => {
  const random = seededRandom(29)
  const below = (end: number) => Math.floor(random() * end)
  const batch = new Batch(batchBytes)
  const reader = new BatchReader()
  let [taken, refused] = [0, 0]
  for (let world = 0; world < cases(200); world++) {
    const { frame, comm } = victim()
    const quiet = (done: Promise<unknown>) => void done.catch(() => {})
    quiet(comm.recv(1, 3))
    quiet(comm.recv(2, 0, { into: new Float64Array(1) }))
    quiet(comm.send(new Float64Array(10_000), 1, 1))
    if (world % 2 === 0) quiet(comm.allreduce(new Float64Array(4), 'sum'))
    for (let n = 0; n < 100; n++) {
      const [template, sizeBytes] = templates[below(templates.length)]
      const header = [...template]
      for (let damaged = below(3); damaged > 0; damaged--) {
        const value = random() < 0.7 ? odd[below(odd.length)] : below(2 ** 32) | 0
        if (random() < 0.1) header.length = below(Math.min(header.length, maxHeaderWords) + 1)
        else header[below(header.length)] = value
      }
      const payload = bytes(random() < 0.8 ? sizeBytes : below(64)).fill(below(256))
      batch.clear()
      batch.add(0, Int32Array.from(header), payload, 0, payload.length)
      const message = batch.seal(n).slice()
      if (random() < 0.1) message[below(Math.min(message.length, 96))] ^= 1 << below(8)
      const src = 1 + below(2)
      const fault = faultOf(() => {
        reader.open(message, n)
        while (reader.next()) if (reader.kind === 0) frame(src, reader.header, reader.payload)
      })
      if (fault === 'none') taken++
      else refused++
    }
  }
  expect(Math.min(taken, refused)).toBeGreaterThan(cases(200) * 5)
})
