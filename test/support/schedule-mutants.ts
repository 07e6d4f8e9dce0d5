import { opKind, type Schedule } from '../../src/schedule/ir.js'
import { type ListedEntry, type ListedOperation, operationsOf, withOperations } from './operation-list.js'
import type { Choose } from './schedule-faults.js'

/**
 * A single change of a schedule: its name, and the schedule with it; null where there is nothing to change.
 */
export interface Mutant {
  readonly name: string
  readonly schedule: Schedule
}

type Change = (operations: ListedOperation[], choose: Choose, schedule: Schedule) => boolean

const aMessage = ({ kind }: ListedOperation): boolean => kind <= opKind.receive
const hasEntries = ({ entries }: ListedOperation): boolean => entries.length > 0

function pick<T>(all: readonly T[], choose: Choose, fits: (one: T) => boolean = () => true): T | null {
  const fitting = all.filter(fits)
  return fitting.length === 0 ? null : fitting[choose(fitting.length)]
}

/** Another number from 0 to `below - 1`, if there is one. */
const other = (value: number, below: number, choose: Choose): number =>
  below < 2 ? value : (Math.max(value, 0) + 1 + choose(below - 1)) % below

function placesOf({ specification, staging }: Schedule, rank: number): number {
  const { ownStart, slotStart } = specification
  return ownStart[rank + 1] - ownStart[rank] + slotStart[rank + 1] - slotStart[rank] + staging[rank]
}

function atEntry(
  change: (entry: ListedEntry, of: ListedOperation, choose: Choose, schedule: Schedule) => boolean,
): Change {
  return (operations, choose, schedule) => {
    const of = pick(operations, choose, hasEntries)
    return of !== null && change(pick(of.entries, choose)!, of, choose, schedule)
  }
}

function swapped<T>(list: T[], i: number): boolean {
  ;[list[i], list[i + 1]] = [list[i + 1], list[i]]
  return true
}

const changes: Readonly<Record<string, Change>> = {
  'an operation dropped': (operations, choose) => {
    operations.splice(choose(operations.length), 1)
    return true
  },
  'an operation twice': (operations, choose) => {
    const at = choose(operations.length)
    operations.splice(at, 0, structuredClone(operations[at]))
    return true
  },
  'two operations of a rank exchanged': (operations, choose) => {
    const at = choose(operations.length)
    const next = operations[at + 1]
    if (next?.rank !== operations[at].rank) return false
    ;[next.phase, operations[at].phase] = [operations[at].phase, next.phase]
    return swapped(operations, at)
  },
  'an operation in another phase': (operations, choose) => {
    const of = pick(operations, choose)!
    of.phase += choose(2) === 0 && of.phase > 0 ? -1 : 1
    operations.sort((a, b) => a.rank - b.rank || a.phase - b.phase)
    return true
  },
  'another kind of operation': (operations, choose) => {
    const of = pick(operations, choose)!
    of.kind = other(of.kind, 4, choose)
    return true
  },
  'a send for a receive': (operations, choose) => {
    const of = pick(operations, choose, aMessage)
    if (of === null) return false
    of.kind = 1 - of.kind
    for (const entry of of.entries) [entry.from, entry.to] = [entry.to, entry.from]
    return true
  },
  'another peer': (operations, choose, { specification }) => {
    const of = pick(operations, choose, aMessage)
    if (of !== null) of.peer = other(of.peer, specification.ranks, choose)
    return of !== null
  },
  'another tag': (operations, choose) => {
    const of = pick(operations, choose, aMessage)
    if (of !== null) of.tag = other(of.tag, 3, choose)
    return of !== null
  },
  'a wait for another phase': (operations, choose) => {
    const of = pick(operations, choose)!
    of.after = choose(2) === 0 ? of.after + choose(5) - 2 : choose(of.phase + 2) - 1
    return true
  },
  'an entry dropped': (operations, choose) => {
    const of = pick(operations, choose, hasEntries)
    of?.entries.splice(choose(of.entries.length), 1)
    return of !== null
  },
  'an entry twice': (operations, choose) => {
    const of = pick(operations, choose, hasEntries)
    if (of === null) return false
    const at = choose(of.entries.length)
    of.entries.splice(at, 0, { ...of.entries[at] })
    return true
  },
  'two entries exchanged': (operations, choose) => {
    const of = pick(operations, choose, ({ entries }) => entries.length > 1)
    return of !== null && swapped(of.entries, choose(of.entries.length - 1))
  },
  'another block or part named': atEntry((entry, _, choose, { specification }) => {
    const { partStart, ranks } = specification
    if (entry.block >= 0) entry.block = other(entry.block, partStart[ranks], choose)
    else entry.block = ~other(~entry.block, partStart[1], choose)
    return true
  }),
  'a partial result named a block, or the reverse': atEntry((entry, _, choose, { specification }) => {
    const { partStart, ranks } = specification
    entry.block = entry.block < 0 ? choose(partStart[ranks]) : ~choose(Math.max(1, partStart[1]))
    return true
  }),
  'another place read': atEntry((entry, of, choose, schedule) => {
    entry.from = other(entry.from, placesOf(schedule, of.rank), choose)
    return of.kind !== opKind.receive
  }),
  'another right operand': (operations, choose, schedule) => {
    const of = pick(operations, choose, ({ kind }) => kind === opKind.combine)
    if (of !== null) of.entries[0].right = other(of.entries[0].right, placesOf(schedule, of.rank), choose)
    return of !== null
  },
  'another place written': atEntry((entry, of, choose, schedule) => {
    entry.to = other(entry.to, placesOf(schedule, of.rank), choose)
    return of.kind !== opKind.send
  }),
  'operands exchanged': (operations, choose) => {
    const of = pick(operations, choose, ({ kind }) => kind === opKind.combine)
    if (of === null) return false
    const [entry] = of.entries
    ;[entry.from, entry.right] = [entry.right, entry.from]
    return true
  },
  'the same block or part named at both ends of a message': (operations, choose, { specification }) => {
    const sent = pick(operations, choose, (o) => o.kind === opKind.send && hasEntries(o))
    if (sent === null) return false
    const received = operations.find(
      (o) => o.kind === opKind.receive && o.rank === sent.peer && o.peer === sent.rank && o.tag === sent.tag,
    )
    const at = choose(sent.entries.length)
    if (received?.entries[at] === undefined) return false
    const { partStart, ranks } = specification
    const block = choose(2) === 0 ? choose(partStart[ranks]) : ~choose(Math.max(1, partStart[1]))
    sent.entries[at].block = block
    received.entries[at].block = block
    return true
  },
}

