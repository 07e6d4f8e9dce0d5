import { formatAlgorithm } from '../../collective/algorithm-text.js'
import type { Algorithm, Shape } from '../../collective/patterns/algorithm.js'
import { shapeLimits } from '../../collective/patterns/check-shape.js'

/** An algorithm with its parameters, and the number of segments into which it cuts every unit of data. */
export interface CutAlgorithm {
  readonly algorithm: Algorithm
  readonly segments: number
}

/** Algorithms cache by shape object, so the same segments must give the same object. */
const cutShapes = new WeakMap<Shape, Map<number, Shape>>()

/** Returns the shape with its units of data cut into segments. */
export function cutShape(shape: Shape, segments: number): Shape {
  const known = cutShapes.get(shape) ?? new Map<number, Shape>()
  cutShapes.set(shape, known)
  const found = known.get(segments) ?? { root: 0, ...shape, segments }
  known.set(segments, found)
  return found
}

/** Returns a text that is equal for equal settings. */
export function settingText({ algorithm, segments }: CutAlgorithm): string {
  const isDefault = segments === (algorithm.sections ?? 1)
  return formatAlgorithm(isDefault ? { algorithm } : { algorithm, segments })
}

/** Returns the setting that cuts as little as the algorithm can. */
export function uncut(algorithm: Algorithm): CutAlgorithm {
  return { algorithm, segments: algorithm.sections ?? 1 }
}

/**
 * Returns the settings of an algorithm that follows the grid of a network which the search next to its defaults cannot
 * reach. They have as many ports as dimensions or twice as many, and each value of its other parameters that has at
 * most four.
 *
 * @param dimensions of the grid with more than one node
 */
export function gridSettings(algorithm: Algorithm, dimensions: number): CutAlgorithm[] {
  const { parameters = {}, with: bind, followsGrid } = algorithm
  if (followsGrid !== true) return []
  const choices = Object.entries(parameters).map(
    ([name, { least = 0, most = 0, words, default: initial }]) => {
      if (name === 'ports')
        return { name, values: [1, dimensions, 2 * dimensions].filter((value) => value <= most) }
      if (words !== undefined) return { name, values: [initial] }
      return { name, values: Array.from({ length: Math.min(4, most - least + 1) }, (_, i) => least + i) }
    },
  )
  const combinations = choices.reduce<Record<string, number | string>[]>(
    (all, { name, values }) =>
      all.flatMap((each) =>
        [...new Set(values)].map((value) => ({ ...each, [name]: value as number | string })),
      ),
    [{}],
  )
  return combinations.map((values) => uncut(bind!(values)))
}

/** The shortest segment that the search tries. */
const leastSegmentBytes = 64

/**
 * Returns the settings that differ in one value, within its bounds. Segments are doubled, quadrupled, halved or
 * quartered; parameters too, or changed by one or by a half. A parameter is at most the number of ranks.
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
  const isWithin = (next: CutAlgorithm): boolean => next.segments <= shapeLimits.segments
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
  return [...bySegments, ...byParameter.filter(isWithin)]
}

function steps(value: number): number[] {
  return [4 * value, 2 * value, value >> 1, value >> 2]
}

function within(least: number, most: number, values: readonly number[]): number[] {
  return values.filter((value) => value >= least && value <= most)
}
