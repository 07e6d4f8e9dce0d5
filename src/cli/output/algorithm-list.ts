import { defaultText, expectedText } from '../../base/option-table.js'
import { formatAlgorithm, segmentsOf } from '../../collective/algorithm-text.js'
import { algorithmOf, algorithms } from '../../collective/algorithms.js'
import { tunedOfText, tunedParameters } from '../../collective/open-mpi-settings.js'
import type { Algorithm } from '../../collective/patterns/algorithm.js'
import { shapeLimits } from '../../collective/patterns/check-shape.js'
import { type ServedCalls, servedCalls } from '../../collective/patterns/served-calls.js'
import { withoutSchedule } from './algorithm-names.js'
import { table } from './reporter.js'

const callsOf: Readonly<Record<string, ServedCalls>> = servedCalls

/** The algorithms with what they serve, their parameters and Open MPI's settings that do the same. */
export function listedAlgorithms() {
  return algorithms.map(({ collective, id, catalogue, parameters = {} }) => ({
    ...{ collective, id, serves: catalogue!.serves, ...callsOf[collective]! },
    parameters: Object.entries(parameters).map(
      ([name, { help, least, most, default: initial, word = name }]) => ({
        ...{ name: word, help, least, most, default: initial },
      }),
    ),
    openMpi: openMpiOf(id),
  }))
}

/** The same for readers. */
export function algorithmList(): string {
  const collectives = [...new Set(algorithms.map(({ collective }) => collective))]
  const parameters = algorithms.flatMap(({ id, parameters = {} }) =>
    Object.entries(parameters).map(([name, option]) => {
      const { word = name, help } = option
      return [`${id}:${word}`, `${help}, ${expectedText(option)} (default: ${defaultText(option)})`] as const
    }),
  )
  const missing = withoutSchedule()
  return [
    ...collectives.flatMap((name) => [
      `${name}: ${callsText(callsOf[name]!)}`,
      table(algorithms.filter(({ collective }) => collective === name).map(rowOf)),
    ]),
    'parameters:',
    table(parameters),
    `every algorithm: segments=NUMBER, from 1 to ${shapeLimits.segments}`,
    ...(missing.length === 0 ? [] : ['only in rankweave models:']),
    ...missing.map(({ id, why }) => `  ${id}: ${why}`),
  ].join('\n')
}

function callsText({ calls, uneven, inPlace }: ServedCalls): string {
  const names = calls.map((call) => (uneven.includes(call) ? `${call} (blocks of varying lengths)` : call))
  return `${names.join(', ')}${inPlace ? '; in place' : ''}`
}

function rowOf({ id, catalogue }: Algorithm): readonly [string, string] {
  const setting = tunedOfText(id)
  return [id, `${catalogue!.serves}${setting === null ? '' : ` (Open MPI: ${setting.algorithm})`}`]
}

/**
 * The parameters by which Open MPI does what an algorithm does; null where it has none.
 *
 * @param id with its parameters
 * @param unit without which no number of segments above 1 is a length, as Open MPI takes it
 */
export function openMpiOf(
  id: string,
  segments = 1,
  unit: { readonly ranks: number; readonly bytes: number } | null = null,
): Readonly<Record<string, string>> | null {
  const algorithm = algorithmOf(id)
  const segmentBytes = segments === 1 || unit === null ? undefined : lengthOf(algorithm, segments, unit)
  if (segments > 1 && segmentBytes === undefined) return null
  const setting = tunedOfText(
    formatAlgorithm({ algorithm, ...(segmentBytes === undefined ? {} : { segmentBytes }) }),
  )
  return setting === null ? null : tunedParameters(setting)
}

/** The bytes of a segment that make so many segments; undefined where none do. */
function lengthOf(
  algorithm: Algorithm,
  segments: number,
  { ranks, bytes }: { readonly ranks: number; readonly bytes: number },
): number | undefined {
  const parts = algorithm.parts?.({ ranks, segments: 1 }) ?? 1
  const segmentBytes = Math.max(1, Math.ceil(Math.ceil(bytes / parts) / segments))
  return segmentsOf({ algorithm, segmentBytes }, bytes, ranks) === segments ? segmentBytes : undefined
}

/** The same as options of `mpirun`. */
export function mcaOptions(parameters: Readonly<Record<string, string>>): string {
  return Object.entries(parameters)
    .map(([name, value]) => `--mca ${name} ${value}`)
    .join(' ')
}