/** Names of the changes. */
export const changeNames: readonly string[] = Object.keys(changes)

/** A schedule with one change of an operation or an entry. */
export function mutantOf(schedule: Schedule, choose: Choose): Mutant | null {
  const name = changeNames[choose(changeNames.length)]
  const operations = operationsOf(schedule)
  if (operations.length === 0 || !changes[name](operations, choose, schedule)) return null
  return { name, schedule: withOperations(schedule, operations) }
}

const scheduleArrays = [
  'staging',
  'opStart',
  'opPhase',
  'opKind',
  'opPeer',
  'opTag',
  'opAfter',
  'entryStart',
  'entryBlock',
  'entryFrom',
  'entryRight',
  'entryTo',
] as const
const specificationArrays = ['partStart', 'ownStart', 'ownBlock', 'slotStart', 'slotTerm'] as const
const reductionArrays = ['runStart', 'first', 'count', 'stride'] as const

/**
 * A schedule, or its specification, with one number of one array changed, or an array that is one too long or
 * too short.
 */
export function malformedMutantOf(schedule: Schedule, choose: Choose): Mutant {
  const copy = structuredClone(schedule) as { -readonly [K in keyof Schedule]: Schedule[K] }
  const owners: readonly (readonly [object, readonly string[]])[] = [
    [copy, scheduleArrays],
    [copy.specification, specificationArrays],
    [copy.specification.reductions, reductionArrays],
  ]
  const [changed, names] = owners[choose(owners.length)]
  const owner = changed as Record<string, Int32Array | Uint8Array>
  const name = names[choose(names.length)]
  const array = owner[name]
  const at = choose(Math.max(array.length, 1))
  const extremes = [0, -1, 1, 2 ** 31 - 1, -(2 ** 31), 2 ** 24, array.length]
  if (choose(8) === 0) {
    owner[name] = choose(2) === 0 ? array.slice(1) : withNumber(array, choose(4))
    return { name: `${name} of another length`, schedule: copy }
  }
  array[at] = choose(2) === 0 ? array[at] + choose(7) - 3 : extremes[choose(extremes.length)]
  return { name: `${name}[${at}] = ${array[at]}`, schedule: copy }
}

function withNumber<A extends Int32Array | Uint8Array>(array: A, last: number): A {
  const longer = (
    array instanceof Uint8Array ? new Uint8Array(array.length + 1) : new Int32Array(array.length + 1)
  ) as A
  longer.set(array)
  longer[array.length] = last
  return longer
}
