import { describe, expect, it } from 'vitest'
import {
  callRecordKind,
  type RecordedMatching,
  readCallRecords,
  recordedMatching,
} from '../../../src/shim/recorded-matching.js'
import {
  operationWords,
  otherMatchesOf,
  type RecordFields,
  recordBytes,
} from '../../support/recorded-calls.js'

const { header, run, communicator, send, post, done, probe, mprobe, cancel, bound, end } = callRecordKind

/** A process with a clock that is `offset` ns before that of rank 0, and in the end `drift` more. */
function recordsOf(
  rank: number,
  ranks: number,
  operations: readonly RecordFields[],
  { offset = 0, drift = 0, begin = 0, isEnded = true, ofRun = 1 } = {},
): Uint8Array {
  return recordBytes([
    [header, begin, 2, rank, ranks, offset],
    [run, begin, 0, 0, 0, ofRun],
    [communicator, 77, 0, rank, ranks, 0],
    ...operations,
    ...(isEnded ? ([[end, begin + 1_000_000, 0, 2, 0, offset + drift]] as const) : []),
  ])
}

function matchingOf(files: readonly Uint8Array[]): RecordedMatching {
  return recordedMatching(files.length, (rank) => readCallRecords(`calls-${rank}.bin`, files[rank]))
}

const wordsOf = (matching: RecordedMatching, rank = 0) => operationWords(matching.process(rank).operations)

const sent = (time: number, tag: number, to = 0): RecordFields => [send, time, 0, to, tag, 8]
const posted = (time: number, source: number, tag: number): RecordFields => [post, time, 0, source, tag, 8]
const completed = (time: number, receive: number, source: number, tag: number): RecordFields => [
  ...([done, time, 0, source, tag, receive] as const),
]

