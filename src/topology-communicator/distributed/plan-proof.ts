import { bytesOf } from '../../base/bytes.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import { allgatherBytes, alltoallBytes } from '../../calls/exchange/exchange-patterns.js'
import { RankweaveError } from '../../errors.js'
import type { PlanOfRanks } from '../../neighborhood/plan/plan-of-ranks.js'
import { messageBalance } from '../../schedule/verify/message-digest.js'
import { verifySlice } from '../../schedule/verify/verify.js'
import { firstFailure } from './agreed-plan.js'
import { combineAll } from './combine-all.js'

// Steps of the exchange; an allgather takes up to 32.
const balanceStep = 500
const failureStep = 510
const pairStep = 550
const verdictStep = 560

/**
 * Proves a plan of which every process has the part of its ranks, before anything is sent by it. Each process verifies
 * its part. The digests of all messages, as their senders and as their receivers list them, must cancel
 * (docs/study/plan-proof.md).
 *
 * @param made the part of this process, or why it has none; null when another process reports that
 * @throws ERR_SCHEDULE when a part does not verify, ERR_PLAN_MISMATCH when two do not fit; the same on all processes
 */
export async function provePlan(
  exchange: Exchange,
  made: PlanOfRanks | RankweaveError | null,
  processOf: (rank: number) => number,
): Promise<void> {
  const part = made instanceof RankweaveError ? null : made
  const failure = made instanceof RankweaveError ? made : made && ownFailure(made)
  const own = part === null ? null : messageBalance(part.schedule, part.own, part.rankOf)
  const [low, high, failures] = await combineAll(
    exchange,
    Float64Array.of(own?.low ?? 0, own?.high ?? 0, failure === null ? 0 : 1),
    (a, b) => Float64Array.of((a[0] + b[0]) >>> 0, (a[1] + b[1]) >>> 0, a[2] + b[2]),
    balanceStep,
  )
  if (failures > 0) throw await firstFailure(exchange, failure, failureStep)
  if (low !== 0 || high !== 0) throw await mismatch(exchange, part!, processOf)
}

function ownFailure({ schedule, own }: PlanOfRanks): RankweaveError | null {
  const { ok, violations } = verifySlice({ schedule, ranks: own, topologyHash: '' })
  if (ok) return null
  return new RankweaveError('ERR_SCHEDULE', `the plan does not verify: ${violations[0]?.message}`)
}

/** Names the first two processes whose messages with each other do not fit. */
async function mismatch(
  exchange: Exchange,
  { schedule, own, rankOf }: PlanOfRanks,
  processOf: (rank: number) => number,
): Promise<RankweaveError> {
  const { me, count } = exchange
  const processOfNumber = rankOf.map(processOf)
  const balances = Array.from({ length: count }, (_, process) =>
    messageBalance(schedule, own, rankOf, (peer) => processOfNumber[peer] === process),
  )
  const theirs = await alltoallBytes(
    exchange,
    balances.map(({ low, high, sent, received }) => bytesOf(Float64Array.of(low, high, sent, received))),
    pairStep,
  )
  const found: number[] = []
  for (let peer = 0; peer < count && found.length === 0; peer++) {
    const { buffer, byteOffset } = theirs[peer]
    const [low, high, sent, received] = new Float64Array(buffer, byteOffset, 4)
    const mine = balances[peer]
    const fits =
      peer === me
        ? mine.low === 0 && mine.high === 0
        : (mine.low + low) >>> 0 === 0 && (mine.high + high) >>> 0 === 0
    if (!fits) found.push(me, peer, mine.sent, received, mine.received, sent)
  }
  const verdicts = await allgatherBytes(exchange, bytesOf(Float64Array.from(found)), verdictStep)
  const first = verdicts.find(({ byteLength }) => byteLength > 0)
  if (first === undefined)
    return new RankweaveError('ERR_PLAN_MISMATCH', 'the digests of all messages do not cancel')
  const [a, b, sent, expected, awaited, coming] = new Float64Array(first.buffer, first.byteOffset, 6)
  const counts =
    sent === expected && awaited === coming
      ? `${sent} and ${awaited} messages with other blocks, tags or phases at their two ends`
      : `process ${a} sends ${sent} messages of which process ${b} expects ${expected}, ` +
        `and expects ${awaited} of which process ${b} sends ${coming}`
  const message = `the plans of processes ${a} and ${b} do not fit together: ${counts}`
  return new RankweaveError('ERR_PLAN_MISMATCH', message, { details: { process: a, peer: b } })
}
