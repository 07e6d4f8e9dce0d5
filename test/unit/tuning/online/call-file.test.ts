import { describe, expect, it } from 'vitest'
import { collectives } from '../../../../src/schedule/specification.js'
import { cellAxes } from '../../../../src/tuning/models/decision-grid.js'
import { type CallFileHeader, formatCallFile } from '../../../../src/tuning/online/call-file.js'
import { CallHistory, settingsOfRuns, timedCalls } from '../../../../src/tuning/online/call-history.js'
import { CallTimes, recordBytes } from '../../../../src/tuning/online/call-records.js'
import { readCallFile } from '../../../../src/tuning/online/read-call-file.js'
import { NumberedSettings, type TuningSetting } from '../../../../src/tuning/settings/setting.js'

const settings: TuningSetting[] = ['bcast', 'allreduce'].flatMap((collective) =>
  ['x', 'y'].map((algorithm) => ({ collective: collective as 'bcast', algorithm, parameters: {} })),
)
const header: CallFileHeader = {
  source: { kind: 'rankweave', name: 'threads', machine: 'two cores' },
  ...{ mode: 'tuning', model: '', seed: 7, processes: 4 },
  clock: { name: 'performance.now', tickUs: 0.1 },
  settings,
  communicators: [{ id: 3, nodes: 2, processesPerNode: 2, processes: 4 }],
}
const allreduce = collectives.indexOf('allreduce')

function recordsOf(clockUs: number, lengths: readonly number[]): CallTimes {
  const records = new CallTimes(lengths.length)
  for (const [call, length] of lengths.entries()) {
    const start = clockUs + 100 * call
    records.end(records.start(3, call, allreduce, 1 + (call % 2), 2 ** 33 + call, start), start + length)
  }
  return records
}

const file = (...of: readonly CallTimes[]) =>
  formatCallFile(header, new Map(of.map((records, process) => [process, records.bytes()])))

describe('records of calls', () => {
  it('take 32 bytes, and no more calls than there is memory for', () => {
    expect(recordBytes).toBe(32)
    const records = recordsOf(0, [1, 2, 3])
    expect(records.bytes().byteLength).toBe(96)
    expect(records.start(3, 3, allreduce, 1, 8, 0)).toBe(-1)
    expect(records.length).toBe(3)
  })

  it('of a call that has not ended are not written', () => {
    const records = new CallTimes(2)
    records.start(3, 0, allreduce, 1, 8, 0)
    records.end(records.start(3, 1, allreduce, 1, 8, 5), 6)
    expect(records.bytes().byteLength).toBe(32)
  })

  it('of a clock that ran backwards are not written', () => {
    const records = new CallTimes(2)
    records.end(records.start(3, 0, allreduce, 1, 8, 10), 9)
    records.end(records.start(3, 1, allreduce, 1, 8, 10), 10)
    expect(records.bytes().byteLength).toBe(32)
  })

  it.each([-1, 1.5, 2 ** 21])('are refused for capacity %d', (capacity) => {
    expect(() => new CallTimes(capacity)).toThrow('capacity')
  })
})

