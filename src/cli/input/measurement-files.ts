import { isRankweaveError, RankweaveError } from '../../errors.js'
import { readText } from '../../text/byte-source.js'
import { type Measurement, readMeasurements } from '../../tuning/measured/measurement.js'
import { openInput } from './open-input.js'

/**
 * Returns the measurements of several files, joined line by line.
 *
 * @throws ERR_FILE, ERR_MEASUREMENT with the file and the line
 */
export function readMeasurementFiles(files: readonly string[]): Measurement[] {
  return files.flatMap((file) => {
    const source = openInput(file)
    try {
      return readMeasurements(readText(source, file).split('\n'))
    } catch (error) {
      if (!isRankweaveError(error, 'ERR_MEASUREMENT')) throw error
      const { code, message, details } = error
      throw new RankweaveError(code, `${file}: ${message}`, { details: { ...details, file }, cause: error })
    } finally {
      source.close()
    }
  })
}