describe('recordedMatching', () => {
  it('has a message arrive when its send starts', () => {
    const receiver = recordsOf(0, 2, [posted(100, 1, 5), completed(400, 0, 1, 5), posted(500, 1, 6)])
    const matching = matchingOf([receiver, recordsOf(1, 2, [sent(200, 5), sent(450, 6), sent(600, 7)])])
    expect(wordsOf(matching)).toEqual([
      ...['post 0:1/5', 'arrive 0:1/5', 'arrive 0:1/6', 'post 0:1/6', 'arrive 0:1/7'],
    ])
    expect([...matching.process(0).operations][1]).toEqual({
      ...{ kind: 'arrive', context: 0, source: 1, tag: 5, bytes: 8 },
    })
    expect(wordsOf(matching, 1)).toEqual([])
    expect(matching).toMatchObject({ processes: 2, isBounded: false, lostMessages: 0, leftOut: 4 })
  })

  it('takes times from the clock of rank 0, between what was measured at both ends', () => {
    const receiver = recordsOf(0, 2, [posted(500_000, 1, 5)])
    const times = [
      sent(10_000 + 499_000, 5),
      sent(10_000 + 500_000 + 200, 6),
      sent(10_000 + 500_000 + 600, 7),
    ]
    const steady = recordsOf(1, 2, times, { offset: 10_000, begin: 10_000 })
    expect(wordsOf(matchingOf([receiver, steady]))).toEqual([
      ...['arrive 0:1/5', 'post 0:1/5', 'arrive 0:1/6', 'arrive 0:1/7'],
    ])
    // In the middle this clock is 500 ns further ahead.
    const drifting = recordsOf(1, 2, times, { offset: 10_000, drift: 1_000, begin: 10_000 })
    expect(wordsOf(matchingOf([receiver, drifting]))).toEqual([
      ...['arrive 0:1/5', 'arrive 0:1/6', 'post 0:1/5', 'arrive 0:1/7'],
    ])
  })

  it('never has a message arrive after its receive is complete, whatever clocks say', () => {
    const late = 1_000_000_000
    const receiver = recordsOf(0, 2, [
      ...[posted(100, 1, 7), completed(200, 0, 1, 7), posted(300, -1, -1), completed(400, 1, 1, 8)],
      ...[posted(500, 1, 9)],
    ])
    const matching = matchingOf([
      receiver,
      recordsOf(
        1,
        2,
        [6, 7, 8, 9].map((tag) => sent(late + tag, tag)),
      ),
    ])
    // What was sent before is there before.
    expect(wordsOf(matching)).toEqual([
      ...[
        'post 0:1/7',
        'arrive 0:1/6',
        'arrive 0:1/7',
        'post 0:*/*',
        'arrive 0:1/8',
        'post 0:1/9',
        'arrive 0:1/9',
      ],
    ])
  })

  it('has a message there for the probe that finds it, and for a cancel that comes too late', () => {
    const found = 2 ** 32
    const late = 1_000_000_000
    const probed = recordsOf(0, 2, [
      ...([
        [probe, 100, 0, 1, 3, -1],
        [probe, 200, 0, -1, 3, found + 3],
        [mprobe, 300, 0, 1, -1, found + 3],
      ] as const),
      ...([
        [mprobe, 400, 0, 1, 3, found + 3],
        [probe, 500, 0, 1, 4, found + 4],
      ] as const),
    ])
    const sends = [3, 3, 4].map((tag) => sent(late, tag))
    expect(wordsOf(matchingOf([probed, recordsOf(1, 2, sends)]))).toEqual([
      ...['probe 0:1/3', 'arrive 0:1/3', 'probe 0:*/3', 'mprobe 0:1/*', 'arrive 0:1/3', 'mprobe 0:1/3'],
      ...['arrive 0:1/4', 'probe 0:1/4'],
    ])
    const cancelled = recordsOf(0, 2, [
      ...[posted(100, 1, 3), posted(110, 1, 4)],
      ...([
        [cancel, 200, 0, 0, 0, 0],
        [cancel, 210, 0, 0, 0, 1],
      ] as const),
      ...[completed(300, 0, 1, 3), completed(310, 1, -2, 0)],
    ])
    const matching = matchingOf([cancelled, recordsOf(1, 2, [sent(late, 3)])])
    expect(wordsOf(matching)).toEqual([
      ...['post 0:1/3', 'post 0:1/4', 'arrive 0:1/3', 'cancel 0', 'cancel 1'],
    ])
    expect(otherMatchesOf(matching, 0)).toBe(0)
  })

  it('counts receives that get another message than in the program', () => {
    const receiver = recordsOf(0, 3, [
      ...[posted(500, -1, -1), completed(510, 0, 2, 0), posted(520, -1, -1), completed(530, 1, 1, 0)],
    ])
    const matching = matchingOf([receiver, recordsOf(1, 3, [sent(100, 0)]), recordsOf(2, 3, [sent(200, 0)])])
    expect(wordsOf(matching)).toEqual(['arrive 0:1/0', 'arrive 0:2/0', 'post 0:*/*', 'post 0:*/*'])
    expect(otherMatchesOf(matching, 0)).toBe(2)
  })

  it('ends when the first process has recorded as many operations as it may', () => {
    const receiver = recordsOf(0, 2, [posted(100, 1, 5), posted(350, 1, 6)])
    const sender = recordsOf(1, 2, [sent(200, 5), sent(300, 6), [bound, 320, 0, 0, 0, 0]])
    const matching = matchingOf([receiver, sender])
    expect(matching.isBounded).toBe(true)
    expect(wordsOf(matching)).toEqual(['post 0:1/5', 'arrive 0:1/5', 'arrive 0:1/6'])
  })

  it('reads up to the last whole record of a process that was killed', () => {
    const receiver = recordsOf(0, 2, [posted(100, 1, 5), posted(200, 1, 6)], { isEnded: false })
    const cut = new Uint8Array(receiver.length + 45)
    cut.set(receiver)
    const sender = recordsOf(1, 2, [sent(150, 5)])
    for (const file of [cut, receiver.subarray(0, -1)]) {
      const { isEnded, operations } = matchingOf([file, sender]).process(0)
      expect(isEnded).toBe(false)
      expect(operationWords(operations)).toContain('arrive 0:1/5')
    }
  })

  it('counts messages to processes that never used their communicator', () => {
    const sender = recordsOf(0, 2, [
      [communicator, 88, 1, 0, 2, 0],
      [send, 100, 1, 1, 0, 8],
    ])
    const matching = matchingOf([sender, recordsOf(1, 2, [])])
    expect(matching.lostMessages).toBe(1)
    expect(matching.process(0).header.communicatorSizes).toEqual(new Map())
  })

  describe('refuses', () => {
    const good = recordsOf(0, 1, [])
    const changed = (at: number, value: number) => {
      const bytes = good.slice()
      new DataView(bytes.buffer).setInt32(at, value, true)
      return [bytes]
    }
    it.each([
      ['an empty file', [new Uint8Array(0)]],
      ['a file without a header', changed(16, send)],
      ['another version', changed(20, 1)],
      ['a rank beyond the world', changed(24, 1)],
      ['an unknown kind', changed(80, 12)],
      ['a file without the number of a run', changed(48, send)],
      ['a communicator beyond the bound', changed(84, 65_536)],
      ['a communicator of more ranks than the world', changed(92, 2)],
      ['the records of another rank', [good, recordsOf(0, 2, [])]],
      ['the records of another program', [recordsOf(0, 3, []), recordsOf(1, 2, [])]],
      ['a rank beyond a communicator', [recordsOf(0, 1, [[communicator, 88, 1, 3, 1, 0]])]],
      ['an operation on a communicator without a number', [recordsOf(0, 1, [[send, 100, 5, 0, 0, 8]])]],
    ])('%s', (_, files) => {
      expect(() => matchingOf(files)).toThrow(expect.objectContaining({ code: 'ERR_FILE' }))
    })

    it('the records of another run, naming both files', () => {
      const files = [recordsOf(0, 2, []), recordsOf(1, 2, [], { ofRun: 2 })]
      const message =
        "cannot read 'calls-1.bin': expected records of the same run as 'calls-0.bin', got another run"
      expect(() => matchingOf(files)).toThrow(message)
    })
  })
})
