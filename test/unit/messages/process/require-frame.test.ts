import { Communicator, isRankweaveError } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../../src/base/random.js'
import { CommRuntime } from '../../../../src/comm/comm-state.js'
import { stridedTable } from '../../../../src/comm/table/rank-table.js'
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
import { codeOf } from '../../../support/on-ranks.js'
import { cases } from '../../../support/soak.js'

const { source, dest, tag, type, transferId } = envelopeWord
const envelopeBytes = envelopeWord.sizeBytes
const { step, seq, total, offset } = collectiveWord
const { argument } = transferWord

type Words = Readonly<Record<number, number>>

function headerOf(kind: number, words: number, more: Words = {}): Int32Array {
  const header = new Int32Array(words)
  header[headerWord.kind] = kind
  for (const [at, value] of Object.entries(more)) header[Number(at)] = value
  return header
}
const eager = (more: Words = {}) => headerOf(frameKind.eager, envelopeWords, { [type]: 2, ...more })
const offer = (more: Words = {}) =>
  headerOf(frameKind.rendezvous, envelopeWords, {
    ...{ [type]: typeCode.Float64Array, [envelopeBytes]: 800, [transferId]: 1 },
    ...more,
  })
const part = (more: Words = {}) => headerOf(frameKind.collective, collectiveWords, more)
const located = (more: Words = {}) => headerOf(frameKind.collectiveOffer, collectiveWords, more)
const transfer = (kind: number, more: Words = {}) =>
  headerOf(kind, transferWords, { [transferWord.transferId]: 1, ...more })
