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
 * Settings that differ in one value, doubled, quadrupled, halved or quartered within its bounds; of parameters at most
 * as many as there are ranks.
 */
export function neighborsOf(
  { algorithm, segments }: CutAlgorithm,
  ranks: number,
  bytes: number,
): CutAlgorithm[] {
  const mostSegments = Math.min(shapeLimits.segments, Math.max(1, Math.floor(bytes / leastSegmentBytes)))
  const bySegments = steps(segments, 1, mostSegments).map((next) => ({ algorithm, segments: next }))
  const { parameters = {}, with: bind } = algorithm
  const values = algorithm.values ?? {}
  const byParameter = Object.entries(parameters).flatMap(([name, { least = 1, most = ranks }]) =>
    steps(values[name], least, Math.min(most, Math.max(least, ranks))).map((next) => ({
      algorithm: bind!({ ...values, [name]: next }),
      segments,
    })),
  )
  return [...bySegments, ...byParameter]
}

function steps(value: number, least: number, most: number): number[] {
  const next = [4 * value, 2 * value, Math.floor(value / 2), Math.floor(value / 4)]
  return next.filter((each) => each !== value && each >= least && each <= most)
}
