import type { OperationLog } from '../operation-log.js'
import { arrayOf, integer, integers, isIntegerBelow, limit, objectOf, objectWith } from './checked-values.js'
import type { ScheduleFileHeader } from './header.js'
import { type PhaseTarget, readCopy, readList, readLocal, readReceive, readSend } from './read-operations.js'
import type { Reject } from './reject.js'
import type { BlockRun, SlotTerm } from './specification-rows.js'

/** A rank line without its operations. Lists that the version or the lack of a topology excludes are empty. */
export interface RankLine {
  readonly rank: number
  readonly staging: number
  readonly out: readonly number[]
  readonly in: readonly number[]
  readonly own: readonly number[]
  readonly slots: readonly SlotTerm[]
}

/** The facts of the header against which rank lines are checked. */
export type LineBounds = Pick<ScheduleFileHeader, 'version' | 'ranks' | 'phases' | 'collective'> & {
  readonly hasTopology: boolean
  readonly blocks: number
}

const keysOf = {
  version1: ['rank', 'out', 'in', 'staging', 'phases'],
  topology: ['rank', 'out', 'in', 'own', 'slots', 'staging', 'phases'],
  others: ['rank', 'own', 'slots', 'staging', 'phases'],
}

/**
 * Checks a rank line and appends its operations to the log. `verify` checks whether the blocks and places
 * that operations name exist; own blocks and slots are checked here.
 */
export function readRankLine(line: unknown, bounds: LineBounds, log: OperationLog, reject: Reject): RankLine {
  const { blocks, collective, hasTopology, ranks, version } = bounds
  const keys = version === 1 ? keysOf.version1 : hasTopology ? keysOf.topology : keysOf.others
  const object = objectWith(line, keys, 'the line', reject)
  const rank = integer(object['rank'], ranks, 'rank', reject)
  if (version === 1) readAllPhases(object['phases'], rank, bounds, log, reject)
  else readPhases(object['phases'], rank, bounds, log, reject)
  const out = hasTopology ? integers(object['out'], ranks, 'out', reject) : []
  const sources = hasTopology ? integers(object['in'], ranks, 'in', reject) : []
  const own = version === 1 ? [rank] : integers(object['own'], blocks, 'own', reject)
  const slots = version === 1 ? sources : readSlots(object['slots'], blocks, reject)
  const staging = integer(object['staging'], limit, 'staging', reject)
  // The demands of other collectives follow from several lines.
  if (hasTopology && collective === 'neighbor-allgather') {
    requireSame(own, [rank], 'own', 'the block of the rank, as there is a topology', reject)
    requireSame(slots, sources, 'slots', 'the sources in "in", as there is a topology', reject)
  }
  if (own.length + slots.length + staging >= limit)
    reject('staging', `fewer than ${limit} places of a rank`, staging)
  return { rank, staging, out, in: sources, own, slots }
}

/** Reads version 1, which has an object for each phase of the header. */
function readAllPhases(
  list: unknown,
  rank: number,
  bounds: LineBounds,
  log: OperationLog,
  reject: Reject,
): void {
  const { phases } = bounds
  if (!Array.isArray(list) || list.length !== phases)
    reject('phases', `an array of the ${phases} phases in the header`, list)
  for (let phase = 0; phase < phases; phase++) {
    const object = objectOf(list[phase], `phases[${phase}]`, reject)
    for (const name in object) {
      if (name === 'send' || name === 'receive' || name === 'copy') continue
      reject(`phases[${phase}]`, 'only "send", "receive" and "copy"', name)
    }
    const target = { ...bounds, log, rank, phase }
    readList(object['send'], () => `phases[${phase}].send`, readSend, target, reject)
    readList(object['receive'], () => `phases[${phase}].receive`, readReceive, target, reject)
    readList(object['copy'], () => `phases[${phase}].copy`, readCopy, target, reject)
  }
}

/** Reads the phases in which the rank has operations, ascending. */
function readPhases(
  value: unknown,
  rank: number,
  bounds: LineBounds,
  log: OperationLog,
  reject: Reject,
): void {
  const list = arrayOf(value, 'phases', reject)
  let before = -1
  for (let i = 0; i < list.length; i++) {
    const object = objectOf(list[i], `phases[${i}]`, reject)
    for (const name in object) {
      if (name === 'phase' || name === 'send' || name === 'receive' || name === 'local') continue
      reject(`phases[${i}]`, 'only "phase", "send", "receive" and "local"', name)
    }
    const phase = integer(object['phase'], bounds.phases, `phases[${i}].phase`, reject)
    if (phase <= before) reject(`phases[${i}].phase`, `a phase above ${before}, the one before`, phase)
    before = phase
    const target: PhaseTarget = { ...bounds, log, rank, phase }
    readList(object['send'], () => `phases[${i}].send`, readSend, target, reject)
    readList(object['receive'], () => `phases[${i}].receive`, readReceive, target, reject)
    readList(object['local'], () => `phases[${i}].local`, readLocal, target, reject)
  }
}

function readSlots(value: unknown, blocks: number, reject: Reject): readonly SlotTerm[] {
  const list = arrayOf(value, 'slots', reject)
  return list.map((term, slot) => {
    if (isIntegerBelow(term, blocks)) return term as number
    if (typeof term !== 'object' || term === null)
      reject(`slots[${slot}]`, `a block from 0 to ${blocks - 1}, or { reduce } with runs of blocks`, term)
    const where = `slots[${slot}].reduce`
    const runs = arrayOf(objectWith(term, ['reduce'], `slots[${slot}]`, reject)['reduce'], where, reject)
    if (runs.length === 0) reject(where, 'at least one run', runs)
    for (let i = 0; i < runs.length; i++) {
      if (!isRun(runs[i], blocks))
        reject(`${where}[${i}]`, `[first, count, stride] of blocks from 0 to ${blocks - 1}`, runs[i])
    }
    return runs as readonly BlockRun[]
  })
}

function isRun(value: unknown, blocks: number): boolean {
  if (!Array.isArray(value) || value.length !== 3) return false
  const [first, count, stride] = value
  if (!isIntegerBelow(first, blocks) || !isIntegerBelow(count, limit) || !isIntegerBelow(stride, limit))
    return false
  return count > 0 && (stride > 0 || count === 1) && first + (count - 1) * stride < blocks
}

function requireSame(
  given: readonly unknown[],
  expected: readonly number[],
  where: string,
  what: string,
  reject: Reject,
): void {
  if (given.length === expected.length && expected.every((value, i) => given[i] === value)) return
  reject(where, what, given)
}
