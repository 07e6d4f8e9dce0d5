import { isPrintable } from '../../text/printable.js'
import { topologyLimits } from '../../topology/limits.js'
import { maxPhases } from '../builder.js'
import { collectives, isNeighborCollective } from '../specification.js'
import { isIntegerBelow, limit } from './checked-values.js'
import { type FormatVersion, formatVersions } from './format-version.js'
import { formatName, type Header, type ScheduleFileHeader } from './header.js'
import type { Reject } from './reject.js'

type Holds = (value: unknown) => boolean
type Field = readonly [expected: string, holds: Holds]

const isText: Holds = (value) => typeof value === 'string'
const isFlag: Holds = (value) => typeof value === 'boolean'
const isCount: Holds = (value) => isIntegerBelow(value, limit)
const isRank: Holds = (value) => isIntegerBelow(value, topologyLimits.ranks)
const isListOf = (item: Holds) => (value: unknown) => Array.isArray(value) && value.every(item)
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const hasFields = (value: unknown, fields: Readonly<Record<string, Field>>): boolean =>
  isRecord(value) &&
  Object.keys(value).length === Object.keys(fields).length &&
  Object.entries(fields).every(([name, [, holds]]) => Object.hasOwn(value, name) && holds(value[name]))
const orNull =
  (holds: Holds): Holds =>
  (value) =>
    value === null || holds(value)

const cart: Field = [
  'null, or { dims, periods } of integers and booleans',
  orNull((value) => hasFields(value, { dims: ['', isListOf(isCount)], periods: ['', isListOf(isFlag)] })),
]
const hash: Field = [
  '64 lowercase hexadecimal digits',
  (value) => isText(value) && /^[0-9a-f]{64}$/.test(value as string),
]
const pairing: Field = [
  '"occurrence" or "cartesian"',
  (value) => value === 'occurrence' || value === 'cartesian',
]
const isName: Holds = (value) => typeof value === 'string' && isPrintable(value)
const strategy: Field = ['a string of printable characters', isName]
const parameters: Field = [
  'an object of printable strings, numbers and booleans',
  (value) =>
    isRecord(value) &&
    Object.keys(value).every(isPrintable) &&
    Object.values(value).every((item) => isName(item) || isFlag(item) || typeof item === 'number'),
]
const ranks: Field = [
  `an integer from 1 to ${topologyLimits.ranks}`,
  (value) => value !== 0 && isIntegerBelow(value, topologyLimits.ranks + 1),
]
const phases: Field = [`an integer from 0 to ${maxPhases}`, (value) => isIntegerBelow(value, maxPhases + 1)]
const slice: Field = ['null, or a list of ranks', orNull(isListOf(isRank))]
const parts: Field = [
  'a list of [ranks, parts]',
  isListOf((run) => Array.isArray(run) && run.length === 2 && run[0] !== 0 && run.every(isCount)),
]

/** These fields are checked first, because the others depend on them. */
const leading = {
  format: [`"${formatName}"`, (value) => value === formatName],
  version: [
    `one of ${formatVersions.join(', ')}`,
    (value) => formatVersions.includes(value as FormatVersion),
  ],
} satisfies Record<string, Field>

/** The fields from version 2 on. */
const currentFields: Readonly<Record<string, Field>> = {
  ...leading,
  collective: [
    `one of ${collectives.join(', ')}`,
    (value) => (collectives as readonly unknown[]).includes(value),
  ],
  strategy,
  parameters,
  ranks,
  phases,
  parts,
  idempotent: ['true or false', isFlag],
  topology: [
    'null, or { hash, pairing, cart }',
    orNull((value) => hasFields(value, { hash, pairing, cart })),
  ],
  slice,
}

/**
 * The checks of each field. They are written by hand, not with the schema library of the command line. Every thread of
 * a world loads this module, and that library would take longer to load than all other modules together.
 */
const fieldsOf: { readonly [V in FormatVersion]: Readonly<Record<string, Field>> } = {
  1: {
    ...leading,
    collective: ['"neighbor-allgather"', (value) => value === 'neighbor-allgather'],
    strategy,
    parameters,
    ranks,
    phases,
    topologyHash: hash,
    pairing,
    cart,
    slice,
  },
  2: currentFields,
  3: currentFields,
}

export function readScheduleHeader(value: unknown, reject: Reject): ScheduleFileHeader {
  const given = isRecord(value) ? value : {}
  requireFields(given, leading, reject)
  const fields = fieldsOf[given['version'] as FormatVersion]
  requireFields(given, fields, reject)
  const unknown = Object.keys(given).find((field) => !Object.hasOwn(fields, field))
  if (unknown !== undefined) reject(unknown, 'no such field in a header', given[unknown])
  const header = given as unknown as ScheduleFileHeader
  header.slice?.forEach((rank, i, before) => {
    if (rank >= header.ranks) reject(`slice[${i}]`, `a rank below ${header.ranks}`, rank)
    if (i > 0 && rank <= before[i - 1]) reject(`slice[${i}]`, 'ranks in ascending order', rank)
  })
  if (header.version !== 1) checkSpecification(header, reject)
  return header
}

function requireFields(
  given: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, Field>>,
  reject: Reject,
): void {
  for (const [field, [expected, holds]] of Object.entries(fields)) {
    if (!Object.hasOwn(given, field) || !holds(given[field])) reject(field, expected, given[field])
  }
}

/** Checks that the fields about parts fit the others, and the blocks their numbers. */
function checkSpecification(header: Header, reject: Reject): void {
  const { collective, idempotent, parts, ranks, topology } = header
  let described = 0
  let blocks = 0
  for (const [count, each] of parts) {
    described += count
    blocks += count * each
    if (blocks >= limit) reject('parts', `fewer than ${limit} parts in all`, parts)
  }
  if (described !== ranks) reject('parts', `runs of ${ranks} ranks in all`, parts)
  if (topology === null) return
  if (!isNeighborCollective(collective)) reject('topology', `null, ${collective} has none`, topology)
  if (idempotent) reject('idempotent', 'false with a topology', idempotent)
  if (collective === 'neighbor-alltoall') return
  if (blocks !== ranks || parts.some(([, each]) => each !== 1))
    reject('parts', `one part of every rank with a topology, [[${ranks},1]]`, parts)
}
