import { topologyLimits } from '../../topology/limits.js'
import { topologyHash } from '../../topology/topology-hash.js'
import { maxPhases } from '../builder.js'
import type { NeighborSchedule } from '../ir.js'
import type { Reject } from './reject.js'

/** The format name in every header, and the version written and read (docs/schedule-format.md). */
export const formatName = 'rankweave-schedule'
export const formatVersion = 1

/** The first line. */
export interface ScheduleFileHeader {
  readonly format: typeof formatName
  readonly version: typeof formatVersion
  readonly collective: 'neighbor-allgather'
  readonly strategy: string
  readonly parameters: Readonly<Record<string, string | number | boolean>>
  readonly ranks: number
  readonly phases: number
  readonly topologyHash: string
  readonly pairing: 'occurrence' | 'cartesian'
  readonly cart: { readonly dims: readonly number[]; readonly periods: readonly boolean[] } | null
  /** Ranks of a slice, ascending; null for a whole schedule. */
  readonly slice: readonly number[] | null
}

type Holds = (value: unknown) => boolean

const isText: Holds = (value) => typeof value === 'string'
const isFlag: Holds = (value) => typeof value === 'boolean'
const isCount: Holds = (value) =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= maxCount
const isListOf = (item: Holds) => (value: unknown) => Array.isArray(value) && value.every(item)
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const maxCount = 0x7fffffff

/**
 * What each field must be. Checked by hand, not by the schema library of the command line: every thread of a world loads
 * this module, and that library would take longer to load than all other modules together.
 */
const fields: { readonly [F in keyof ScheduleFileHeader]: readonly [expected: string, holds: Holds] } = {
  format: [`"${formatName}"`, (value) => value === formatName],
  version: [`${formatVersion}, the only one known`, (value) => value === formatVersion],
  collective: ['"neighbor-allgather"', (value) => value === 'neighbor-allgather'],
  strategy: ['a string', isText],
  parameters: [
    'an object of strings, numbers and booleans',
    (value) =>
      isRecord(value) &&
      Object.values(value).every((item) => isText(item) || isFlag(item) || typeof item === 'number'),
  ],
  ranks: [
    `an integer from 1 to ${topologyLimits.ranks}`,
    (value) => isCount(value) && value !== 0 && (value as number) <= topologyLimits.ranks,
  ],
  phases: [`an integer from 0 to ${maxPhases}`, (value) => isCount(value) && (value as number) <= maxPhases],
  topologyHash: [
    '64 lowercase hexadecimal digits',
    (value) => isText(value) && /^[0-9a-f]{64}$/.test(value as string),
  ],
  pairing: ['"occurrence" or "cartesian"', (value) => value === 'occurrence' || value === 'cartesian'],
  cart: [
    'null, or { dims, periods } of integers and booleans',
    (value) =>
      value === null ||
      (isRecord(value) &&
        Object.keys(value).sort().join() === 'dims,periods' &&
        isListOf(isCount)(value['dims']) &&
        isListOf(isFlag)(value['periods'])),
  ],
  slice: ['null, or a list of ranks', (value) => value === null || isListOf(isCount)(value)],
}

export function headerOf(schedule: NeighborSchedule): ScheduleFileHeader {
  const { strategy, parameters, phases, topology } = schedule
  const { cart, pairing, ranks } = topology
  return {
    format: formatName,
    version: formatVersion,
    collective: 'neighbor-allgather',
    strategy,
    parameters: { ...parameters },
    ranks,
    phases,
    topologyHash: topologyHash(topology),
    pairing,
    cart: cart === null ? null : { dims: [...cart.dims], periods: [...cart.periods] },
    slice: null,
  }
}

/** Checks a header. An unknown format or version is reported first, because the other fields depend on it. */
export function readHeader(value: unknown, reject: Reject): ScheduleFileHeader {
  const given = isRecord(value) ? value : {}
  for (const [field, [expected, holds]] of Object.entries(fields)) {
    if (!Object.hasOwn(given, field) || !holds(given[field])) reject(field, expected, given[field])
  }
  const unknown = Object.keys(given).find((field) => !Object.hasOwn(fields, field))
  if (unknown !== undefined) reject(unknown, 'no such field in a header', given[unknown])
  const header = given as unknown as ScheduleFileHeader
  const { ranks, slice } = header
  slice?.forEach((rank, i) => {
    if (rank >= ranks) reject(`slice[${i}]`, `a rank below ${ranks}`, rank)
    if (i > 0 && rank <= slice[i - 1]) reject(`slice[${i}]`, 'ranks in ascending order', rank)
  })
  return header
}
