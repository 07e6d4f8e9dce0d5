import { GrowingInt32Array } from '../../base/growing-array.js'
import { equalNumbers } from '../../base/search.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { isPrintable } from '../../text/printable.js'
import { topologyLimits } from '../../topology/limits.js'
import { topologyHash } from '../../topology/topology-hash.js'
import { maxPhases } from '../builder.js'
import { isNeighborSchedule, opKind, type Parameters, type Schedule } from '../ir.js'
import {
  type Collective,
  collectives,
  isNeighborCollective,
  neighborAllgatherSpecification,
  type Reductions,
  type Specification,
} from '../specification.js'
import type { Reject } from './checked-values.js'
import { isIntegerBelow, limit } from './checked-values.js'

/** The blocks `first`, `first + stride` and so on. */
export type BlockRun = readonly [first: number, count: number, stride: number]

/** The demand on a slot: a block, or the reduction of runs. */
export type SlotTerm = number | readonly BlockRun[]

/**
 * The specification of a file, collected line by line in any order. Equal reductions of several slots become
 * one.
 */
export class SpecificationRows {
  readonly #header: Header
  readonly #own: RankRows
  readonly #slots: RankRows
  readonly #numbers = new Map<string, number>()
  readonly #runStart = new GrowingInt32Array()
  /** Each run has three numbers. */
  readonly #runs = new GrowingInt32Array()

  constructor(header: Header) {
    this.#header = header
    this.#own = new RankRows(header.ranks)
    this.#slots = new RankRows(header.ranks)
    this.#runStart.push(0)
  }

