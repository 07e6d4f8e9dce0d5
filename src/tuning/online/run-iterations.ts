import type { CallFile } from './call-file.js'
import { leftToDefault } from './grid-selection.js'

/** The runs that evaluate a model. */
export interface ModelEvaluation {
  /** The number of iterations before it. */
  readonly after: number
  readonly runs: readonly CallFile[]
}

/** Runs by the model that they had. */
export interface RunSequence {
  /** The runs that explored, those with one model together, in the order of their first runs. */
  readonly iterations: readonly (readonly CallFile[])[]
  /** The evaluations by model, in the order of their first runs. */
  readonly evaluations: readonly ModelEvaluation[]
  /** The runs in which every call was left to the default: of mode `default`, or `tuned` without a model. */
  readonly byDefault: readonly CallFile[]
}

/**
 * Orders runs by their models: a model that a run names was learned from all iterations before it.
 *
 * @param files in the order in which the runs took place
 * @see Steiner 2023 §5.4.3
 */
export function runSequence(files: Iterable<CallFile>): RunSequence {
  const iterations = new Map<string, CallFile[]>()
  const evaluations = new Map<string, { after: number; runs: CallFile[] }>()
  const byDefault: CallFile[] = []
  for (const file of files) {
    if (file.mode === 'tuning') {
      const runs = iterations.get(file.model)
      if (runs === undefined) iterations.set(file.model, [file])
      else runs.push(file)
    } else if (isByDefault(file)) byDefault.push(file)
    else {
      const known = evaluations.get(file.model)
      if (known === undefined) evaluations.set(file.model, { after: iterations.size, runs: [file] })
      else known.runs.push(file)
    }
  }
  const models = [...iterations.keys()]
  return {
    iterations: [...iterations.values()],
    evaluations: [...evaluations].map(([model, { after, runs }]) => {
      const place = models.indexOf(model)
      return { after: place < 0 ? after : place, runs }
    }),
    byDefault,
  }
}

function isByDefault({ mode, model, records }: CallFile): boolean {
  if (mode === 'default') return true
  if (model !== '') return false
  for (const own of records.values()) if (own.some(({ setting }) => setting !== leftToDefault)) return false
  return true
}
