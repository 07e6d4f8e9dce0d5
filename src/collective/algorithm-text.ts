import { bytesOption, integerOption } from '../base/option.js'
import { optionsText } from '../base/option-table.js'
import { wrongValue } from '../errors.js'
import type { Collective } from '../schedule/specification.js'
import { familyOf } from './algorithms.js'
import type { Algorithm, ParameterValue } from './patterns/algorithm.js'
import { shapeLimits } from './patterns/check-shape.js'
import { parsedSettings } from './patterns/parameterized.js'

/**
 * An algorithm with its parameters, and the segments of every unit of data. At most one of `segments` and
 * `segmentBytes` is given.
 */
export interface AlgorithmSetting {
  readonly algorithm: Algorithm
  /** The number of segments of every unit. */
  readonly segments?: number
  /** The bytes of a segment; {@link segmentsOf} converts them to a number of segments. */
  readonly segmentBytes?: number
}

const cuts = {
  segments: integerOption({ least: 1, most: shapeLimits.segments, help: 'segments of every unit of data' }),
  segmentBytes: bytesOption({ least: 1, word: 'segment', help: 'bytes of a segment' }),
}

/** So many settings are retained by their text, because calls pass the same few again and again. */
const mostRetained = 64
const retained = new Map<string, AlgorithmSetting>()

/**
 * Parses an algorithm from its line of text: its id, then a colon and settings in any order, joined by commas:
 * `bcast-binomial`, `bcast-chain:fanout=4,segment=1KiB`, `allreduce-ring:segments=8`. Omitted parameters have their
 * defaults.
 *
 * @param collective the collective that the algorithm must serve. Default: any.
 * @throws ERR_ARGUMENT with what was expected and what arrived
 */
export function parseAlgorithm(text: string, collective?: Collective): AlgorithmSetting {
  const known = retained.get(text)
  if (known !== undefined && (collective === undefined || known.algorithm.collective === collective))
    return known
  const setting = parsed(text, collective)
  if (retained.size >= mostRetained) retained.clear()
  retained.set(text, setting)
  return setting
}

function parsed(text: string, collective: Collective | undefined): AlgorithmSetting {
  const { family, settings } = familyOf(text, collective)
  if (settings === undefined) return { algorithm: family }
  const { segments, segmentBytes, ...values } = parsedSettings(family, text, settings, cuts) as Record<
    string,
    ParameterValue
  > & { readonly segments?: number; readonly segmentBytes?: number }
  const algorithm = family.with?.(values) ?? family
  if (segments === undefined) return segmentBytes === undefined ? { algorithm } : { algorithm, segmentBytes }
  if (segmentBytes === undefined) return { algorithm, segments }
  throw wrongValue('ERR_ARGUMENT', 'expected segments or segment, not both', text)
}

/** Returns the line of text that {@link parseAlgorithm} reads as this setting; equal settings have equal texts. */
export function formatAlgorithm({ algorithm, segments, segmentBytes }: AlgorithmSetting): string {
  return algorithmText(algorithm.id, { segments, segmentBytes })
}

/** Returns the line of text of an id with its settings. */
export function algorithmText(
  id: string,
  {
    segments,
    segmentBytes,
  }: { readonly segments?: number | undefined; readonly segmentBytes?: number | undefined },
): string {
  const text = optionsText(cuts, { segments, segmentBytes })
  return text === '' ? id : `${id}${id.includes(':') ? ',' : ':'}${text}`
}

/**
 * Returns the number of segments into which a unit of data is cut, a multiple of the algorithm's sections. Given the
 * bytes of a segment, no part of the unit that travels by itself is longer, unless that takes more than 4,096 segments.
 *
 * @param unitBytes the bytes that MPI's count describes
 * @param ranks participants: some algorithms cut a unit into a part for each, and these into segments
 * @returns undefined if the setting gives neither
 */
export function segmentsOf(
  { algorithm, segments, segmentBytes }: AlgorithmSetting,
  unitBytes: number,
  ranks: number,
): number | undefined {
  if (segmentBytes === undefined) return segments
  const parts = algorithm.parts?.({ ranks, segments: 1 }) ?? 1
  return segmentsOfParts(unitBytes, parts, segmentBytes, algorithm.sections)
}

/**
 * Returns the number of segments of a unit that is first cut into a part for each of some ranks.
 *
 * @param sections a divisor of the number of segments
 */
export function segmentsOfParts(
  unitBytes: number,
  parts: number,
  segmentBytes: number,
  sections = 1,
): number {
  const needed = Math.ceil(Math.ceil(unitBytes / parts) / segmentBytes)
  const rounds = Math.max(1, Math.ceil(needed / sections))
  return sections * Math.min(rounds, Math.floor(shapeLimits.segments / sections))
}
