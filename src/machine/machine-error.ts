import { RankweaveError } from '../errors.js'

/** @throws ERR_MACHINE */
export function failMachine(message: string, details: Record<string, string | number> = {}): never {
  throw new RankweaveError('ERR_MACHINE', message, { details })
}
