import { RankweaveError } from '../../errors.js'

/** @throws ERR_TOPOLOGY */
export function checkSeed(seed: number): void {
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new RankweaveError('ERR_TOPOLOGY', `expected an integer as seed, got ${seed}`)
}

/** @throws ERR_TOPOLOGY unless the value is a number from 0 to 1 */
export function checkProbability(what: string, value: number): void {
  if (!(value >= 0 && value <= 1))
    throw new RankweaveError('ERR_TOPOLOGY', `expected ${what} from 0 to 1, got ${value}`)
}
