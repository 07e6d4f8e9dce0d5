import type { Collective } from '../../src/schedule/specification.js'
import type { MeasurementSource } from '../../src/tuning/measured/measurement.js'
import { cellAxes, closedGrid, countCells } from '../../src/tuning/models/decision-grid.js'
import type { DecisionNode, DecisionTree } from '../../src/tuning/models/decision-tree.js'
import { formatTuningFile, readTuningFile } from '../../src/tuning/models/read-tuning-file.js'
import type { TuningFile } from '../../src/tuning/models/tuning-file.js'

/** A setting from its line: `bcast-chain:fanout=4,segment=64`. */
export function settingFrom(collective: Collective, line: string) {
  const [algorithm, text = ''] = line.split(':')
  const values = text.split(',').flatMap((part) => {
    const [name, value] = part.split('=')
    return value === undefined ? [] : [[name, Number(value)] as const]
  })
  return { collective, algorithm, parameters: Object.fromEntries(values) }
}

/** A tree that decides by bytes: each line up to its limit, the last one beyond all. */
export function treeByBytes(
  collective: Collective,
  ...steps: readonly (readonly [line: string, atMost?: number])[]
): DecisionTree {
  const leaf = (setting: number) => ({ kind: 'leaf', setting, cases: 1, errors: 0 }) as const
  const root = steps.reduceRight<DecisionNode>(
    (above, [, atMost], i) =>
      atMost === undefined
        ? leaf(i)
        : { kind: 'threshold', attribute: 'bytes', atMost, below: leaf(i), above },
    leaf(steps.length - 1),
  )
  return { settings: steps.map(([line]) => settingFrom(collective, line)), root }
}

export const simulated: MeasurementSource = { kind: 'simulator', name: 'loggp', machine: 'cluster:nodes=4' }

export function tuningFileOf(decisions: TuningFile['decisions'], source = simulated): TuningFile {
  return readTuningFile(formatTuningFile(source, decisions))
}

/** The text of a model of online tuning that knows one algorithm, of one collective. */
export function modelOfOneSetting(
  source: MeasurementSource,
  collective: Collective,
  algorithm: string,
): string {
  const axes = cellAxes({ nodes: 1, processesPerNode: 1 })
  const grid = closedGrid({
    ...{ settings: [{ collective, algorithm, parameters: {} }], axes, isTrained: true },
    ...{ best: new Int32Array(countCells(axes)).fill(1), performances: undefined },
  })
  return formatTuningFile(source, { [collective]: grid })
}
