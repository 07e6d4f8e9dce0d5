import { RankweaveError, shown } from '../errors.js'

/** @throws ERR_ARGUMENT unless `options` is an object */
export function requireOptions(where: string, options: unknown): void {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return
  throw new RankweaveError('ERR_ARGUMENT', `${where}: expected an object of options, got ${shown(options)}`)
}

/** @throws ERR_ARGUMENT unless `value` is a string */
export function requireText(where: string, value: unknown): asserts value is string {
  if (typeof value === 'string') return
  throw new RankweaveError('ERR_ARGUMENT', `${where}: expected a text, got ${shown(value)}`)
}

/** Whether a value is an integer of at least 0 that numbers hold exactly. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
