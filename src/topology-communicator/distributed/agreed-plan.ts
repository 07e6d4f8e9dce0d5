import { bytesOf } from '../../base/bytes.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import { allgatherBytes, bcastBytes } from '../../calls/exchange/exchange-patterns.js'
import { isRankweaveError, RankweaveError } from '../../errors.js'
import { decodeError, encodeError } from '../../messages/process/error-record.js'
import type { Plan } from '../../neighborhood/plan/plan.js'
import { planDigest } from '../../neighborhood/plan/plan-store.js'

const nothing = new Uint8Array(0)
const maxErrorBytes = 4_096

/**
 * Returns the failure of the first process that has one, the same on all. All processes call it once they know that
 * some process has failed.
 *
 * @param step an allgather takes up to 32
 */
export async function firstFailure(
  exchange: Exchange,
  own: RankweaveError | null,
  step: number,
): Promise<Error> {
  const encoded = own === null ? nothing : encodeError(own, maxErrorBytes)
  const failures = await allgatherBytes(exchange, encoded, step)
  const first = failures.find(({ byteLength }) => byteLength > 0)
  if (first !== undefined) return decodeError(first)
  return new RankweaveError('ERR_PLAN_MISMATCH', 'planning: a process failed and did not report why')
}

// Steps of the exchange; an allgather takes up to 32.
const compareStep = 700
const failureStep = 710

/** The number of words of a digest that are compared. */
const digestWords = 4

/**
 * Returns the plan of this process after comparing all plans by a reduction of 72 bytes. If they differ, for example
 * because one process stored an older plan, all make it afresh and compare again.
 *
 * @param first the plan at hand
 * @param afresh makes the plan from the topology alone; both are null on a process without ranks
 * @throws ERR_PLAN_MISMATCH when plans that were made afresh differ; the error of the process that could not make one.
 *   The same on all processes
 */
export async function agreedPlan(
  exchange: Exchange,
  first: (() => Promise<Plan>) | null,
  afresh: (() => Promise<Plan>) | null,
): Promise<Plan | null> {
  for (const [round, make] of [first, afresh].entries()) {
    const own = make === null ? null : await attempted(make)
    const { failures, areEqual } = await compare(exchange, own, compareStep + 2 * round)
    if (failures === 0 && areEqual) return own as Plan | null
    if (round === 0) continue
    if (failures > 0) throw await firstFailure(exchange, own instanceof Error ? own : null, failureStep)
  }
  const message = 'processes planned differently from the same topology, strategy and nodes'
  throw new RankweaveError('ERR_PLAN_MISMATCH', message)
}

async function attempted(make: () => Promise<Plan>): Promise<Plan | RankweaveError> {
  try {
    return await make()
  } catch (error) {
    if (isRankweaveError(error)) return error
    throw error
  }
}

async function compare(exchange: Exchange, own: Plan | RankweaveError | null, step: number) {
  const least = new Float64Array(digestWords).fill(Number.POSITIVE_INFINITY)
  const most = new Float64Array(digestWords).fill(Number.NEGATIVE_INFINITY)
  if (own !== null && !(own instanceof Error)) {
    const digest = planDigest(own)
    for (let i = 0; i < digestWords; i++) {
      most[i] = Number.parseInt(digest.slice(8 * i, 8 * i + 8), 16)
      least[i] = most[i]
    }
  }
  const failures = own instanceof Error ? 1 : 0
  const all = await combineAll(exchange, Float64Array.of(failures, ...least, ...most), combined, step)
  const areEqual = least.every((_, i) => !(all[1 + i] < all[1 + digestWords + i]))
  return { failures: all[0], areEqual }
}

/** Returns the sum of failures, and the least and the greatest of every word. */
function combined(a: Float64Array, b: Float64Array): Float64Array {
  return a.map((value, i) => {
    if (i === 0) return value + b[i]
    return i <= digestWords ? Math.min(value, b[i]) : Math.max(value, b[i])
  })
}

/**
 * Combines what all processes contribute, on every process: along a binomial tree to process 0 and back. Takes steps
 * `step` and `step + 1`.
 *
 * @param combine adds the second to the first, or returns another array; associative and commutative
 */
export async function combineAll(
  exchange: Exchange,
  own: Float64Array,
  combine: (into: Float64Array, from: Float64Array) => Float64Array,
  step: number,
): Promise<Float64Array> {
  const { me, count } = exchange
  let held = own
  let bit = 1
  for (; bit < count && (me & bit) === 0; bit *= 2) {
    if (me + bit < count) held = combine(held, doublesOf(await exchange.receive(me + bit, step)))
  }
  if (me !== 0) exchange.send(me - bit, step, bytesOf(held))
  return doublesOf(await bcastBytes(exchange, 0, bytesOf(held), step + 1))
}

function doublesOf({ buffer, byteOffset, byteLength }: Uint8Array): Float64Array {
  return new Float64Array(buffer, byteOffset, byteLength / 8)
}
