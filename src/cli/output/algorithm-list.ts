import { defaultText, expectedText } from '../../base/option-table.js'
import { formatAlgorithm, segmentsOf } from '../../collective/algorithm-text.js'
import { algorithmOf, algorithms, type ServedCalls, servedCalls } from '../../collective/algorithms.js'
import { tunedOfText, tunedParameters } from '../../collective/open-mpi-settings.js'
import type { Algorithm } from '../../collective/patterns/algorithm.js'
import { shapeLimits } from '../../collective/patterns/check-shape.js'
import { modeledAlgorithms } from '../../cost/models/modeled-algorithms.js'
import { table } from './result-rows.js'

const callsOf: Readonly<Record<string, ServedCalls>> = servedCalls

const rankCounts = Array.from({ length: 64 }, (_, before) => before + 1)

/** Returns how an algorithm combines, over all ranks that it serves. */
export function combines({ order, refuses }: Algorithm): string {
  const served = rankCounts.filter((ranks) => ranks > 1 && (refuses?.({ ranks }) ?? null) === null)
  return [...new Set(served.map((ranks) => order?.({ ranks })))].join(' or ')
}

/** Returns the numbers of ranks that an algorithm serves; empty for all. */
export function ranksServed({ id, refuses }: Algorithm): string {
  const served = rankCounts.filter((ranks) => (refuses?.({ ranks }) ?? null) === null)
  const kinds: Readonly<Record<string, (ranks: number) => boolean>> = {
    '': () => true,
    even: (ranks) => ranks % 2 === 0 || ranks === 1,
    'powers of two': (ranks) => Number.isInteger(Math.log2(ranks)),
    '2': (ranks) => ranks === 2,
  }
  const found = Object.entries(kinds).find(([, isServed]) => `${rankCounts.filter(isServed)}` === `${served}`)
  if (found === undefined) throw new Error(`${id} serves ${served} ranks: name them here`)
  return found[0]
}

/** Returns the algorithms with the ranks that they serve, their parameters and Open MPI's equal settings. */
export function listedAlgorithms() {
  return algorithms.map((algorithm) => {
    const { collective, id, catalog, parameters = {} } = algorithm
    return {
      ...{ collective, id, serves: catalog!.serves, ranks: ranksServed(algorithm) },
      ...{ combines: combines(algorithm), ...callsOf[collective]! },
      parameters: Object.entries(parameters).map(
        ([name, { help, least, most, default: initial, word = name }]) => ({
          ...{ name: word, help, least, most, default: initial },
        }),
      ),
      openMpi: openMpiOf(id),
    }
  })
}

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
      `${name}: calls ${callsText(callsOf[name]!)}`,
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

function rowOf(algorithm: Algorithm): readonly [string, string] {
  const { id, catalog } = algorithm
  const setting = tunedOfText(id)
  const [ranks, order] = [ranksServed(algorithm), combines(algorithm)]
  const facts = [
    catalog!.serves,
    ...(ranks === '' ? [] : [`ranks: ${ranks}`]),
    ...(order === '' ? [] : [`order: ${order}`]),
    ...(setting === null ? [] : [`Open MPI: ${setting.algorithm}`]),
  ]
  return [id, facts.join('; ')]
}

/**
 * Returns the parameters by which Open MPI does what an algorithm does; null if it has none.
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

/** Returns the bytes of a segment that make so many segments; undefined if none do. */
function lengthOf(
  algorithm: Algorithm,
  segments: number,
  { ranks, bytes }: { readonly ranks: number; readonly bytes: number },
): number | undefined {
  const parts = algorithm.parts?.({ ranks, segments: 1 }) ?? 1
  const segmentBytes = Math.max(1, Math.ceil(Math.ceil(bytes / parts) / segments))
  return segmentsOf({ algorithm, segmentBytes }, bytes, ranks) === segments ? segmentBytes : undefined
}

export function mcaOptions(parameters: Readonly<Record<string, string>>): string {
  return Object.entries(parameters)
    .map(([name, value]) => `--mca ${name} ${value}`)
    .join(' ')
}

/** An algorithm that one command knows and another does not. */
interface MissingAlgorithm {
  readonly id: string
  readonly collective: string
  readonly why: string
}

/** Returns the algorithms of `models` that `schedule` cannot write. */
export function withoutSchedule(): MissingAlgorithm[] {
  const scheduled = new Set(algorithms.map(({ id }) => id))
  return modeledAlgorithms
    .filter(({ id }) => !scheduled.has(id))
    .map(({ id, collective, source }) => ({
      id,
      collective,
      why: `a published formula only (${source}): Rankweave does not generate its messages`,
    }))
}

/** Returns the algorithms of `schedule` that `models` cannot predict. */
export function withoutFormula(): MissingAlgorithm[] {
  const modeled = new Set(modeledAlgorithms.map(({ id }) => id))
  return algorithms
    .filter(({ id }) => !modeled.has(id))
    .map(({ id, collective }) => ({
      id,
      collective,
      why: /-(bucket|reordered)$/.test(id)
        ? 'it depends on the network: models --machine, or rankweave simulate'
        : 'models has no formula for it: rankweave simulate runs its schedule',
    }))
}