  add(rank: number, own: readonly number[], slots: readonly SlotTerm[]): void {
    this.#own.set(rank, own)
    this.#slots.set(
      rank,
      slots.map((term) => (typeof term === 'number' ? term : ~this.#numberOf(term))),
    )
  }

  /** Reductions are numbered by rank and slot, whatever the order of the lines. */
  build(): Specification {
    const { collective, idempotent, ranks } = this.#header
    const [ownStart, ownBlock] = this.#own.compressed()
    const [slotStart, slotTerm] = this.#slots.compressed()
    const order: number[] = []
    const renumbered = new Int32Array(this.#numbers.size).fill(-1)
    for (let slot = 0; slot < slotTerm.length; slot++) {
      const term = slotTerm[slot]
      if (term >= 0) continue
      if (renumbered[~term] === -1) renumbered[~term] = order.push(~term) - 1
      slotTerm[slot] = ~renumbered[~term]
    }
    const partStart = partStartOf(this.#header)
    const reductions = this.#reductions(order, idempotent)
    return { collective, ranks, partStart, ownStart, ownBlock, slotStart, slotTerm, reductions }
  }

  /** Returns the number of a reduction, in the order in which the lines name them. */
  #numberOf(runs: readonly BlockRun[]): number {
    const key = runs.join()
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    for (const run of runs) for (const value of run) this.#runs.push(value)
    this.#runStart.push(this.#runs.length / 3)
    this.#numbers.set(key, this.#numbers.size)
    return this.#numbers.size - 1
  }

  #reductions(order: readonly number[], isIdempotent: boolean): Reductions {
    const [starts, runs] = [this.#runStart.view(), this.#runs.view()]
    const total = runs.length / 3
    const runStart = new Int32Array(order.length + 1)
    const [first, count, stride] = [new Int32Array(total), new Int32Array(total), new Int32Array(total)]
    let at = 0
    for (const [i, number] of order.entries()) {
      for (let run = starts[number]; run < starts[number + 1]; run++, at++) {
        first[at] = runs[3 * run]
        count[at] = runs[3 * run + 1]
        stride[at] = runs[3 * run + 2]
      }
      runStart[i + 1] = at
    }
    return { isIdempotent, runStart, first, count, stride }
  }
}

/** A row of integers for each rank, given in any order; ranks without one have an empty row. */
export class RankRows {
  readonly #values = new GrowingInt32Array()
  /** The start of each rank's row in the values. */
  readonly #first: Int32Array
  readonly #length: Int32Array
  #isAscending = true
  #last = -1

  constructor(ranks: number) {
    this.#first = new Int32Array(ranks)
    this.#length = new Int32Array(ranks)
  }

  /** Sets the row of a rank, at most once for each. */
  set(rank: number, row: readonly number[]): void {
    this.#first[rank] = this.#values.length
    this.#length[rank] = row.length
    for (let i = 0; i < row.length; i++) this.#values.push(row[i])
    if (rank < this.#last) this.#isAscending = false
    this.#last = rank
  }

  /** Returns compressed rows: those of rank r are `start[r]` up to the next. */
  compressed(): [start: Int32Array, values: Int32Array] {
    const length = this.#length
    const start = new Int32Array(length.length + 1)
    for (let rank = 0; rank < length.length; rank++) start[rank + 1] = start[rank] + length[rank]
    if (this.#isAscending) return [start, this.#values.toArray()]
    const given = this.#values.view()
    const values = new Int32Array(given.length)
    for (let rank = 0; rank < length.length; rank++) {
      const first = this.#first[rank]
      values.set(given.subarray(first, first + length[rank]), start[rank])
    }
    return [start, values]
  }
}

/** The versions of the schedule format that are read and written. */
const formatVersions = [1, 2, 3] as const
export type FormatVersion = (typeof formatVersions)[number]

/** The version of schedules that need no later one. */
export const currentVersion: FormatVersion = 2

/** The format name in every header (docs/schedule-format.md). */
const formatName = 'rankweave-schedule'

/** The first line of a file. */
export type ScheduleFileHeader = HeaderVersion1 | Header

interface AnyHeader {
  readonly format: typeof formatName
  readonly version: FormatVersion
  readonly strategy: string
  readonly parameters: Parameters
  readonly ranks: number
  readonly phases: number
  /** The ranks of a slice, ascending; null for a whole schedule. */
  readonly slice: readonly number[] | null
}

interface HeaderVersion1 extends AnyHeader, Omit<TopologyFacts, 'hash'> {
  readonly version: 1
  readonly collective: 'neighbor-allgather'
  readonly topologyHash: string
}

/** The header of version 2, and of version 3, in which operations may wait. */
interface Header extends AnyHeader {
  readonly version: 2 | 3
  readonly collective: Collective
  /** The number of ranks in each run of consecutive ranks, and the number of parts that each of them contributes. */
  readonly parts: readonly (readonly [ranks: number, parts: number])[]
  readonly idempotent: boolean
  readonly topology: TopologyFacts | null
}

/** The facts of a topology that the rank lines do not state. */
export interface TopologyFacts {
  readonly hash: string
  readonly pairing: 'occurrence' | 'cartesian'
  readonly cart: { readonly dims: readonly number[]; readonly periods: readonly boolean[] } | null
}

export function headerOf(schedule: Schedule, version: FormatVersion): ScheduleFileHeader {
  const { specification, strategy, parameters, phases } = schedule
  const { collective, partStart, ranks, reductions } = specification
  const topology = topologyFacts(schedule)
  if (version === 1) {
    const { hash, pairing, cart } = topology!
    return {
      format: formatName,
      version,
      collective: 'neighbor-allgather',
      strategy,
      parameters,
      ranks,
      phases,
      topologyHash: hash,
      pairing,
      cart,
      slice: null,
    }
  }
  return {
    format: formatName,
    version,
    collective,
    strategy,
    parameters,
    ranks,
    phases,
    parts: runsOfParts(partStart),
    idempotent: reductions.isIdempotent,
    topology,
    slice: null,
  }
}

function topologyFacts({ topology }: Schedule): TopologyFacts | null {
  if (topology === null) return null
  const { cart, pairing } = topology
  return {
    hash: topologyHash(topology),
    pairing,
    cart: cart === null ? null : { dims: [...cart.dims], periods: [...cart.periods] },
  }
}

/** Returns the topology's facts in a header of any version; null if the schedule has no topology. */
export function topologyFactsIn(header: ScheduleFileHeader): TopologyFacts | null {
  if (header.version !== 1) return header.topology
  return { hash: header.topologyHash, pairing: header.pairing, cart: header.cart }
}

function runsOfParts(partStart: Int32Array): [ranks: number, parts: number][] {
  const runs: [ranks: number, parts: number][] = []
  for (let rank = 0; rank + 1 < partStart.length; rank++) {
    const parts = partStart[rank + 1] - partStart[rank]
    const last = runs[runs.length - 1]
    if (last?.[1] === parts) last[0]++
    else runs.push([1, parts])
  }
  return runs
}

export function blocksIn(header: ScheduleFileHeader): number {
  if (header.version === 1) return header.ranks
  return header.parts.reduce((sum, [ranks, each]) => sum + ranks * each, 0)
}

/** Returns the first block of every rank, and the number of blocks. Length: ranks + 1. */
function partStartOf({ parts, ranks }: Header): Int32Array {
  const starts = new Int32Array(ranks + 1)
  let rank = 0
  for (const [count, each] of parts) {
    for (const end = rank + count; rank < end; rank++) starts[rank + 1] = starts[rank] + each
  }
  return starts
}

/** Returns the default version of a schedule: waits need version 3. */
export function versionFor({ opAfter }: Schedule): FormatVersion {
  return opAfter.length > 0 ? 3 : currentVersion
}

/** @throws ERR_SCHEDULE_VERSION for a version that cannot be written */
export function requireVersion(version: FormatVersion): void {
  if (formatVersions.includes(version)) return
  const expected = `expected version ${formatVersions.join(', ')} of the schedule format`
  throw wrongValue('ERR_SCHEDULE_VERSION', expected, version)
}

/**
 * Checks that a version of the format can express a schedule: version 1 has only neighbor allgathers of one block per
 * rank over a topology, without combinations and partial results; only version 3 has waits.
 *
 * @throws ERR_SCHEDULE_VERSION with the reason, and for versions that cannot be written
 */
export function requireExpressible(schedule: Schedule, version: FormatVersion): void {
  requireVersion(version)
  if (version < 3 && schedule.opAfter.length > 0) {
    const message = `version ${version} of the schedule format knows no operations that wait: write version 3`
    throw new RankweaveError('ERR_SCHEDULE_VERSION', message)
  }
  const obstacle = version === 1 ? obstacleToVersion1(schedule) : null
  if (obstacle === null) return
  throw new RankweaveError(
    'ERR_SCHEDULE_VERSION',
    `version 1 of the schedule format expresses neighbor allgathers of a topology only, got ${obstacle}`,
  )
}

function obstacleToVersion1(schedule: Schedule): string | null {
  const { collective } = schedule.specification
  if (collective !== 'neighbor-allgather') return `the collective ${collective}`
  if (!isNeighborSchedule(schedule)) return 'a schedule without a topology'
  if (schedule.opKind.includes(opKind.combine)) return 'a combination'
  if (schedule.entryBlock.some((block) => block < 0)) return 'a partial result'
  const given = schedule.specification
  const expected = neighborAllgatherSpecification(schedule.topology)
  for (const array of ['partStart', 'ownStart', 'ownBlock', 'slotStart', 'slotTerm'] as const) {
    if (!equalNumbers(given[array], expected[array])) return 'a specification other than that of its topology'
  }
  return null
}

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
