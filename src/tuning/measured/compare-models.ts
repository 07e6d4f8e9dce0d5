import { largestOf, meanOf, quantile } from '../../base/search.js'
import { settingLine } from '../settings/setting.js'
import type { TuningCall } from '../settings/tuning-call.js'
import { bestEntry, type MeasuredData } from './measured-data.js'
import type { MeasurementSource } from './measurement.js'
import { type Predictor, type PredictorName, registryText } from './predictors.js'

/** A measured time with the time of each predictor. */
export interface ComparedTime {
  readonly call: TuningCall
  /** The setting as it was measured, in a line of text. */
  readonly setting: string
  /** The algorithm by which predictors know it; null for none. */
  readonly algorithm: string | null
  readonly measuredUs: number
  /** The 95% confidence interval of the median. */
  readonly intervalUs: readonly [number, number]
  /** The predicted microseconds; null if a predictor cannot predict them. */
  readonly predictedUs: Readonly<Partial<Record<PredictorName, number | null>>>
  /** Whether no setting of the call was measured faster. */
  readonly isBest: boolean
}

/** The penalty of choices, in calls with two settings or more that are predicted. Figures over no calls are NaN. */
export interface ChoiceReport {
  readonly calls: number
  /** The number of these calls in which the setting predicted to be the fastest was measured as the fastest. */
  readonly winners: number
  /** The mean penalty of its choices against the fastest measured setting, in percent. */
  readonly meanPenaltyPercent: number
  readonly maxPenaltyPercent: number
}

/** The accuracy of a predictor on all times of a data set. Figures over no times are NaN. */
interface PredictorReport extends ChoiceReport {
  readonly predictor: PredictorName
  /** The number of times that it predicts; below, of those that it cannot. */
  readonly times: number
  readonly missing: number
  /** The median of |predicted - measured| / measured. */
  readonly medianError: number
  readonly maxError: number
  /** The median of predicted / measured: above 1 it predicts too much. */
  readonly medianRatio: number
}

export interface ModelComparison {
  readonly source: MeasurementSource
  readonly predictors: readonly PredictorReport[]
  /** The report of a vote of the formulas, as in `elected`. */
  readonly vote: ChoiceReport
  readonly times: readonly ComparedTime[]
}

/**
 * Compares predicted with measured times, for every setting of every call of a data set.
 *
 * @param onTime called after each time, with the number of those before it
 */
export function compareModels(
  data: MeasuredData,
  predictors: readonly Predictor[],
  onTime: (index: number, all: number) => void = () => {},
): ModelComparison {
  const { calls, settings, rowStart, setting, timeUs, lowUs, highUs, source } = data
  const texts = settings.map((one) => registryText(one, source))
  const times = calls.flatMap((call, row) => {
    const best = bestEntry(data, row)
    return Array.from({ length: rowStart[row + 1] - rowStart[row] }, (_, i): ComparedTime => {
      const entry = rowStart[row] + i
      onTime(entry, timeUs.length)
      const algorithm = texts[setting[entry]]
      const predicted = predictors.map(({ name, timeUs: predict }) => [
        name,
        algorithm === null ? null : predict(algorithm, call),
      ])
      return {
        call,
        setting: settingLine(settings[setting[entry]]),
        algorithm,
        measuredUs: timeUs[entry],
        intervalUs: [lowUs[entry], highUs[entry]],
        predictedUs: Object.fromEntries(predicted),
        isBest: timeUs[entry] === timeUs[best],
      }
    })
  })
  const rows = calls.map((_, row) => times.slice(rowStart[row], rowStart[row + 1]))
  const votes = rows.flatMap((row) => {
    const choices = votingModels.map((name) => fastestBy(row, name))
    const chosen = elected(choices)
    return chosen === null ? [] : [choiceOf(chosen, row)]
  })
  const reports = predictors.map(({ name }) => reportOf(name, rows))
  return { source, times, predictors: reports, vote: choiceReport(votes) }
}

function reportOf(predictor: PredictorName, rows: readonly (readonly ComparedTime[])[]): PredictorReport {
  const known = rows.map((row) => row.filter((time) => predictionOf(time, predictor) !== null))
  const ratios = known.flat().map((time) => predictionOf(time, predictor)! / time.measuredUs)
  const errors = ratios.map((ratio) => Math.abs(ratio - 1))
  const choices = rows.flatMap((row) => {
    const chosen = fastestBy(row, predictor)
    return chosen === null ? [] : [choiceOf(chosen, row)]
  })
  return {
    predictor,
    times: ratios.length,
    missing: rows.flat().length - ratios.length,
    medianError: middleOf(errors),
    maxError: ratios.length === 0 ? Number.NaN : largestOf(errors),
    medianRatio: middleOf(ratios),
    ...choiceReport(choices),
  }
}

function choiceReport(choices: readonly Choice[]): ChoiceReport {
  return {
    calls: choices.length,
    winners: choices.filter(({ isBest }) => isBest).length,
    meanPenaltyPercent: choices.length === 0 ? Number.NaN : meanOf(choices.map(({ percent }) => percent)),
    maxPenaltyPercent: choices.length === 0 ? Number.NaN : largestOf(choices.map(({ percent }) => percent)),
  }
}

function predictionOf({ predictedUs }: ComparedTime, predictor: PredictorName): number | null {
  return predictedUs[predictor] ?? null
}

/** Returns the setting predicted to be the fastest, of equal ones the lowest; null for fewer than two predictions. */
function fastestBy(row: readonly ComparedTime[], predictor: PredictorName): ComparedTime | null {
  const known = row.filter((time) => predictionOf(time, predictor) !== null)
  const timeOf = (time: ComparedTime) => predictionOf(time, predictor)!
  return known.length < 2 ? null : known.reduce((best, time) => (timeOf(time) < timeOf(best) ? time : best))
}

interface Choice {
  readonly isBest: boolean
  readonly percent: number
}

function choiceOf(chosen: ComparedTime, row: readonly ComparedTime[]): Choice {
  const bestUs = row.reduce((least, { measuredUs }) => Math.min(least, measuredUs), Number.POSITIVE_INFINITY)
  return { isBest: chosen.isBest, percent: (chosen.measuredUs / bestUs - 1) * 100 }
}

function middleOf(values: readonly number[]): number {
  return values.length === 0
    ? Number.NaN
    : quantile(
        values.toSorted((a, b) => a - b),
        0.5,
      )
}

/** The models that vote. If all disagree, the first decides: PLogP and LogGP weigh more than Hockney. */
export const votingModels = ['plogp', 'loggp', 'hockney'] as const

/**
 * Returns the choice with most votes, of equally many that of the earliest voter.
 *
 * @param choices one of each voter; null abstains
 * @returns null if all abstain
 * @see Pjesivac-Grbovic 2007 §5.2.3
 */
export function elected<T>(choices: readonly (T | null)[]): T | null {
  const votesOf = (choice: T): number => choices.filter((other) => other === choice).length
  return choices.reduce<T | null>(
    (best, choice) => (choice !== null && (best === null || votesOf(choice) > votesOf(best)) ? choice : best),
    null,
  )
}
