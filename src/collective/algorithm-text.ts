import { requireText } from '../base/known-options.js'
import { bytesOption, integerOption } from '../base/option.js'
import { optionsText, parsedOptions } from '../base/option-table.js'
import { shown, wrongValue } from '../errors.js'
import type { Collective } from '../schedule/specification.js'
import { algorithmOf } from './algorithms.js'
import type { Algorithm } from './patterns/algorithm.js'
import { shapeLimits } from './patterns/check-shape.js'

/** An algorithm with its parameters, and how it cuts every unit of data. At most one of both is given. */
export interface AlgorithmSetting {
  readonly algorithm: Algorithm
  /** Segments of every unit. */
  readonly segments?: number
  /** Bytes of a segment; {@link segmentsOf} says how many segments that are. */
  readonly segmentBytes?: number
}

const cuts = {
  segments: integerOption({ least: 1, most: shapeLimits.segments, help: 'segments of every unit of data' }),
  segmentBytes: bytesOption({ least: 1, word: 'segment', help: 'bytes of a segment' }),
}

/**
 * An algorithm from its line of text: its id, then a colon and settings in any order, joined by commas:
 * `bcast-binomial`, `bcast-chain:fanout=4,segment=1KiB`, `allreduce-ring:segments=8`. Parameters that are left
 * out have their defaults.
 *
 * @param collective that it must be of. Default: any.
 * @throws ERR_ARGUMENT saying what was expected and what arrived
 */
export function parseAlgorithm(text: string, collective?: Collective): AlgorithmSetting {
  requireText('parseAlgorithm', text)
  const colon = text.indexOf(':')
  const family = algorithmOf(colon < 0 ? text : text.slice(0, colon), collective)
  if (colon < 0) return { algorithm: family }
  const { parameters = {} } = family
  const fail = (expected: string, got: string): never => {
    throw wrongValue('ERR_ARGUMENT', `algorithm ${shown(text)}: expected ${expected}`, got)
  }
  const values = parsedOptions({ ...parameters, ...cuts }, text.slice(colon + 1), fail)
  const { segments, segmentBytes, ...given } = values as Record<string, number>
  if (segments !== undefined && segmentBytes !== undefined) fail('segments or segment', text.slice(colon + 1))
  return {
    algorithm: family.with?.(given) ?? family,
    ...(segments === undefined ? {} : { segments }),
    ...(segmentBytes === undefined ? {} : { segmentBytes }),
  }
}

/** The line of text that {@link parseAlgorithm} reads as this setting; equal settings have equal texts. */
export function formatAlgorithm({ algorithm, segments, segmentBytes }: AlgorithmSetting): string {
  const { id } = algorithm
  const text = optionsText(cuts, { segments, segmentBytes })
  return text === '' ? id : `${id}${id.includes(':') ? ',' : ':'}${text}`
}

/**
 * Into how many segments a unit of data is cut: segments of at most `segmentBytes`, or more where there would be
 * more than 4,096. Undefined where the setting does not say it.
 */
export function segmentsOf(
  { segments, segmentBytes }: AlgorithmSetting,
  unitBytes: number,
): number | undefined {
  if (segmentBytes === undefined) return segments
  return Math.min(Math.max(Math.ceil(unitBytes / segmentBytes), 1), shapeLimits.segments)
}
