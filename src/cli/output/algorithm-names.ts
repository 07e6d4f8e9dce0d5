import { algorithms } from '../../collective/algorithms.js'
import { modelledAlgorithms } from '../../cost/models/modelled-algorithms.js'

/** An algorithm that one command knows and another does not. */
export interface MissingAlgorithm {
  readonly id: string
  readonly collective: string
  readonly why: string
}

/** Returns the algorithms of `models` that `schedule` cannot write. */
export function withoutSchedule(): MissingAlgorithm[] {
  const scheduled = new Set(algorithms.map(({ id }) => id))
  return modelledAlgorithms
    .filter(({ id }) => !scheduled.has(id))
    .map(({ id, collective, source }) => ({
      id,
      collective,
      why: `a published formula only (${source}): Rankweave does not generate its messages`,
    }))
}

/** Returns the algorithms of `schedule` that `models` cannot predict. */
export function withoutFormula(): MissingAlgorithm[] {
  const modelled = new Set(modelledAlgorithms.map(({ id }) => id))
  return algorithms
    .filter(({ id }) => !modelled.has(id))
    .map(({ id, collective }) => ({
      id,
      collective,
      why: /-(bucket|reordered)$/.test(id)
        ? 'it depends on the network: models --machine, or rankweave simulate'
        : 'models has no formula for it: rankweave simulate runs its schedule',
    }))
}
