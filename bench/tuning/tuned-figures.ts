// Figures of the bench `tuned`: what was measured, what was learned, and what calls gain and lose in all.
import { type EvenSpread, spreadText } from '../../src/measure/grid.js'
import { withUncutTimes } from '../../src/tuning/learning/learn-decisions.js'
import {
  bestEntry,
  entryOf,
  type MeasuredData,
  measuredData,
} from '../../src/tuning/measured/measured-data.js'
import { readMeasurements } from '../../src/tuning/measured/measurement.js'
import { treeSelector } from '../../src/tuning/models/decision-tree.js'
import { readTuningFile } from '../../src/tuning/models/read-tuning-file.js'
import { treeOfDecisions } from '../../src/tuning/models/tuning-file.js'
import { settingLine, type TuningSetting } from '../../src/tuning/settings/setting.js'
import type { TuningCall } from '../../src/tuning/settings/tuning-call.js'
import { type Figure, ownFigure } from '../bench.js'
import { bytesText } from '../message-plans.js'

/** A point whose whole 95% interval lies above this is a loss. */
export const intervalLimit = 1.05

/** Of the output of `rankweave measure --json`. */
export interface Measured {
  readonly measured: number
}

/** Of the output of `rankweave tune --json`. */
export interface Learned {
  readonly collectives: readonly {
    readonly collective: string
    readonly calls: number
    readonly settings: number
    readonly leaves: number
    readonly heldOut: { readonly meanPercent: number; readonly folds: readonly unknown[] } | null
    readonly default: { readonly meanPercent: number }
  }[]
}

/** What decisions are learned from. */
export interface MeasuredGrid {
  readonly spreads: readonly EvenSpread[]
  readonly sizes: readonly number[]
  readonly budgetMs: number
}

export function measuredFigure(
  where: string,
  points: number,
  seconds: number,
  { spreads, sizes, budgetMs }: MeasuredGrid,
): Figure {
  const grid = `${spreads.map(spreadText).join(', ')} processes; ${sizes.map(bytesText).join(', ')}`
  const shown = `${grid}; at most ${budgetMs} ms a point, ${seconds.toFixed(0)} s in all`
  return ownFigure(`${where}: points that were measured`, 'points', [points], null, {
    budgetMs,
    seconds,
    shown,
  })
}

/** What the tree loses on numbers of processes that it has not seen. */
export function learnedFigure(where: string, one: Learned['collectives'][number]): Figure {
  const { collective, calls, settings, leaves, heldOut } = one
  const byDefault = one.default.meanPercent
  const what = `${collective}, ${where}, ${calls} calls of ${settings} settings: mean penalty on held-out points`
  const shown = `default ${byDefault.toFixed(1)}%, ${leaves} leaves`
  const details = { collective, leaves, defaultPercent: byDefault, shown }
  const percent = heldOut?.meanPercent ?? Number.NaN
  const figure = ownFigure(what, '%', [percent], 5, details)
  const isHalf = byDefault <= 4 || percent <= byDefault / 2
  return { ...figure, met: heldOut !== null && percent <= 5 && isHalf && leaves <= 60 }
}

/** What a tuning file chooses for a call. */
export interface MeasuredChoice {
  /** Whether the file leaves it to the rule: then the same messages are sent with the file and without it. */
  readonly isDefault: boolean
  /** In words, and what was measured of it, of the default and of the best. */
  readonly shown: string
}

export function choicesOf(measurements: string, tuning: string): (call: TuningCall) => MeasuredChoice {
  const all = readMeasurements(measurements.split('\n'))
  const { decisions } = readTuningFile(tuning)
  const collectives = new Map(
    Object.entries(decisions).map(([collective, learned]) => {
      const tree = treeOfDecisions(learned)
      const own = all.filter((measurement) => measurement.collective === collective)
      return [collective, { tree, select: treeSelector(tree), data: measuredData(withUncutTimes(own)) }]
    }),
  )
  return (call) => {
    const { tree, select, data } = collectives.get(call.collective)!
    const row = data.calls.findIndex((other) => isSamePlace(call, other))
    const measured = data.calls[row]
    const chosen = tree.settings[select(measured)]
    const best = data.settings[data.setting[bestEntry(data, row)]]
    const isDefault = ({ algorithm }: TuningSetting) => algorithm === 'default'
    const standard = data.settings.find(isDefault)!
    const shown = [
      `measured: ${settingLine(chosen)} ${timeText(data, row, chosen)}`,
      ...(isDefault(chosen) ? [] : [`default ${timeText(data, row, standard)}`]),
      `the best ${settingLine(best)} ${timeText(data, row, best)}`,
    ]
    return { isDefault: isDefault(chosen), shown: shown.join(', ') }
  }
}

function isSamePlace(a: TuningCall, b: TuningCall): boolean {
  return a.nodes === b.nodes && a.processesPerNode === b.processesPerNode && a.bytes === b.bytes
}

function timeText(data: MeasuredData, row: number, setting: TuningSetting): string {
  const line = settingLine(setting)
  const index = data.settings.findIndex((other) => settingLine(other) === line)
  const entry = entryOf(data, row, index)
  if (entry < 0) return 'without a time'
  const [time, low, high] = [data.timeUs, data.lowUs, data.highUs].map((values) => values[entry].toFixed(1))
  return `${time} us (${low} to ${high})`
}

export function geometricMeanFigure(
  where: string,
  figures: readonly Figure[],
  target: number | null,
): Figure {
  const ratios = figures.flatMap(({ ratio }) => (ratio === null ? [] : [ratio]))
  const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length)
  return ownFigure(
    `${where}: geometric mean of the ratios of ${ratios.length} calls`,
    'ratio',
    [mean],
    target,
  )
}

/** The largest ratio, and how many points lose. */
export function lossFigures(where: string, figures: readonly Figure[]): readonly Figure[] {
  const compared = figures.filter(({ ratio }) => ratio !== null)
  const lost = compared.filter(({ low }) => typeof low === 'number' && low > intervalLimit)
  const [largest] = compared.toSorted((a, b) => b.ratio! - a.ratio!)
  const text = ({ case: name, low, high }: Figure) =>
    `${name} (${[low, high].map((end) => Number(end).toFixed(2)).join(' to ')})`
  return [
    ownFigure(`${where}: largest ratio`, 'ratio', [largest?.ratio ?? Number.NaN], null, {
      ...(largest === undefined ? {} : { shown: text(largest) }),
    }),
    ownFigure(
      `${where}: points above ${intervalLimit}, of ${compared.length}`,
      'points',
      [lost.length],
      null,
      {
        ...(lost.length === 0 ? {} : { shown: lost.map(text).join('; ') }),
      },
    ),
  ]
}
