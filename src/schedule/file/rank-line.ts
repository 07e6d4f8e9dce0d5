import { opKind } from '../ir.js'
import { addEntry, type OperationLog } from '../operation-log.js'
import type { Reject } from './reject.js'

/** A rank line without its operations. */
export interface RankLine {
  readonly rank: number
  readonly out: readonly number[]
  readonly in: readonly number[]
  readonly staging: number
}

type Json = Readonly<Record<string, unknown>>

/**
 * Checks a rank line, by hand because it has one object per message, and appends its operations to the log. `verify`
 * checks whether blocks and places exist.
 */
export function readRankLine(
  line: unknown,
  { ranks, phases }: { readonly ranks: number; readonly phases: number },
  log: OperationLog,
  reject: Reject,
): RankLine {
  const object = objectWith(line, ['rank', 'out', 'in', 'staging', 'phases'], 'the line', reject)
  const rank = integer(object['rank'], ranks, 'rank', reject)
  const list = object['phases']
  if (!Array.isArray(list) || list.length !== phases) {
    reject('phases', `an array of the ${phases} phases in the header`, list)
  }
  for (let phase = 0; phase < phases; phase++) readPhase(list[phase], rank, phase, ranks, log, reject)
  return {
    rank,
    out: integers(object['out'], ranks, 'out', reject),
    in: integers(object['in'], ranks, 'in', reject),
    staging: integer(object['staging'], limit, 'staging', reject),
  }
}

const limit = 0x80000000

const lists = [
  { name: 'send', kind: opKind.send, peer: 'to', keys: ['to', 'tag', 'blocks', 'read'] },
  { name: 'receive', kind: opKind.receive, peer: 'from', keys: ['from', 'tag', 'blocks', 'write'] },
  { name: 'copy', kind: opKind.copy, peer: null, keys: ['blocks', 'read', 'write'] },
] as const

function readPhase(
  value: unknown,
  rank: number,
  phase: number,
  ranks: number,
  log: OperationLog,
  reject: Reject,
): void {
  const object = objectOf(value, `phases[${phase}]`, reject)
  for (const name in object) {
    if (name !== 'send' && name !== 'receive' && name !== 'copy') {
      reject(`phases[${phase}]`, 'only "send", "receive" and "copy"', name)
    }
  }
  for (const { name, kind, peer, keys } of lists) {
    const operations = object[name]
    if (operations === undefined) continue
    if (!Array.isArray(operations)) reject(`phases[${phase}].${name}`, 'an array', operations)
    for (let i = 0; i < operations.length; i++) {
      // The place in the line is only formatted for an error.
      const rejectHere: Reject = (where, expected, got) =>
        reject(`phases[${phase}].${name}[${i}]${where === '' ? '' : '.'}${where}`, expected, got)
      const operation = objectWith(operations[i], keys, '', rejectHere)
      log.open(
        rank,
        phase,
        kind,
        peer === null ? -1 : integer(operation[peer], ranks, peer, rejectHere),
        peer === null ? 0 : integer(operation['tag'], limit, 'tag', rejectHere),
      )
      const blocks = integers(operation['blocks'], limit, 'blocks', rejectHere)
      const places = integers(operation[keys[keys.length - 1]], limit, keys[keys.length - 1], rejectHere)
      const reads = kind === opKind.copy ? integers(operation['read'], limit, 'read', rejectHere) : places
      if (places.length !== blocks.length || reads.length !== blocks.length) {
        rejectHere('', `as many places as blocks, ${blocks.length}`, operation)
      }
      for (let e = 0; e < blocks.length; e++) addEntry(log, kind, blocks[e], reads[e], places[e])
    }
  }
}

function objectOf(value: unknown, where: string, reject: Reject): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) reject(where, 'an object', value)
  return value as Json
}

/** An object with exactly these keys. */
function objectWith(value: unknown, keys: readonly string[], where: string, reject: Reject): Json {
  const object = objectOf(value, where, reject)
  let expected = 0
  for (const key of keys) if (object[key] !== undefined) expected++
  let found = 0
  for (const _ in object) found++
  if (expected !== keys.length || found !== keys.length) {
    reject(where, `an object with the keys ${keys.join(', ')}`, value)
  }
  return object
}

function integer(value: unknown, end: number, where: string, reject: Reject): number {
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) >= end) {
    reject(where, `an integer from 0 to ${end - 1}`, value)
  }
  return value as number
}

function integers(value: unknown, end: number, where: string, reject: Reject): readonly number[] {
  if (!Array.isArray(value)) reject(where, 'an array of integers', value)
  for (let i = 0; i < value.length; i++) {
    const item: unknown = value[i]
    if (!Number.isInteger(item) || (item as number) < 0 || (item as number) >= end) {
      reject(`${where}[${i}]`, `an integer from 0 to ${end - 1}`, item)
    }
  }
  return value as readonly number[]
}
