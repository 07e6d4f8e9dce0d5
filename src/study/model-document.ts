import type { Document, LinePlot, Section, Series, Table } from '../document/document.js'
import type { ChoiceReport, ComparedTime, ModelComparison } from '../tuning/measured/compare-models.js'
import { type PredictorName, predictorNames } from '../tuning/measured/predictors.js'
import { callKind, callProcesses } from '../tuning/settings/tuning-call.js'

/** The most pictures of a page; further calls are in the tables only. */
const mostPlots = 48

/**
 * Returns a document that compares predicted with measured times. It has the error of each predictor. Then it has the
 * times, and a picture per setting by length, for every kind of call and spread over nodes; both axes are logarithmic.
 *
 * @param predictedFor profile or machine, in words
 */
export function modelDocument(comparison: ModelComparison, predictedFor: string): Document {
  const { source, times, predictors, vote } = comparison
  const measured = `measured: ${source.kind} ${source.name}, ${source.machine}`
  const words = `${measured}; predicted: ${predictedFor}`
  const groups = groupsOf(times)
  const summary: Table = {
    ...{ kind: 'table', title: 'How well each predictor does', origin: 'derived', source: words },
    columns: [
      ...['predictor', 'times', 'median error %', 'largest error %', 'median predicted / measured'],
      ...['calls', 'winner right', 'mean penalty %', 'largest penalty %'],
    ].map((title) => ({ title })),
    rows: [
      ...predictors.map((one) => [
        ...[one.predictor, one.times, percent(one.medianError), percent(one.maxError)],
        ...[known(one.medianRatio), ...choiceCells(one)],
      ]),
      ['vote of the formulas', null, null, null, null, ...choiceCells(vote)],
    ],
  }
  let plots = 0
  const sections = groups.map(({ title, times: ofGroup }, at): Section => {
    const settings = [...new Set(ofGroup.map(({ setting }) => setting))]
    const drawn = settings
      .map((setting, i) => plotOf(setting, ofGroup, `calls-${at + 1}-${i + 1}`, title, words))
      .filter((plot) => plot !== null)
      .slice(0, mostPlots - plots)
    plots += drawn.length
    const text = drawn.length < settings.length ? ['Settings without a picture are in the table.'] : []
    return { title, text, parts: [...drawn, tableOf(title, ofGroup, predictors, words)] }
  })
  const text = [
    'Formulas assume one process per node, no contention, and that all start together.',
    'The simulator runs the schedule of the algorithm on the machine.',
  ]
  return {
    title: 'Predicted and measured times',
    text,
    sections: [{ title: 'Summary', text: [], parts: [summary] }, ...sections],
  }
}

function choiceCells({ calls, winners, meanPenaltyPercent, maxPenaltyPercent }: ChoiceReport) {
  return [calls, winners, known(meanPenaltyPercent), known(maxPenaltyPercent)]
}

interface Group {
  readonly title: string
  readonly times: readonly ComparedTime[]
}

/** Groups times by kind of call and spread over nodes, in the order of calls. */
function groupsOf(times: readonly ComparedTime[]): readonly Group[] {
  const groups = new Map<string, ComparedTime[]>()
  for (const time of times) {
    const { nodes, processesPerNode } = time.call
    const kind = callKind(time.call).trim().split(/\s+/).join(', ')
    const title = `${kind}: ${callProcesses(time.call)} processes, ${nodes} x ${processesPerNode}`
    const group = groups.get(title)
    if (group === undefined) groups.set(title, [time])
    else group.push(time)
  }
  return [...groups].map(([title, ofGroup]) => ({ title, times: ofGroup }))
}

/** Returns the plot of a setting; null if no predictor knows a time, and for a single length. */
function plotOf(
  setting: string,
  times: readonly ComparedTime[],
  name: string,
  title: string,
  source: string,
): LinePlot | null {
  const own = times.filter((time) => time.setting === setting)
  const predicted = predictorNames.flatMap((predictor): Series[] => {
    const points = own.flatMap((time) => pointOf(time, predictor))
    return points.length === 0 ? [] : [{ name: predictor, points }]
  })
  if (own.length < 2 || predicted.length === 0) return null
  const measured = own.map(({ call, measuredUs }) => [call.bytes, measuredUs] as const)
  return {
    ...{ kind: 'lines', name, title: `${setting}, ${title}`, origin: 'derived', source },
    x: { label: 'length', scale: 'bytes' },
    y: { label: 'time, us', scale: 'logarithmic' },
    series: [{ name: 'measured', points: measured }, ...predicted],
  }
}

function pointOf({ call, predictedUs }: ComparedTime, predictor: PredictorName) {
  const timeUs = predictedUs[predictor] ?? null
  return timeUs === null ? [] : [[call.bytes, timeUs] as const]
}

function tableOf(
  title: string,
  times: readonly ComparedTime[],
  predictors: ModelComparison['predictors'],
  source: string,
): Table {
  const names = predictors.map(({ predictor }) => predictor)
  return {
    ...{ kind: 'table', title: `Times in us, ${title}`, origin: 'derived', source },
    columns: ['bytes', 'setting', 'measured', ...names].map((column) => ({ title: column })),
    rows: times.map(({ call, setting, measuredUs, predictedUs }) => [
      ...[call.bytes, setting, measuredUs],
      ...names.map((name) => predictedUs[name] ?? null),
    ]),
  }
}

function percent(share: number): number | null {
  return known(100 * share)
}

function known(value: number): number | null {
  return Number.isNaN(value) ? null : value
}
