import { formatAlgorithm } from '../../collective/algorithm-text.js'
import type { Algorithm } from '../../collective/patterns/algorithm.js'
import { shapeLimits } from '../../collective/patterns/check-shape.js'

/** An algorithm with its parameters, and the segments into which it cuts every unit of data. */
export interface CutAlgorithm {
  readonly algorithm: Algorithm
  readonly segments: number
}

/** Equal settings have equal texts. */
export function settingText({ algorithm, segments }: CutAlgorithm): string {
  return formatAlgorithm(segments === 1 ? { algorithm } : { algorithm, segments })
}

/** Segments shorter than that are not tried. */
const leastSegmentBytes = 64

/**
 * Settings that differ in one value, within its bounds: segments doubled, quadrupled, halved or quartered; parameters
 * that, one more or less, or by a half. Of parameters at most as many as there are ranks.
 */
export function neighborsOf(
  { algorithm, segments }: CutAlgorithm,
  ranks: number,
  bytes: number,
): CutAlgorithm[] {
  const mostSegments = Math.min(shapeLimits.segments, Math.max(1, Math.floor(bytes / leastSegmentBytes)))
  const bySegments = within(1, mostSegments, steps(segments)).map((next) => ({ algorithm, segments: next }))
  const { parameters = {}, with: bind } = algorithm
  const values = algorithm.values ?? {}
  const { sections = 1 } = algorithm
  const withValue = (name: string, value: number | string): CutAlgorithm => {
    const next = bind!({ ...values, [name]: value })
    return { algorithm: next, segments: (segments / sections) * (next.sections ?? 1) }
  }
  const byParameter = Object.entries(parameters).flatMap(
    ([name, { least = 1, most = ranks, words = [] }]) => {
      const value = values[name]
      if (typeof value === 'string')
        return words.flatMap((word) => (word === value ? [] : [withValue(name, word as string)]))
      const next = new Set([
        ...steps(value),
        value + 1,
        value - 1,
        (3 * value) >> 1,
        Math.ceil((2 * value) / 3),
      ])
      next.delete(value)
      return within(least, Math.min(most, Math.max(least, ranks)), [...next]).map((each) =>
        withValue(name, each),
      )
    },
  )
  return [...bySegments, ...byParameter]
}

function steps(value: number): number[] {
  return [4 * value, 2 * value, value >> 1, value >> 2]
}

function within(least: number, most: number, values: readonly number[]): number[] {
  return values.filter((value) => value >= least && value <= most)
}
