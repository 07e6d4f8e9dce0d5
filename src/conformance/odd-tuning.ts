import { algorithms } from '../collective/algorithms.js'
import type { Collective } from '../schedule/specification.js'
import type { DecisionNode, DecisionTree } from '../tuning/models/decision-tree.js'
import { formatTuningFile, readTuningFile } from '../tuning/models/read-tuning-file.js'
import type { TuningFile } from '../tuning/models/tuning-file.js'
import type { TuningSetting } from '../tuning/settings/setting.js'

/** The collectives without data to cut, or with lengths that not all ranks know. */
const uncut: readonly Collective[] = ['barrier', 'scatter']

/**
 * Returns a tuning file that no measurement gives. It names every algorithm of a collective in turn, by bytes, also
 * with a parameter that differs from its default and segments of 24 bytes. Then it names one that no version has, so it
 * also chooses settings that cannot serve.
 */
export function oddTuning(): TuningFile {
  const collectives = [...new Set(algorithms.map(({ collective }) => collective))]
  const decisions = Object.fromEntries(collectives.map((name) => [name, oddTree(name)]))
  return readTuningFile(formatTuningFile({ kind: 'formula', name: 'odd', machine: 'any' }, decisions))
}

function oddTree(collective: Collective): DecisionTree {
  const segment = uncut.includes(collective) ? {} : { segment: 24 }
  const settings: TuningSetting[] = algorithms
    .filter((algorithm) => algorithm.collective === collective)
    .flatMap(({ id, parameters = {} }) => {
      const others = Object.fromEntries(Object.keys(parameters).map((name) => [name, 3]))
      return [{}, { ...others, ...segment }].map((values) => ({
        collective,
        algorithm: id,
        parameters: values,
      }))
    })
  settings.push({ collective, algorithm: `${collective}-unknown`, parameters: {} })
  const leaf = (setting: number) => ({ kind: 'leaf', setting, cases: 0, errors: 0 }) as const
  const root = settings.reduceRight<DecisionNode>(
    (above, _, i) => ({ kind: 'threshold', attribute: 'bytes', atMost: 4 * 2 ** i, below: leaf(i), above }),
    leaf(settings.length - 1),
  )
  return { settings, root }
}
