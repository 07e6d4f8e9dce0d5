import { describe, expect, it } from 'vitest'
import { parseAlgorithm } from '../../../../src/collective/algorithm-text.js'
import {
  formatMeasurement,
  type Measurement,
  measurementLimits,
  parseMeasurement,
  readMeasurements,
} from '../../../../src/tuning/measured/measurement.js'
import { settingLine } from '../../../../src/tuning/settings/setting.js'
import { refusal } from '../../../support/refusal.js'
import { measurementOf } from '../../../support/tuning-data.js'

const full = measurementOf({
  collective: 'allreduce',
  algorithm: 'allreduce-ring-segmented',
  parameters: { segment: 8192 },
  nodes: 4,
  processesPerNode: 2,
  bytes: 2 ** 20,
  operation: 'sum',
  order: 'any',
  isMemoryShared: false,
  elementType: 'int32',
  timesUs: [912.5, 914, 913],
  intervalUs: [912.5, 914],
  barrierUs: 6.25,
})

const lineWith = (members: Readonly<Record<string, unknown>>) => JSON.stringify({ ...full, ...members })

/** The error of a line that is the third of a file. */
function errorOf(line: string): { readonly code: string; readonly message: string } {
  try {
    readMeasurements([formatMeasurement(full), '', line])
  } catch (error) {
    return error as { code: string; message: string }
  }
  throw new Error('the line was read')
}

describe('a measurement', () => {
  it('is a line that reads as what was written', () => {
    const line = formatMeasurement(full)
    expect(line).not.toContain('\n')
    expect(parseMeasurement(line, 1)).toEqual(full)
    const least = measurementOf({ parameters: { requests: 0 }, processesPerNode: 1, bytes: 0 })
    const most = measurementOf({ parameters: { segment: 2 ** 40 }, nodes: 2 ** 21, bytes: 2 ** 40 })
    const named = measurementOf({ source: { kind: 'mpi', name: 'a'.repeat(200), machine: 'Größe' } })
    for (const one of [measurementOf(), least, most, named])
      expect(parseMeasurement(formatMeasurement(one), 1)).toEqual(one)
  })

  it('has a setting that calls take as their algorithm', () => {
    const { algorithm, segmentBytes } = parseAlgorithm(settingLine(full))
    expect([algorithm.id, segmentBytes]).toEqual(['allreduce-ring-segmented', 8192])
    const chain = {
      collective: 'bcast',
      algorithm: 'bcast-chain',
      parameters: { segment: 64, fanout: 3 },
    } as const
    expect(settingLine(chain)).toBe('bcast-chain:fanout=3,segment=64')
    expect(parseAlgorithm(settingLine(chain)).algorithm.values).toEqual({ fanout: 3 })
  })

  it('has up to 1,024 times, whose median its interval may end at', () => {
    const longest = measurementOf({
      timesUs: Array.from({ length: 1024 }, (_, i) => i + 1),
      intervalUs: [512.5, 512.5],
    })
    expect(parseMeasurement(formatMeasurement(longest), 1)).toEqual(longest)
  })

  it('is not written unless it can be read', () => {
    expect(() => formatMeasurement({ ...full, timesUs: [] })).toThrow(refusal('ERR_MEASUREMENT'))
  })

  it('is read from the files that are joined line by line, without empty lines', () => {
    const lines = [formatMeasurement(full), '', formatMeasurement(measurementOf()), '  ']
    expect(readMeasurements(lines)).toEqual([full, measurementOf()])
    expect(readMeasurements([])).toEqual([])
  })
})

