import { opKind, partialResult } from '../ir.js'
import { addEntry, type OperationLog } from '../operation-log.js'
import { integer, integers, isIntegerBelow, type Json, limit, objectWith } from './checked-values.js'
import type { FormatVersion } from './format-version.js'
import type { Reject } from './reject.js'

/** The phase of a rank whose operations are read. */
export interface PhaseTarget {
  readonly version: FormatVersion
  readonly ranks: number
  readonly log: OperationLog
  readonly rank: number
  readonly phase: number
}

/** Checks one operation of a list, and appends it to the log. */
export type ReadOperation = (value: unknown, target: PhaseTarget, reject: Reject) => void

/** Reads a list of operations, which may be absent. `where` is its phase, for messages. */
export function readList(
  list: unknown,
  where: () => string,
  read: ReadOperation,
  target: PhaseTarget,
  reject: Reject,
): void {
  if (list === undefined) return
  if (!Array.isArray(list)) reject(where(), 'an array', list)
  for (let i = 0; i < list.length; i++) {
    // The place in the line is formatted only for an error.
    read(list[i], target, (at, expected, got) =>
      reject(`${where()}[${i}]${at === '' ? '' : '.'}${at}`, expected, got),
    )
  }
}

export const readSend = messageReader(opKind.send, 'to', 'read')
export const readReceive = messageReader(opKind.receive, 'from', 'write')

function messageReader(kind: number, peer: string, place: string): ReadOperation {
  const keys = [peer, 'tag', 'blocks', place]
  const waitingKeys = [...keys, 'after']
  return (value, target, reject) => {
    const { log, rank, phase, ranks, version } = target
    const waits = version >= 3 && Object.hasOwn(Object(value), 'after')
    const operation = objectWith(value, waits ? waitingKeys : keys, '', reject)
    const peerRank = integer(operation[peer], ranks, peer, reject)
    log.open(rank, phase, kind, peerRank, integer(operation['tag'], limit, 'tag', reject))
    const blocks = readBlocks(operation, 'blocks', target, reject)
    const places = readPlaces(operation, place, blocks.length, reject)
    for (let e = 0; e < blocks.length; e++) addEntry(log, kind, blocks[e], places[e], -1)
    if (waits) log.wait(earlierPhase(operation['after'], phase, reject))
  }
}

function earlierPhase(after: unknown, phase: number, reject: Reject): number {
  if (!isIntegerBelow(after, phase)) reject('after', `a phase before its own, ${phase}`, after)
  return after as number
}

/** Reads a copy of version 1. */
export const readCopy = copyReader('blocks')

const readNamedCopy = copyReader('copy')

function copyReader(name: string): ReadOperation {
  const keys = [name, 'read', 'write']
  return (value, target, reject) => {
    const { log, rank, phase } = target
    const operation = objectWith(value, keys, '', reject)
    log.open(rank, phase, opKind.copy, -1, 0)
    const blocks = readBlocks(operation, name, target, reject)
    const from = readPlaces(operation, 'read', blocks.length, reject)
    const to = readPlaces(operation, 'write', blocks.length, reject)
    for (let e = 0; e < blocks.length; e++) log.add(blocks[e], from[e], to[e])
  }
}

const combineKeys = ['combine', 'left', 'right', 'write']

/** Reads a copy or a combination. */
export const readLocal: ReadOperation = (value, target, reject) => {
  const isCombination = typeof value === 'object' && value !== null && Object.hasOwn(value, 'combine')
  if (!isCombination) return readNamedCopy(value, target, reject)
  const { log, rank, phase } = target
  const operation = objectWith(value, combineKeys, '', reject)
  log.open(rank, phase, opKind.combine, -1, 0)
  const parts = integers(operation['combine'], limit, 'combine', reject)
  const left = readPlaces(operation, 'left', parts.length, reject)
  const right = readPlaces(operation, 'right', parts.length, reject)
  const to = readPlaces(operation, 'write', parts.length, reject)
  for (let e = 0; e < parts.length; e++) log.add(partialResult(parts[e]), left[e], to[e], right[e])
}

/** Reads blocks and, from version 2 on, partial results. */
function readBlocks(operation: Json, name: string, target: PhaseTarget, reject: Reject): readonly number[] {
  const list = operation[name]
  if (target.version === 1 || !Array.isArray(list)) return integers(list, limit, name, reject)
  return list.some(isObject)
    ? list.map((item, i) => readName(item, `${name}[${i}]`, reject))
    : integers(list, limit, name, reject)
}

function isObject(value: unknown): boolean {
  return typeof value === 'object'
}

function readName(value: unknown, where: string, reject: Reject): number {
  if (isIntegerBelow(value, limit)) return value as number
  const { partial } = (value ?? {}) as Json
  if (!isIntegerBelow(partial, limit) || Object.keys(value as Json).length !== 1)
    reject(where, `an integer from 0 to ${limit - 1}, or { partial } with one`, value)
  return partialResult(partial as number)
}

function readPlaces(operation: Json, name: string, count: number, reject: Reject): readonly number[] {
  const places = integers(operation[name], limit, name, reject)
  if (places.length !== count) reject('', `as many places as blocks, ${count}`, operation)
  return places
}
