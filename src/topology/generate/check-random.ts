import { RankweaveError, shown } from '../../errors.js'

/** @throws ERR_TOPOLOGY */
export function checkSeed(seed: number): void {
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new RankweaveError('ERR_TOPOLOGY', `expected an integer as seed, got ${shown(seed)}`)
}

/** @throws ERR_TOPOLOGY unless the value is a number from 0 to 1 */
export function checkProbability(what: string, value: number): void {
  if (typeof value !== 'number' || !(value >= 0 && value <= 1))
    throw new RankweaveError('ERR_TOPOLOGY', `expected ${what} from 0 to 1, got ${shown(value)}`)
}

/** @throws ERR_TOPOLOGY unless the value is a number within bounds, which the words name */
export function checkNumber(words: string, value: unknown, isWithin: (number: number) => boolean): void {
  if (typeof value === 'number' && isWithin(value)) return
  throw new RankweaveError('ERR_TOPOLOGY', `expected ${words}, got ${shown(value)}`)
}
