import type { Algorithm } from '../../src/collective/patterns/algorithm.js'
import { scheduleOf } from '../../src/collective/patterns/schedule-of.js'

/**
 * An algorithm of the registry, first at the defaults of its parameters, then with each of them at other values
 * within its bounds.
 *
 * @param values which ones, besides both bounds
 */
export function variantsAt(algorithm: Algorithm, values: readonly number[]): readonly Algorithm[] {
  const { parameters = {} } = algorithm
  const others = Object.entries(parameters).flatMap(([name, { words, least = 0, most = 1000, is }]) =>
    (words ?? [least, ...values, most])
      .filter(is)
      .map((value) => algorithm.with!({ [name]: value as never })),
  )
  return [...new Set([algorithm, ...others])]
}

const found = new Map<string, readonly Algorithm[]>()

/**
 * Those of the variants with small values, and values around the number of participants, whose schedules differ.
 *
 * @param ranks participants
 */
export function variantsOf(algorithm: Algorithm, ranks: number): readonly Algorithm[] {
  const key = `${algorithm.id} ${ranks}`
  let variants = found.get(key)
  if (variants === undefined) {
    const bySchedule = new Map<string, Algorithm>()
    for (const variant of variantsAt(algorithm, [1, 2, 3, 5, ranks - 1, ranks, ranks + 1])) {
      const schedule = algorithm.parameters === undefined ? '' : scheduleText(variant, ranks)
      if (!bySchedule.has(schedule)) bySchedule.set(schedule, variant)
    }
    variants = [...bySchedule.values()]
    found.set(key, variants)
  }
  return variants
}

/** Equal for variants that do the same. */
function scheduleText(algorithm: Algorithm, ranks: number): string {
  const shape = { ranks, segments: 6 }
  if ((algorithm.refuses?.(shape) ?? null) !== null) return 'refused'
  const { opStart, opPhase, opKind, opPeer, opTag, opAfter, ...entries } = scheduleOf(algorithm, shape)
  const { entryStart, entryBlock, entryFrom, entryRight, entryTo } = entries
  const operations = [opStart, opPhase, opKind, opPeer, opTag, opAfter]
  return [...operations, entryStart, entryBlock, entryFrom, entryRight, entryTo].join(';')
}
