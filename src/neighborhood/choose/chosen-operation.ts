import { RankweaveError, shown } from '../../errors.js'
import type { NeighborOperation } from '../plan/plan-operation.js'

/**
 * What a strategy is chosen for. A neighbor reduction in list order moves blocks as an allgather does; one in
 * any order combines on the way.
 */
export type ChosenOperation = Exclude<NeighborOperation, 'neighbor-reduce'>

const chosenOperations = ['neighbor-allgather', 'neighbor-alltoall', 'neighbor-reduce-any'] as const

/** @throws ERR_ARGUMENT for an operation that nothing is chosen for */
export function checkedChosen(where: string, operation: unknown): ChosenOperation {
  if (chosenOperations.includes(operation as ChosenOperation)) return operation as ChosenOperation
  throw new RankweaveError(
    'ERR_ARGUMENT',
    `${where}: expected an operation among ${chosenOperations.join(', ')}, got ${shown(operation)}`,
  )
}
