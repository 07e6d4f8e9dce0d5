import { bytesOf } from '../../base/bytes.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import {
  type BoundCollective,
  boundCollective,
  PersistentRequest,
} from '../../calls/program/persistent-request.js'
import { type BoundProgram, type BoundStart, programStart } from '../../calls/program/planned-call.js'
import { ProgramRun } from '../../calls/program/run-program.js'
import type { Signature } from '../../calls/signature.js'
import type { CommSeat } from '../../comm/comm-state.js'
import type { TypedArray } from '../../messages/datatype/elements.js'
import type { ChosenOperation } from '../../neighborhood/choose/auto.js'
import { formatStrategy, type Strategy } from '../../neighborhood/strategies/strategies.js'
import type { NeighborCall } from './neighbor-call.js'
import { TimedComparison } from './timed-comparison.js'
import { candidatesFor, type Tune, type TuneCandidate } from './tune-options.js'

/** The place of the tuner that the ranks of a process share. The last of them to make its request sets it. */
interface TunerPlace {
  tuner?: Tuner
}

/** A persistent neighborhood collective, whose first starts may try strategies. */
export class NeighborRequest extends PersistentRequest {
  readonly #place: TunerPlace

  /** Users get these requests from the methods whose names end in `Init`. */
  constructor(
    seat: CommSeat,
    setup: Promise<BoundCollective>,
    buffers: readonly TypedArray[],
    place: TunerPlace,
  ) {
    super(seat, setup, buffers)
    this.#place = place
  }

  /**
   * @internal Returns the request of one rank.
   *
   * @param given what the rank passes to the call
   */
  static of<C>(
    seat: CommSeat,
    call: NeighborCall<C>,
    buffers: readonly TypedArray[],
    given: C,
    tune: Tune | null,
    tunable: Tunable<C>,
  ): NeighborRequest {
    const place: TunerPlace = {}
    const setup = boundCollective(seat, call, { given, place }, (bound, exchange) => {
      const all = bound.map((each) => each.given)
      const places = bound.map((each) => each.place)
      return requestStart(call, all, exchange, places, tune, tunable)
    })
    return new NeighborRequest(seat, setup, buffers, place)
  }

  /**
   * The measurements of the first starts and the chosen strategy; a fresh object. Null without `tune`, and before every
   * rank of the process has made its request.
   */
  get tuning(): Tuning | null {
    return this.#place.tuner?.report ?? null
  }
}

/** A strategy that the first starts of a request tried. */
export interface TunedCandidate {
  /** Its line of text, as `parseStrategy` reads it. */
  readonly strategy: string
  /** The predicted time; absent if nothing is predicted because there is nothing to choose. */
  readonly predictedUs?: number
  /** The time of every timed start that all ranks know, in microseconds: that of the slowest process. */
  readonly measuredUs: readonly number[]
}

/** The findings of a request's starts so far. The same on all ranks, after the same start. */
export interface Tuning {
  /** The candidates, best predicted first. */
  readonly candidates: readonly TunedCandidate[]
  /**
   * The number of timed starts whose time is not agreed on yet. One start after the last of them a candidate is chosen.
   */
  readonly startsLeft: number
  /** The strategy of all later starts; null while some are timed. */
  readonly chosen: string | null
}

/**
 * Decides which candidate a start tries: one after the other, in rounds. A start agrees on the time of the one before
 * it. So one start after the last timed one all processes know all times, and choose the same candidate.
 */
export class Tuner {
  readonly #candidates: readonly TuneCandidate[]
  readonly #timedStarts: number
  readonly #comparison: TimedComparison
  #agreed = 0

  /** @param starts the number of timed starts of every candidate */
  constructor(candidates: readonly TuneCandidate[], starts: number) {
    this.#candidates = candidates
    this.#timedStarts = candidates.length * starts
    // The better predicted candidate wins if times are equal.
    const rules = { leastRounds: starts, mostRounds: starts, tie: 1, lead: 0 }
    this.#comparison = new TimedComparison(candidates.length, rules)
  }

  get strategies(): Strategy[] {
    return this.#candidates.map(({ strategy }) => strategy)
  }

  /** The number of the candidate of all later starts; null while starts are timed. */
  get chosen(): number | null {
    return this.#comparison.chosen
  }

  /** The number of the candidate whose time is agreed on next. */
  get next(): number {
    return this.#comparison.next
  }

  /**
   * Records the time of the last start on which the processes agreed. After the last timed start it chooses a
   * candidate.
   */
  agree(timeUs: number): void {
    this.#comparison.agree(timeUs)
    this.#agreed++
  }

  get report(): Tuning {
    const { chosen, samples } = this.#comparison
    return {
      candidates: this.#candidates.map(({ strategy, predictedUs }, i) => ({
        strategy: formatStrategy(strategy),
        ...(predictedUs === undefined ? {} : { predictedUs }),
        measuredUs: samples[i].slice(),
      })),
      startsLeft: chosen === null ? this.#timedStarts - this.#agreed : 0,
      chosen: chosen === null ? null : formatStrategy(this.#candidates[chosen].strategy),
    }
  }
}

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
function tunedStart(
  signature: Signature,
  tuner: Tuner,
  programs: readonly BoundProgram[],
  now: () => number,
): BoundStart {
  let tried: readonly TriedProgram[] = programs.map((bound) => ({
    bound,
    run: new ProgramRun(bound.plan.program),
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
      bound.plan.noteRun()
      const results = bound.deliver()
      const us = 1000 * (now() - begin)
      lastUs = Number.isNaN(us) ? Number.POSITIVE_INFINITY : us
      exchange.finish(results)
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

/** What a request whose starts may try strategies has besides its call. */
interface Tunable<C> {
  readonly operation: ChosenOperation
  /** Returns the bytes of a block; null if no rank knows all lengths. */
  bytesOf(all: readonly C[]): number | null
  /** Returns starts that run no program; null if there are none. */
  insteadOfProgram?(all: readonly C[], exchange: Exchange): Promise<BoundStart | null>
}

/** Returns how a process starts a request: without a program, by that of the call, or by those of strategies to try. */
async function requestStart<C>(
  call: NeighborCall<C>,
  all: readonly C[],
  exchange: Exchange,
  places: readonly TunerPlace[],
  tune: Tune | null,
  { operation, bytesOf, insteadOfProgram }: Tunable<C>,
): Promise<BoundStart> {
  const instead = await insteadOfProgram?.(all, exchange)
  if (instead != null) return instead
  const { signature, neighborhood } = call
  if (tune === null) return programStart(signature, await call.bind(all, exchange))
  const tuner = new Tuner(await candidatesFor(neighborhood, bytesOf(all), operation, tune), tune.starts)
  for (const place of places) place.tuner = tuner
  const programs: BoundProgram[] = []
  for (const strategy of tuner.strategies)
    programs.push(await call.bindTo(neighborhood.by(strategy), all, exchange))
  return tunedStart(signature, tuner, programs, tune.now)
}
