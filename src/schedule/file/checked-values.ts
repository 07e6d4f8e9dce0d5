import { wrongValue } from '../../errors.js'
import type { Reject } from './reject.js'

/** Checks of parsed JSON are written by hand, because a rank line has one object per message. */
export type Json = Readonly<Record<string, unknown>>

/** Integers of a file are below this. */
export const limit = 0x80000000

export function objectOf(value: unknown, where: string, reject: Reject): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) reject(where, 'an object', value)
  return value as Json
}

/** Checks that a value is an object with exactly these keys. */
export function objectWith(value: unknown, keys: readonly string[], where: string, reject: Reject): Json {
  const object = objectOf(value, where, reject)
  let expected = 0
  for (const key of keys) if (object[key] !== undefined) expected++
  let found = 0
  for (const _ in object) found++
  if (expected !== keys.length || found !== keys.length)
    reject(where, `an object with the keys ${keys.join(', ')}`, value)
  return object
}

export function arrayOf(value: unknown, where: string, reject: Reject): readonly unknown[] {
  if (!Array.isArray(value)) reject(where, 'an array', value)
  return value as readonly unknown[]
}

/** Checks that a value is an integer from 0 to `end - 1`. */
export function integer(value: unknown, end: number, where: string, reject: Reject): number {
  if (!isIntegerBelow(value, end)) reject(where, `an integer from 0 to ${end - 1}`, value)
  return value as number
}

export function integers(value: unknown, end: number, where: string, reject: Reject): readonly number[] {
  if (!Array.isArray(value)) reject(where, 'an array of integers', value)
  for (let i = 0; i < value.length; i++) {
    const item: unknown = value[i]
    if (!isIntegerBelow(item, end)) reject(`${where}[${i}]`, `an integer from 0 to ${end - 1}`, item)
  }
  return value as readonly number[]
}

export function isIntegerBelow(value: unknown, end: number): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < end
}

/** @throws ERR_ARGUMENT unless `lines` is iterable */
export function requireLines(where: string, lines: unknown): void {
  const { [Symbol.iterator]: next, [Symbol.asyncIterator]: nextLater } = Object(lines) as Partial<
    Iterable<string> & AsyncIterable<string>
  >
  if (typeof (next ?? nextLater) === 'function') return
  throw wrongValue('ERR_ARGUMENT', `${where}: expected an iterable`, lines)
}
