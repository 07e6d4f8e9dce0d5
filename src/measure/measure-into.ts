import type { TuningCall } from '../tuning/settings/tuning-call.js'
import { type MeasureCounts, type MeasureOptions, measureCalls } from './measure-calls.js'
import { openMeasurementFile } from './measurement-file.js'
import type { Meter } from './meter.js'

/** The number of points by outcome, and those of the file. */
export interface MeasuredPoints extends MeasureCounts {
  readonly calls: number
  /** The points of the file, earlier ones included. */
  readonly points: number
}

/**
 * Measures calls into a file, which it continues.
 *
 * @throws ERR_MEASUREMENT for a damaged file, and one under other conditions; ERR_FILE; ERR_ABORTED through the signal
 */
export async function measureInto(
  path: string,
  meter: Meter,
  calls: readonly TuningCall[],
  options: Pick<MeasureOptions, 'rule' | 'elementType' | 'onCall' | 'signal'>,
): Promise<MeasuredPoints> {
  const file = openMeasurementFile(path, { source: meter.source, elementType: options.elementType })
  file.make()
  const counts = await measureCalls(meter, calls, {
    ...options,
    isMeasured: file.has,
    write: file.append,
  })
  return { ...counts, calls: calls.length, points: file.held + counts.measured }
}
