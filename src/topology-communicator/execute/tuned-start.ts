import { bytesOf } from '../../base/bytes.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import { type BoundProgram, type BoundStart, programStart } from '../../calls/program/bound-collective.js'
import { ProgramRun } from '../../calls/program/run-program.js'
import type { Signature } from '../../calls/signature.js'
import type { Tuner } from './tuner.js'

/**
 * Returns the largest of the numbers of all processes, on each. None returns before all have called. In stage i a
 * process sends to the one 2^i ahead: lg `count` messages of 8 bytes per process, and every process hears from the one
 * before it. So it notices a process that takes part in something else. Takes a step per stage, up to 31.
 *
 * @see Hensgen, Finkel, Manber 1988 (dissemination)
 */
export async function largestOfAll(exchange: Exchange, own: number, step: number): Promise<number> {
  const { me, count } = exchange
  let largest = own
  for (let stage = 0, distance = 1; distance < count; stage++, distance *= 2) {
    exchange.send((me + distance) % count, step + stage, bytesOf(Float64Array.of(largest)))
    const arrived = await exchange.receive((me - distance + count) % count, step + stage)
    largest = Math.max(largest, new Float64Array(arrived.buffer, arrived.byteOffset, 1)[0])
  }
  return largest
}

// Step of the exchange, above those of programs.
const agreementStep = 2 ** 30

/**
 * Makes starts that try equivalent programs until one is chosen. Each such start begins with the agreement on the time
 * of the one before it. No process leaves the agreement before all have started, so times do not depend on late
 * processes.
 *
 * @param programs of the candidates; released when one is chosen
 * @param now milliseconds
 */
export function tunedStart(
  signature: Signature,
  tuner: Tuner,
  programs: readonly BoundProgram[],
  now: () => number,
): BoundStart {
  let tried: readonly TriedProgram[] = programs.map((bound) => ({
    bound,
    run: new ProgramRun(bound.program),
  }))
  let chosen: BoundStart | undefined
  /** The time of the last start; null before the first. */
  let lastUs: number | null = null
  const choose = (): BoundStart | undefined => {
    if (tuner.chosen === null) return undefined
    const { bound } = tried[tuner.chosen]
    tried = []
    return programStart(signature, bound)
  }
  const tryNext = async (exchange: Exchange): Promise<undefined> => {
    const agreedUs = await largestOfAll(exchange, lastUs ?? 0, agreementStep)
    if (lastUs !== null) tuner.agree(agreedUs)
    chosen = choose()
    if (chosen !== undefined) {
      chosen.run([], exchange)
      return undefined
    }
    const { bound, run } = tried[tuner.next]
    const begin = now()
    bound.fill()
    run.start(exchange, bound.store, () => {
      const failure = bound.deliver()
      const us = 1000 * (now() - begin)
      lastUs = Number.isNaN(us) ? Number.POSITIVE_INFINITY : us
      exchange.finish([failure])
    })
    return undefined
  }
  chosen = choose()
  return {
    signature,
    unplaced: true,
    run: (all, exchange) => (chosen === undefined ? tryNext(exchange) : chosen.run(all, exchange)),
  }
}

interface TriedProgram {
  readonly bound: BoundProgram
  readonly run: ProgramRun
}