const rowsOf = (rows: number) => headerOf(frameKind.sliceLookup, 7, { 6: rows })
const { revoke, credit, data, clearToSend, shared, sharedTableRequest } = frameKind

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
    ...{ kind: 'websocket', isTrusted: false, process: 0, processes: 3, nodes: ['a', 'b', 'c'] },
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
  it.each<[what: string, header: Int32Array, payloadBytes: number, fault: string]>([
    ['no header', new Int32Array(0), 0, 'expected a kind of frame, got no header'],
    ['an unknown kind', headerOf(9, 3), 0, 'expected a kind of frame, got 9'],
    ['a kind above all', headerOf(40, 4), 0, 'expected a kind of frame, got 40'],
    ['a negative kind', headerOf(-1, 11), 0, 'expected a kind of frame, got -1'],
    ['a short header', headerOf(1, 5), 0, 'expected 11 words in a frame of kind 1, got 5'],
    ['a long header', headerOf(revoke, 4), 0, 'expected 3 words in a frame of kind 17, got 4'],
    ['a type of none', eager({ [type]: 12 }), 0, 'expected a type of elements'],
    ['a negative type', eager({ [type]: -1 }), 0, 'expected a type of elements'],
    ['half an element', eager({ [type]: 9, [envelopeBytes]: 12 }), 12, 'a multiple of 8'],
    ['a short message', eager({ [envelopeBytes]: 9 }), 8, 'expected 9 bytes of a message of 9'],
    ['a long message', eager({ [envelopeBytes]: 7 }), 8, 'expected 7 bytes of a message of 7'],
    ['a message in parts without id', eager({ [envelopeBytes]: 70_000 }), 65_536, 'id of a transfer'],
    ['a negative tag', eager({ [tag]: -1 }), 0, 'expected a tag from 0'],
    ['a source that is no rank', eager({ [source]: 3 }), 0, 'expected a source from 0 to 2, got 3'],
    ['a negative source', eager({ [source]: -1 }), 0, 'expected a source from 0 to 2'],
    ['a rank elsewhere', eager({ [dest]: 1 }), 0, 'expected a rank of this process, got 1'],
    ['an offer of half an element', offer({ [envelopeBytes]: 801 }), 0, 'a multiple of 8 bytes'],
    ['an offer with payload', offer(), 8, 'expected no payload in a frame of kind 2, got 8'],
    ['an offer without id', offer({ [transferId]: 0 }), 0, 'expected the id of a transfer'],
    ['shared memory', headerOf(shared, sharedWords), 0, 'expected no frame about shared memory'],
    ['shared tables', headerOf(sharedTableRequest, 4), 0, 'expected no frame about shared memory'],
    ['a location', located(), 16, 'expected no payload'],
    ['more than a part', part({ [total]: 4 }), 8, 'expected at most 4 bytes, as it says'],
    ['an empty part', part({ [total]: 4 }), 0, 'expected a part of 4 bytes'],
    ['a negative step', part({ [step]: -1 }), 0, 'expected a step from 0'],
    ['a part without a beginning', part({ [total]: 9, [offset]: 1 }), 8, 'first frame'],
    ['a mode of none', transfer(clearToSend, { [argument]: 3 }), 0, 'from 0 to 2'],
    ['a transfer without id', transfer(data, { [transferWord.transferId]: 0 }), 8, 'id of a transfer'],
    ['more credit than it got', headerOf(credit, creditWords, { 3: 1 }), 0, 'returns more credit'],
    ['two million rows', rowsOf(2_000_000), 0, 'rows that fit in a frame'],
    ['other rows than it counts', rowsOf(3), 8, 'as many rows as in its payload'],
    ['half a row', rowsOf(0), 6, 'expected whole numbers of 4 bytes'],
    ['an error that is none', headerOf(revoke, 3), 1, 'expected an error'],
  ])('%s', (_, header, payloadBytes, fault) => {
    const { frame, comm, runtime } = victim()
    expect(faultOf(() => frame(1, header, bytes(payloadBytes)))).toContain(fault)
    expect([runtime.ended, comm.rank]).toEqual([undefined, 0])
  })

  it('a part that overfills its message, and a second message by one id', () => {
    const { frame } = victim()
    const first = eager({ [envelopeBytes]: 65_537, [transferId]: 5 })
    frame(1, first, bytes(65_536))
    expect(faultOf(() => frame(1, first, bytes(65_536)))).toBe('expected one message by the id 5, got two')
    const rest = transfer(data, { [transferWord.transferId]: 5 })
    expect(faultOf(() => frame(1, rest, bytes(2)))).toContain('expected at most 1 more, got 2')
  })

  it('parts of a collective that do not follow each other, or mix two forms', () => {
    const { frame } = victim()
    frame(1, part({ [total]: 16 }), bytes(8))
    const skipped = part({ [total]: 16, [offset]: 12 })
    expect(faultOf(() => frame(1, skipped, bytes(4)))).toContain('byte 8 of 16, got 12 of 16')
    const longer = part({ [total]: 17, [offset]: 8 })
    expect(faultOf(() => frame(1, longer, bytes(8)))).toContain('byte 8 of 16, got 8 of 17')
    expect(faultOf(() => frame(1, located({ [total]: 16, [offset]: 1 })))).toContain('not both')
  })

  it('answers of a process that is not the receiver, and grants of more than there is', async () => {
    const { frame, comm, sent } = victim()
    const long = new Float64Array(2 ** 16)
    const outcome = codeOf(comm.send(long, 1, 3))
    const { header } = sent[0]
    expect([header[0], header[transferId] > 0]).toEqual([frameKind.rendezvous, true])
    const answer = (kind: number, mode = 0, grant = 0) =>
      headerOf(kind, transferWords, {
        ...{ [transferWord.transferId]: header[transferId], [argument]: mode, [transferWord.bytes]: grant },
      })
    for (const kind of [frameKind.clearToSend, frameKind.acknowledge, frameKind.cancelled])
      expect(faultOf(() => frame(2, answer(kind)))).toContain('expected an answer of process 1, got 2')
    const tooMuch = answer(frameKind.clearToSend, transferMode.frames, 2 ** 19 + 1)
    expect(faultOf(() => frame(1, tooMuch))).toContain('expected a grant of 0 to 524288 bytes, got 524289')
    frame(1, answer(frameKind.clearToSend, transferMode.frames, 8))
    const less = answer(frameKind.clearToSend, transferMode.frames, 4)
    expect(faultOf(() => frame(1, less))).toContain('expected a grant of 8 to 524288 bytes, got 4')
    frame(1, answer(frameKind.clearToSend, transferMode.frames, 2 ** 19))
    expect(await outcome).toBe('none')
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
  [eager({ [envelopeBytes]: 16, [type]: typeCode.Float64Array }), 16],
  [eager({ [envelopeBytes]: 8, [transferId]: 2, [envelopeWord.acknowledge]: 1 }), 8],
  [eager({ [envelopeBytes]: 65_544, [transferId]: 3 }), 65_536],
  [offer(), 0],
  [headerOf(shared, sharedWords), 0],
  [part({ [total]: 8 }), 8],
  [part({ [total]: 24, [seq]: 1 }), 8],
  [located({ [total]: 9, [offset]: 4 }), 0],
  ...Object.values(frameKind).map((kind) => [headerOf(kind, 7), 8] as const),
  ...[3, 4, 5, 6, 7].map((kind) => [transfer(kind), 0] as const),
  [transfer(data, { [transferWord.transferId]: 3 }), 8],
  [headerOf(revoke, 3), 4],
  [headerOf(credit, creditWords), 0],
  [rowsOf(16_384), 0],
  [rowsOf(2), 8],
  [headerOf(frameKind.sliceRelease, 7), 0],
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
