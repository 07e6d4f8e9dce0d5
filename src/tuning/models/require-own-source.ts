import { RankweaveError } from '../../errors.js'
import type { TuningFile } from './tuning-file.js'

/**
 * Refuses the decisions of an MPI library, and those that were measured on another fabric. A fabric is known by its
 * name, which more words may follow, as in `mpi (Open MPI 4.1.4)`.
 *
 * @param fabric of the world
 * @throws ERR_TUNING
 */
export function requireOwnSource(where: string, { source }: TuningFile, fabric: string): void {
  const { kind, name, machine } = source
  const measured = `'${name}' on '${machine}'`
  if (kind === 'mpi') {
    const expected = `${where}: expected decisions for the algorithms of Rankweave, got those of ${measured}`
    const remedy = 'they are for MPI programs, by the preloaded library: RANKWEAVE_SHIM=tune:FILE'
    throw new RankweaveError('ERR_TUNING', `${expected}; ${remedy}`)
  }
  if (kind !== 'rankweave' || name === fabric || name.startsWith(`${fabric} `)) return
  const message = `${where}: expected decisions measured on fabric ${fabric}, got those of ${measured}`
  throw new RankweaveError('ERR_TUNING', message)
}