describe('a file of calls', () => {
  it('reads as what was written', () => {
    const { records, ...read } = readCallFile('f', file(recordsOf(0, [5]), recordsOf(1e9, [6])))
    expect(read).toEqual(header)
    const common = { communicator: 3, call: 0, collective: 'allreduce', setting: 1, bytes: 2 ** 33 }
    expect(records.get(0)).toEqual([{ ...common, startUs: 0, endUs: 5 }])
    expect(records.get(1)).toEqual([{ ...common, startUs: 1e9, endUs: 1e9 + 6 }])
  })

  it('has the clock that times are from, and its step', () => {
    const coarse = { name: 'gettimeofday', tickUs: 1000 }
    expect(readCallFile('f', formatCallFile({ ...header, clock: coarse }, new Map())).clock).toEqual(coarse)
  })

  it.each([
    [20, 10],
    [Number.NaN, 10],
    [0, Number.POSITIVE_INFINITY],
    [0, 1e308],
  ])('is refused where a call is from %d to %d us, which no clock shows', (startUs, endUs) => {
    const bytes = recordsOf(0, [5]).bytes()
    const view = new DataView(bytes.buffer)
    view.setFloat64(0, startUs, true)
    view.setFloat64(8, endUs, true)
    const whole = formatCallFile(header, new Map([[0, bytes]]))
    expect(() => readCallFile('f', whole)).toThrow(
      'record 0: expected an end from 0 to 1000000000000 us after the start',
    )
  })

  it('is refused wherever it is cut off', () => {
    const whole = file(recordsOf(0, [5, 6]))
    for (let length = 0; length < whole.byteLength; length++)
      expect(() => readCallFile('f', whole.subarray(0, length))).toThrow(/ERR_MEASUREMENT|f/)
    expect(() => readCallFile('f', new Uint8Array([...whole, 10]))).toThrow('cut off or damaged')
  })

  it('is refused with any byte changed', () => {
    const whole = file(recordsOf(0, [5]))
    for (let at = 0; at < whole.byteLength; at++) {
      const changed = whole.slice()
      changed[at] ^= 1
      expect(() => readCallFile('f', changed), `byte ${at}`).toThrow()
    }
  })

  it.each<[string, object, string]>([
    ['of another format', { format: 'x' }, "format: expected 'rankweave-calls'"],
    ['of another version', { version: 2 }, 'version: expected 1'],
    ['with an unknown member', { more: 1 }, 'more'],
    [
      'with too many records',
      {
        records: [
          [0, 2 ** 22],
          [1, 1],
        ],
      },
      'at most',
    ],
    [
      'with a process twice',
      {
        records: [
          [0, 0],
          [0, 0],
        ],
      },
      'each once',
    ],
    ['with a process that is not in the world', { records: [[4, 0]] }, 'below 4'],
    ['with an odd seed', { seed: -1 }, 'seed'],
    ['with an odd mode', { mode: 'a b' }, 'mode'],
    ['with an odd model', { model: 'x' }, 'model'],
    ['with an odd communicator', { communicators: [{ id: 1 }] }, 'communicators'],
    ['with an odd collective', { collectives: ['x'] }, 'collectives'],
    [
      'with 4,097 settings',
      { settings: Array(4097).fill(settings[0]) },
      'settings: expected a list of at most 4096',
    ],
    ['with an odd setting', { settings: [{ collective: 'x' }] }, 'settings[0]'],
    ['with an odd clock', { clock: null }, 'clock'],
    [
      'with a clock of two lines',
      { clock: { name: 'a\nbest: x', tickUs: 0 } },
      'name of printable characters',
    ],
    ['without a source', { source: undefined }, 'source'],
  ])('%s is refused', (_, change, expected) => {
    const whole = new TextDecoder('latin1').decode(file())
    const line = JSON.parse(whole.slice(0, whole.indexOf('\n')))
    const text = `${JSON.stringify({ ...line, ...change })}\n0000000000000000`
    expect(() => readCallFile('f', new TextEncoder().encode(text))).toThrow(expected)
  })
})

describe('timed calls', () => {
  const table = new NumberedSettings(settings)

  it('take the longest time of a process, wherever clocks are', () => {
    const near = timedCalls(readCallFile('f', file(recordsOf(0, [5, 9]), recordsOf(10, [7, 8]))), table)
    const far = timedCalls(
      readCallFile('f', file(recordsOf(2 ** 40, [5, 9]), recordsOf(-(2 ** 30), [7, 8]))),
      table,
    )
    const expected = [7, 9].map((timeUs, call) => ({
      ...{ setting: 1 + call, bytes: 2 ** 33 + call, nodes: 2, processesPerNode: 2, timeUs },
    }))
    expect(near.timed.get('allreduce')).toEqual(expected)
    expect(far.timed.get('allreduce')!.map(({ timeUs }) => Math.round(timeUs))).toEqual([7, 9])
  })

  it('are the same of a file that is read by call, with one record for each', () => {
    const bytes = file(recordsOf(0, [5, 9]), recordsOf(10, [7, 8]))
    const byCall = readCallFile('f', bytes, true)
    expect([...byCall.records].map(([process, records]) => [process, records.length])).toEqual([[0, 2]])
    expect(timedCalls(byCall, table)).toEqual(timedCalls(readCallFile('f', bytes), table))
  })

  it('that were left to the default are calls by it, where the table has it', () => {
    const records = new CallTimes(1)
    records.end(records.start(3, 0, allreduce, 0, 8, 0), 4)
    const read = readCallFile('f', file(records))
    expect(timedCalls(read, table)).toEqual({ timed: new Map(), skipped: 1 })
    const more = new NumberedSettings([
      ...settings,
      { collective: 'allreduce', algorithm: 'default', parameters: {} },
    ])
    expect(timedCalls(read, more).timed.get('allreduce')).toMatchObject([{ setting: 3, timeUs: 4 }])
  })

  it('find settings by what they are, and skip those that the table lacks', () => {
    const other = new NumberedSettings([settings[3], { ...settings[2], algorithm: 'z' }])
    const { timed, skipped } = timedCalls(readCallFile('f', file(recordsOf(0, [5, 9]))), other)
    expect(timed.get('allreduce')!.map(({ setting }) => setting)).toEqual([1])
    expect(skipped).toBe(1)
  })
})

describe('a history', () => {
  it('learns from all runs that explored, and from no other', () => {
    const explored = readCallFile('f', file(recordsOf(0, [5, 9])))
    const history = new CallHistory(settingsOfRuns([explored]))
    expect(history.add(explored)).toBe(true)
    expect(history.add({ ...explored, mode: 'tuned' })).toBe(false)
    expect(history.add(explored)).toBe(true)
    expect([history.runs, history.calls]).toEqual([2, 4])
    const { grid, calls } = history
      .learn(cellAxes({ nodes: 2, processesPerNode: 2 }), { leastCalls: 2 })
      .get('allreduce')!
    expect([...calls]).toEqual([2, 2])
    expect(grid.isTrained).toBe(true)
  })
})
