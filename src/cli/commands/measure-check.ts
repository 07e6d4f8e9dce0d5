import { RankweaveError } from '../../errors.js'
import { checkGuidelines } from '../../tuning/measured/check-guidelines.js'
import { guidelineBases } from '../../tuning/measured/guideline-bases.js'
import { measuredData } from '../../tuning/measured/measured-data.js'
import type { MeasureFlags } from '../input/measure-options.js'
import { readMeasurementFiles } from '../input/measurement-files.js'
import { type ExitCode, exitCodes } from '../output/exit-codes.js'
import { violationObject, violationsText } from '../output/measure-report.js'
import type { Reporter } from '../output/reporter.js'

/**
 * Reports the guidelines that a file of measurements violates.
 *
 * @param of which setting of each call is checked. Default: of each collective the default, if the file has it.
 * @throws ERR_MEASUREMENT for a damaged file, and for one without the default that `of` names
 */
export function checkMeasurementFile(report: Reporter, file: string, of: MeasureFlags['of']): ExitCode {
  const data = measuredData(readMeasurementFiles([file]))
  const { bases, select } = guidelineBases(data, of)
  if (bases.every(({ checked }) => checked === 0))
    throw new RankweaveError('ERR_MEASUREMENT', `--of default: expected a file with a default, got ${file}`)
  const violations = checkGuidelines(data, select)
  const object = {
    ...{ file, source: data.source, of: bases, calls: data.calls.length },
    violations: violations.map((violation) => violationObject(data, violation)),
  }
  report.result(object, violationsText(data, bases, violations))
  return violations.length > 0 ? exitCodes.checkFailed : exitCodes.ok
}
