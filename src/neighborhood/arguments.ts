import { requireFixed, type TypedArray } from '../comm/datatype/elements.js'
import { RankweaveError, shown } from '../errors.js'

/** @throws ERR_ARGUMENT unless `options` is an object */
export function requireOptions(where: string, options: unknown): void {
  if (typeof options === 'object' && options !== null) return
  throw new RankweaveError('ERR_ARGUMENT', `${where}: expected an object of options, got ${shown(options)}`)
}

/**
 * Anything with a length whose first element, if any, is a number; what the numbers must be is checked elsewhere.
 *
 * @throws ERR_ARGUMENT; ERR_TYPE for a typed array over a detached or resizable buffer
 */
export function requireNumbers(where: string, what: string, list: unknown): void {
  if (ArrayBuffer.isView(list)) requireFixed(list as TypedArray)
  const { length, 0: first } = Object(list) as { length?: unknown; 0?: unknown }
  const isList = typeof list === 'object' && Number.isInteger(length) && (length as number) >= 0
  if (isList && (length === 0 || typeof first === 'number')) return
  throw new RankweaveError(
    'ERR_ARGUMENT',
    `${where}: expected ${what} as an array of numbers, got ${shown(list)}`,
  )
}
