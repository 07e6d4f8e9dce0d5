import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openMeasurementFile } from '../../../src/measure/measurement-file.js'
import {
  formatMeasurement,
  type Measurement,
  readMeasurements,
} from '../../../src/tuning/measured/measurement.js'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { raised } from './raised.js'

const source = { kind: 'mpi', name: 'Open MPI 4.1.4', machine: 'four nodes' } as const
const conditions = { source, elementType: 'float64' } as const
const measurement: Measurement = {
  ...{ version: 1, source, collective: 'bcast', algorithm: 'chain', parameters: { fanout: 4 } },
  ...{ nodes: 2, processesPerNode: 2, bytes: 8, timesUs: [1, 2, 3], intervalUs: [1, 3] },
}
const folder = temporaryFolder('measurements')

describe('a file of measurements', () => {
  it('begins empty, grows by a line with every point, and says which points it has', () => {
    const path = join(folder(), 'new.jsonl')
    const file = openMeasurementFile(path, conditions)
    expect([file.held, file.cutBytes, existsSync(path)]).toEqual([0, 0, false])
    file.make()
    expect(readFileSync(path, 'utf8')).toBe('')
    expect(file.has(measurement, measurement)).toBe(false)
    file.append(measurement)
    expect(file.has(measurement, measurement)).toBe(true)
    expect(file.has({ ...measurement, bytes: 16 }, measurement)).toBe(false)
    expect(file.has(measurement, { ...measurement, parameters: {} })).toBe(false)
    expect(readMeasurements(readFileSync(path, 'utf8').split('\n'))).toEqual([measurement])
  })

  it('continues where it ended, without the part of a line that a crash has left', () => {
    const path = join(folder(), 'cut.jsonl')
    openMeasurementFile(path, conditions).append(measurement)
    const whole = readFileSync(path, 'utf8')
    appendFileSync(path, whole.slice(0, 40))
    const file = openMeasurementFile(path, conditions)
    expect([file.held, file.cutBytes]).toEqual([1, 40])
    expect(file.has(measurement, measurement)).toBe(true)
    expect(readFileSync(path, 'utf8')).toBe(whole)
  })

  it('loses a whole line without its end as well, which may have lost digits', () => {
    const path = join(folder(), 'end.jsonl')
    openMeasurementFile(path, conditions).append(measurement)
    writeFileSync(path, readFileSync(path, 'utf8').trimEnd())
    expect(openMeasurementFile(path, conditions).held).toBe(0)
    expect(readFileSync(path, 'utf8')).toBe('')
  })

  it.each([
    ['kind', { ...source, kind: 'rankweave' } as const],
    ['library', { ...source, name: 'Open MPI 4.1.5' }],
    ['machine', { ...source, machine: 'five nodes' }],
  ])('is refused where its measurements are of another %s, and stays unchanged', (_, other) => {
    const path = join(folder(), 'other.jsonl')
    writeFileSync(path, '')
    openMeasurementFile(path, conditions).append(measurement)
    appendFileSync(path, '{"version":')
    const before = readFileSync(path, 'utf8')
    const error = raised(() => openMeasurementFile(path, { ...conditions, source: other }))
    expect(error.code).toBe('ERR_MEASUREMENT')
    expect(error.message).toContain('measure into another file')
    expect(readFileSync(path, 'utf8')).toBe(before)
  })

  it.each([
    ['a text without an end of line', 'my notes'],
    ['one JSON object without an end of line', '{"version":"7.0","name":"package"}'],
    ['a line of numbers', '1 2 3'],
    ['a part of a measurement of another source', '{"version":1,"source":{"kind":"simulator","name":"x"'],
    ['bytes that are no text', Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x80])],
    ['lines that are no text, with an end', Buffer.from([0xff, 0xfe, 0x0a, 0xff])],
  ])('that holds %s is refused, and stays byte for byte', (_, content) => {
    const path = join(folder(), 'foreign')
    writeFileSync(path, content)
    const error = raised(() => openMeasurementFile(path, conditions))
    expect(error).toMatchObject({ code: 'ERR_MEASUREMENT', details: { file: path } })
    expect(readFileSync(path)).toEqual(Buffer.from(content))
  })

  it('with measurements before a last line of something else is refused, and stays byte for byte', () => {
    const path = join(folder(), 'appended.jsonl')
    openMeasurementFile(path, conditions).append(measurement)
    appendFileSync(path, 'remember: nodes 3 and 4 were busy')
    const before = readFileSync(path)
    expect(raised(() => openMeasurementFile(path, conditions))).toMatchObject({ code: 'ERR_MEASUREMENT' })
    expect(readFileSync(path)).toEqual(before)
  })

  it.each([1, 11, 40, 200])('continues where a crash has left %i bytes of its first line', (bytes) => {
    const path = join(folder(), 'first.jsonl')
    writeFileSync(path, `${formatMeasurement(measurement)}\n`.slice(0, bytes))
    expect(openMeasurementFile(path, conditions)).toMatchObject({ held: 0, cutBytes: bytes })
    expect(readFileSync(path, 'utf8')).toBe('')
  })

  it('cuts bytes, also within a character', () => {
    const path = join(folder(), 'character.jsonl')
    const ours = { ...conditions, source: { ...source, machine: 'Zürich' } }
    openMeasurementFile(path, ours).append({ ...measurement, source: ours.source })
    const whole = readFileSync(path)
    appendFileSync(path, whole.subarray(0, whole.indexOf(0xc3) + 1))
    expect(openMeasurementFile(path, ours)).toMatchObject({ held: 1, cutBytes: whole.indexOf(0xc3) + 1 })
    expect(readFileSync(path)).toEqual(whole)
  })

  it('is refused where its reductions are of another type, and stays unchanged', () => {
    const path = join(folder(), 'type.jsonl')
    const reduction = { ...measurement, collective: 'reduce', elementType: 'int32' } as const
    openMeasurementFile(path, { ...conditions, elementType: 'int32' }).append(reduction)
    const before = readFileSync(path, 'utf8')
    const error = raised(() => openMeasurementFile(path, conditions))
    expect(error).toMatchObject({ code: 'ERR_MEASUREMENT', details: { file: path } })
    expect(error.message).toContain('float64')
    expect(error.message).toContain('int32')
    expect(readFileSync(path, 'utf8')).toBe(before)
  })

  it('holds reductions of float64 where no type is stated', () => {
    const path = join(folder(), 'unstated.jsonl')
    openMeasurementFile(path, conditions).append({ ...measurement, collective: 'reduce' })
    expect(openMeasurementFile(path, conditions).held).toBe(1)
    const other = { ...conditions, elementType: 'int32' } as const
    expect(raised(() => openMeasurementFile(path, other))).toMatchObject({ code: 'ERR_MEASUREMENT' })
  })

  it.each([
    ['an end of line', 'a\nb'],
    ['a separator of lines', 'a\u2028b'],
    ['a bidi mark', 'a\u202eb'],
    ['nothing', ''],
  ])('is not begun for a machine whose name has %s', (_, machine) => {
    const path = join(folder(), 'machine.jsonl')
    const error = raised(() => openMeasurementFile(path, { ...conditions, source: { ...source, machine } }))
    expect(error.code).toBe('ERR_MEASUREMENT')
    expect(existsSync(path)).toBe(false)
  })

  it('is refused with the number of a damaged line', () => {
    const path = join(folder(), 'damaged.jsonl')
    openMeasurementFile(path, conditions).append(measurement)
    appendFileSync(path, '{"version":1}\n')
    const error = raised(() => openMeasurementFile(path, conditions))
    expect(error).toMatchObject({ code: 'ERR_MEASUREMENT', details: { file: path } })
    expect(error.message).toContain('line 2')
  })

  it('that is no file is refused by name', () => {
    expect(raised(() => openMeasurementFile(folder(), conditions))).toMatchObject({ code: 'ERR_FILE' })
  })
})
