import { rangeAt } from '../../../../base/search.js'
import type { Algorithm } from '../../../../collective/algorithm.js'
import { algorithmOf } from '../../../../collective/algorithms.js'
import { isRankweaveError, RankweaveError } from '../../../../errors.js'
import type { Collective } from '../../../../schedule/specification.js'
import { elementSizeBytes, typeCode } from '../../../datatype/elements.js'
import { processOfRank } from '../blocks/placement.js'
import type { CollectiveContext } from '../plan/collective-context.js'
import { type CollectivePlan, shapeOf } from '../plan/collective-plan.js'
import { defaultChoice, defaultSegments } from '../plan/default-rule.js'
import type { Method } from '../plan/method.js'
import type { Participants } from '../plan/participants.js'
import { factsOf } from '../plan/planned-move.js'
import { participantsFor, requiredOrder, serves } from '../plan/required-order.js'
import type { Reduction } from './reduction.js'

/**
 * The plan of a reduction; null where it is reduced along the tree of processes without one. Needs the location of every
 * rank unless {@link isPlannedUnplaced}.
 *
 * @throws ERR_ALGORITHM where the algorithm that the ranks have chosen cannot serve
 */
export function planReduction(
  state: CollectiveContext,
  collective: Collective,
  reduction: Reduction,
  method: Method | undefined,
  root = 0,
): CollectivePlan | null {
  const { op, type, countElems } = reduction
  const required = requiredOrder(reduction, method?.isAnyOrder === true)
  const sizeBytes = countElems * elementSizeBytes(type)
  const named = method?.algorithm
  if (named === undefined && state.wasDistributed && required !== 'any') return null
  if (named !== undefined && type === typeCode.value)
    throw misfit(named, 'it takes typed arrays and numbers, the data are values')
  const choice =
    named === undefined
      ? defaultChoice(factsOf(state, collective, sizeBytes, required))
      : { id: named.id, segments: defaultSegments(named.id, sizeBytes) }
  if (choice === null || type === typeCode.value) return null
  const algorithm = algorithmOf(choice.id)
  const segments = method?.segments ?? choice.segments
  const participants = state.plans.participants(participantsFor(required, collective))
  if (participants === null) {
    if (named === undefined) return null
    throw misfit(named, 'the ranks of the communicator are spread over too many runs')
  }
  const shape = shapeOf(participants, participantOf(state, participants, root), segments)
  const reason = algorithm.refuses?.(shape) ?? null
  const isServed = reason === null && serves(algorithm, shape, required)
  const parts = collective === 'reduce-scatter' ? shape.ranks : (algorithm.parts?.(shape) ?? segments)
  const isCut = parts > 1 && op.kind === 'function'
  if (isServed && !isCut) return state.plans.plan(algorithm, participants, shape.root!, segments)
  if (named === undefined) return null
  if (reason !== null) throw misfit(named, reason)
  if (isCut) throw misfit(named, `it cuts arrays into parts, and operation ${op.name} takes whole arrays`)
  throw misfit(
    named,
    required === 'tree'
      ? "it associates differently from the tree, which changes the bits of the result: pass order: 'any'"
      : `it does not combine in rank order, and operation ${op.name} does not commute`,
  )
}

/** Whether a reduction whose participants are in any order can be planned where the locations of the ranks are not known. */
export function isPlannedUnplaced(reduction: Reduction, method: Method | undefined): boolean {
  return method?.algorithm === undefined || requiredOrder(reduction, method.isAnyOrder) === 'any'
}

/**
 * A reduction that runs by a plan if it has one, which is made as soon as the location of every rank is known: when a rank
 * calls, or else when all have.
 */
export class MaybePlanned<R> {
  readonly #make: () => R | null
  #made: R | null | undefined

  /**
   * @param make null for a reduction without a plan
   * @throws ERR_ALGORITHM from `make`
   */
  constructor(isPlaced: boolean, make: () => R | null) {
    this.#make = make
    if (isPlaced) this.#made = make()
  }

  /** Within a run: the error that all ranks get, if the algorithm cannot serve. */
  get(): R | null | RankweaveError {
    if (this.#made !== undefined) return this.#made
    try {
      this.#made = this.#make()
      return this.#made
    } catch (error) {
      if (isRankweaveError(error)) return error
      throw error
    }
  }
}

function participantOf(state: CollectiveContext, { kind, firstRank }: Participants, root: number): number {
  if (root === 0) return 0
  return kind === 'processes' ? processOfRank(state.processes, root) : rangeAt(firstRank!, root)
}

function misfit({ id }: Algorithm, reason: string): RankweaveError {
  return new RankweaveError('ERR_ALGORITHM', `${id}: ${reason}`)
}