describe('a damaged line is refused with its number:', () => {
  const source = full.source
  const rows: readonly (readonly [what: string, line: string, expected: RegExp])[] = [
    ['cut off', formatMeasurement(full).slice(0, 40), /expected JSON/],
    ['a list', '[]', /expected an object/],
    ['null', 'null', /expected an object/],
    ['too long', lineWith({ algorithm: 'a'.repeat(2 ** 16) }), /at most 65536 characters/],
    ['too deep', lineWith({ parameters: { a: [[1]] } }), /at most 2 levels/],
    ['another version', lineWith({ version: 2, more: 1 }), /expected version 1, got 2/],
    ['no version', lineWith({ version: undefined }), /expected version 1/],
    ['an unknown member', lineWith({ byte: 1 }), /'byte' \(did you mean 'bytes'\?\)/],
    ['no source', lineWith({ source: undefined }), /source: expected an object/],
    ['an unknown kind of source', lineWith({ source: { ...source, kind: 'guess' } }), /source\.kind among/],
    ['an unknown member of the source', lineWith({ source: { ...source, host: 'a' } }), /'host'/],
    ['an empty name of a source', lineWith({ source: { ...source, name: '' } }), /source\.name/],
    ['a bidi mark in a source', lineWith({ source: { ...source, name: 'a\u202eb' } }), /source\.name/],
    [
      'a format character in a source',
      lineWith({ source: { ...source, machine: 'a\u200bb' } }),
      /source\.machine/,
    ],
    [
      'a line separator in a source',
      lineWith({ source: { ...source, machine: 'a\u2028b' } }),
      /source\.machine/,
    ],
    ['a line break in a source', lineWith({ source: { ...source, machine: 'a\nb' } }), /source\.machine/],
    ['a long machine', lineWith({ source: { ...source, machine: 'a'.repeat(201) } }), /source\.machine/],
    [
      'a neighborhood collective',
      lineWith({ collective: 'neighbor-allgather' }),
      /expected collective among/,
    ],
    ['an unknown collective', lineWith({ collective: 'broadcast' }), /expected collective among/],
    ['no algorithm', lineWith({ algorithm: undefined }), /expected algorithm/],
    ['code as an algorithm', lineWith({ algorithm: 'a"; exit(1); "' }), /expected algorithm/],
    ['no parameters', lineWith({ parameters: undefined }), /expected parameters/],
    [
      'nine parameters',
      lineWith({ parameters: Object.fromEntries([...'abcdefghi'].map((name) => [name, 1])) }),
      /parameters as an object of at most 8/,
    ],
    ['a parameter of text', lineWith({ parameters: { segment: '1KiB' } }), /parameter segment as an integer/],
    ['a radix of 1', lineWith({ parameters: { radix: 1 } }), /parameter radix as an integer from 2/],
    ['a parameter below 0', lineWith({ parameters: { segment: -1 } }), /parameter segment as an integer/],
    ['a name of a parameter', lineWith({ parameters: { 'a b': 1 } }), /names of parameters/],
    ['no nodes', lineWith({ nodes: 0 }), /expected nodes as an integer from 1/],
    ['half a process', lineWith({ processesPerNode: 0.5 }), /expected processesPerNode/],
    ['too many processes', lineWith({ nodes: 4096, processesPerNode: 2048 }), /at most 4194304 processes/],
    ['bytes below 0', lineWith({ bytes: -1 }), /expected bytes as an integer from 0/],
    ['too many bytes', lineWith({ bytes: 2 ** 40 + 1 }), /expected bytes/],
    ['an operation of code', lineWith({ operation: "'" }), /expected operation/],
    ['an unknown order', lineWith({ order: 'none' }), /expected order among tree, ranks, any/],
    [
      'memory that is shared in words',
      lineWith({ isMemoryShared: 'yes' }),
      /isMemoryShared among true, false/,
    ],
    ['another type of elements', lineWith({ elementType: 'float32' }), /elementType among float64, int32/],
    ['no times', lineWith({ timesUs: [] }), /timesUs as 1 to 1024 numbers from 0\.000001 to 1000000000000/],
    [
      'a time whose sums overflow',
      lineWith({ timesUs: [1e308], intervalUs: [1e308, 1e308] }),
      /timesUs as 1 to/,
    ],
    [
      'a time whose ratios overflow',
      lineWith({ timesUs: [1e-308], intervalUs: [1e-308, 1e-308] }),
      /timesUs as 1 to/,
    ],
    ['too many times', lineWith({ timesUs: Array(1025).fill(1) }), /timesUs as 1 to 1024/],
    ['a time of 0', lineWith({ timesUs: [0, 1] }), /numbers from 0.000001 to/],
    ['a time that is null', lineWith({ timesUs: [Number.NaN] }), /numbers from 0.000001 to/],
    ['a barrier of no time', lineWith({ barrierUs: 0 }), /expected barrierUs as a number from 0.000001 to/],
    ['no interval', lineWith({ intervalUs: undefined }), /expected intervalUs/],
    ['an interval beside the median', lineWith({ intervalUs: [1, 2] }), /two times around the median 913/],
    ['an interval of three', lineWith({ intervalUs: [912, 913, 914] }), /expected intervalUs/],
  ]

  it.each(rows)('%s', (_, line, expected) => {
    const { code, message } = errorOf(line)
    expect(code).toBe('ERR_MEASUREMENT')
    expect(message).toMatch(/^measurement in line 3/)
    expect(message).toMatch(expected)
    expect(message.length).toBeLessThan(700)
  })

  it('and more lines than a file may have', () => {
    const lines = {
      *[Symbol.iterator]() {
        for (let i = 0; i <= measurementLimits.lines; i++) yield ''
      },
    }
    expect(() => readMeasurements(lines)).toThrow(/at most 1048576 lines/)
  })
})

it.each([7, null, undefined, {}, formatMeasurement(full)])('%j is refused: it is no lines', (lines) => {
  expect(() => readMeasurements(lines as string[])).toThrow(refusal('ERR_ARGUMENT'))
})

it.each([7, null, {}])('a line that is %j is refused with its number', (line) => {
  const read = () => readMeasurements(['', line as string])
  expect(read).toThrow(refusal('ERR_MEASUREMENT', /line 2: expected a text/))
})

it('members of a prototype are not members of a line', () => {
  const { code } = errorOf(JSON.stringify(Object.create(full) as Measurement))
  expect(code).toBe('ERR_MEASUREMENT')
})
