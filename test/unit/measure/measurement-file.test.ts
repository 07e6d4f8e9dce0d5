import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openMeasurementFile } from '../../../src/measure/measurement-file.js'
import type { Measurement } from '../../../src/tuning/measurement.js'
import { readMeasurements } from '../../../src/tuning/read-measurements.js'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { raised } from './raised.js'

const source = { kind: 'mpi', name: 'Open MPI 4.1.4', machine: 'four nodes' } as const
const measurement: Measurement = {
  ...{ version: 1, source, collective: 'bcast', algorithm: 'chain', parameters: { fanout: 4 } },
  ...{ nodes: 2, processesPerNode: 2, bytes: 8, timesUs: [1, 2, 3], intervalUs: [1, 3] },
}
const folder = temporaryFolder('measurements')

describe('a file of measurements', () => {
  it('begins empty, grows by a line with every point, and says which points it has', () => {
    const path = join(folder(), 'new.jsonl')
    const file = openMeasurementFile(path, source)
    expect([file.held, file.cutBytes, readFileSync(path, 'utf8')]).toEqual([0, 0, ''])
    expect(file.has(measurement, measurement)).toBe(false)
    file.append(measurement)
    expect(file.has(measurement, measurement)).toBe(true)
    expect(file.has({ ...measurement, bytes: 16 }, measurement)).toBe(false)
    expect(file.has(measurement, { ...measurement, parameters: {} })).toBe(false)
    expect(readMeasurements(readFileSync(path, 'utf8').split('\n'))).toEqual([measurement])
  })

  it('continues where it ended, without the part of a line that a crash has left', () => {
    const path = join(folder(), 'cut.jsonl')
    openMeasurementFile(path, source).append(measurement)
    const whole = readFileSync(path, 'utf8')
    appendFileSync(path, whole.slice(0, 40))
    const file = openMeasurementFile(path, source)
    expect([file.held, file.cutBytes]).toEqual([1, 40])
    expect(file.has(measurement, measurement)).toBe(true)
    expect(readFileSync(path, 'utf8')).toBe(whole)
  })

  it('loses a whole line without its end as well, which may have lost digits', () => {
    const path = join(folder(), 'end.jsonl')
    openMeasurementFile(path, source).append(measurement)
    writeFileSync(path, readFileSync(path, 'utf8').trimEnd())
    expect(openMeasurementFile(path, source).held).toBe(0)
    expect(readFileSync(path, 'utf8')).toBe('')
  })

  it.each([
    ['kind', { ...source, kind: 'rankweave' } as const],
    ['library', { ...source, name: 'Open MPI 4.1.5' }],
    ['machine', { ...source, machine: 'five nodes' }],
  ])('is refused where its measurements are of another %s, and stays unchanged', (_, other) => {
    const path = join(folder(), 'other.jsonl')
    writeFileSync(path, '')
    openMeasurementFile(path, source).append(measurement)
    appendFileSync(path, '{"version":')
    const before = readFileSync(path, 'utf8')
    const error = raised(() => openMeasurementFile(path, other))
    expect(error.code).toBe('ERR_MEASUREMENT')
    expect(error.message).toContain('measure into another file')
    expect(readFileSync(path, 'utf8')).toBe(before)
  })

  it('is refused with the number of a damaged line', () => {
    const path = join(folder(), 'damaged.jsonl')
    openMeasurementFile(path, source).append(measurement)
    appendFileSync(path, '{"version":1}\n')
    const error = raised(() => openMeasurementFile(path, source))
    expect(error).toMatchObject({ code: 'ERR_MEASUREMENT', details: { file: path } })
    expect(error.message).toContain('line 2')
  })

  it('that is no file is refused by name', () => {
    expect(raised(() => openMeasurementFile(folder(), source))).toMatchObject({ code: 'ERR_FILE' })
  })
})
