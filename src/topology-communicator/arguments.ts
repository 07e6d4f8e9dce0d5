import { requireKnownOptions } from '../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../base/option.js'
import { wrongValue } from '../errors.js'
import { requireFixed, type TypedArray } from '../messages/datatype/elements.js'
import { type ChosenOperation, checkedChosen } from '../neighborhood/choose/auto.js'
import type { PlanStore } from '../neighborhood/plan/plan-store.js'

/**
 * Accepts any list whose first element, if it has one, is a number; other functions check the values.
 *
 * @throws ERR_ARGUMENT; ERR_TYPE for a typed array over a detached or resizable buffer
 */
export function requireNumbers(where: string, what: string, list: unknown): void {
  if (ArrayBuffer.isView(list)) requireFixed(list as TypedArray)
  const { length, 0: first } = Object(list) as { length?: unknown; 0?: unknown }
  const isList = typeof list === 'object' && Number.isInteger(length) && (length as number) >= 0
  if (isList && (length === 0 || typeof first === 'number')) return
  throw wrongValue('ERR_ARGUMENT', `${where}: expected ${what} as an array of numbers`, list)
}

/** Copies a list, which the program may change or transfer while the call is in progress. */
export function snapshotOf<L extends ArrayLike<number> | undefined>(list: L): L {
  if (list === undefined) return list
  return (ArrayBuffer.isView(list)
    ? (list as unknown as TypedArray).slice()
    : Array.from(list)) as unknown as L
}

/** @throws ERR_RANK unless all are ranks of a communicator of this size */
export function requireRanks(where: string, what: string, ranks: ArrayLike<number>, size: number): void {
  requireNumbers(where, `${what}s`, ranks)
  for (let i = 0; i < ranks.length; i++) {
    const rank = ranks[i]
    if (!Number.isInteger(rank) || rank < 0 || rank >= size)
      throw wrongValue('ERR_RANK', `${where}: ${what} ${i}: expected 0 to ${size - 1}`, rank, { rank, size })
  }
}

/** @throws ERR_COUNT for another number of values than expected */
export function requireLength(
  where: string,
  what: string,
  values: ArrayLike<number> | undefined,
  expected: number,
): void {
  if (values === undefined) return
  requireNumbers(where, `${what}s`, values)
  if (values.length === expected) return
  throw wrongValue('ERR_COUNT', `${where}: expected ${expected} ${what}s`, values.length)
}

/** @throws ERR_COUNT for degrees that are negative or do not add up */
export function requireDegrees(where: string, degrees: ArrayLike<number>, destinations: number): void {
  let total = 0
  for (let i = 0; i < degrees.length; i++) {
    if (!Number.isInteger(degrees[i]) || degrees[i] < 0)
      throw wrongValue('ERR_COUNT', `${where}: degree ${i}: expected an integer >= 0`, degrees[i])
    total += degrees[i]
  }
  if (total !== destinations) {
    const expected = `${where}: expected degrees that add up to the ${destinations} destinations`
    throw wrongValue('ERR_COUNT', expected, total)
  }
}

/** The number of bytes of every block: an integer >= 0. */
export interface BlockLength {
  readonly bytes?: number | null
}

const blockLength: OptionTable<BlockLength> = uncheckedOptions('bytes')

/** The options of a choice. */
export interface ChoiceOptions extends BlockLength {
  /** Default `neighbor-allgather`. */
  readonly operation?: ChosenOperation
}

export const choiceOptions: OptionTable<ChoiceOptions> = uncheckedOptions('bytes', 'operation')

/** @throws ERR_ARGUMENT for an operation for which no strategy is chosen */
export function checkedOperation(where: string, { operation }: ChoiceOptions): ChosenOperation {
  return checkedChosen(where, operation ?? 'neighbor-allgather')
}

/** @throws ERR_ARGUMENT for an invalid length, and for unknown options of the call */
export function checkedLength(
  where: string,
  blocks: BlockLength,
  known: object = blockLength,
): number | null {
  requireKnownOptions(where, blocks, known)
  const { bytes = null } = blocks
  if (bytes === null || (Number.isSafeInteger(bytes) && bytes >= 0)) return bytes
  throw wrongValue('ERR_ARGUMENT', `${where}: expected bytes as an integer >= 0`, bytes)
}

/** @throws ERR_ARGUMENT for a value that cannot store plans */
export function checkPlanStore(store: PlanStore | undefined): void {
  if (store === undefined) return
  const { read, write, onProblem = () => {} } = Object(store) as Partial<PlanStore>
  if ([read, write, onProblem].every((each) => typeof each === 'function')) return
  const expected =
    'planCache: expected an object with functions read and write, perhaps onProblem, as planDirectory returns'
  throw wrongValue('ERR_ARGUMENT', expected, store)
}
