import { requireOptions } from '../base/require-options.js'
import { RankweaveError, shown } from '../errors.js'
import { type ChosenOperation, checkedChosen } from '../neighborhood/choose/chosen-operation.js'

/** Bytes of every block: an integer >= 0. */
export interface BlockLength {
  readonly bytes?: number | null
}

/** What a choice is for. */
export interface ChoiceOptions extends BlockLength {
  /** Default `neighbor-allgather`. */
  readonly operation?: ChosenOperation
}

/** @throws ERR_ARGUMENT for an operation that nothing is chosen for */
export function checkedOperation(where: string, { operation }: ChoiceOptions): ChosenOperation {
  return checkedChosen(where, operation ?? 'neighbor-allgather')
}

/** @throws ERR_ARGUMENT for a length that is none */
export function checkedLength(where: string, blocks: BlockLength): number | null {
  requireOptions(where, blocks)
  const { bytes = null } = blocks
  if (bytes === null || (Number.isSafeInteger(bytes) && bytes >= 0)) return bytes
  throw new RankweaveError('ERR_ARGUMENT', `${where}: expected bytes as an integer >= 0, got ${shown(bytes)}`)
}
