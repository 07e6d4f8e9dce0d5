import { RankweaveError } from '../../errors.js'

/** A message of the protocol that contradicts what its receiver knows, or the order in which a rank sends. */
export function violation(rank: number, from: number, what: string): RankweaveError {
  return new RankweaveError('ERR_PLAN_MISMATCH', `planning, rank ${rank}: ${what} from rank ${from}`, {
    details: { rank, from },
  })
}
