import { readText } from '../../text/byte-source.js'
import type { Measurement } from '../../tuning/measurement.js'
import { readMeasurements } from '../../tuning/read-measurements.js'
import { openInput } from './open-input.js'

/**
 * The measurements of a file; `-` is standard input.
 * @throws ERR_FILE for a file that cannot be read, ERR_MEASUREMENT with the number of the first wrong line
 */
export function readMeasurementFile(file: string): readonly Measurement[] {
  const source = openInput(file)
  try {
    return readMeasurements(readText(source, file).split('\n'))
  } finally {
    source.close()
  }
}
