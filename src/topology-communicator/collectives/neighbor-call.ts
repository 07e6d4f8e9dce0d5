import { bytesOf } from '../../base/bytes.js'
import {
  functionOption,
  integerOption,
  numberOption,
  type OptionTable,
  uncheckedOption,
} from '../../base/option.js'
import { checkOptions, optionsText, withDefaults } from '../../base/option-table.js'
import { whenThere } from '../../base/turn.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import {
  type BoundCollective,
  type BoundProgram,
  type BoundStart,
  boundCollective,
  PersistentRequest,
  type PlannedCall,
  programStart,
  runOnce,
} from '../../calls/program/planned-call.js'
import { ProgramRun } from '../../calls/program/run-program.js'
import type { Signature } from '../../calls/signature.js'
import type { CommSeat } from '../../comm/comm-state.js'
import { RankweaveError } from '../../errors.js'
import { kindOf, type TypedArray, typeCode, typeCodeOf } from '../../messages/datatype/elements.js'
import { filledBy, misfit, payloadOf } from '../../messages/datatype/payload.js'
import { pack, StridedView } from '../../messages/datatype/strided-view.js'
import type { ChosenOperation } from '../../neighborhood/choose/auto.js'
import { formatStrategy, parseStrategy, type Strategy } from '../../neighborhood/strategies/strategies.js'
import type { Neighborhood } from '../plan/neighborhood.js'
import { TimedComparison } from './timed-comparison.js'

/**
 * A neighborhood collective, whatever its form: the ranks of a process agree on a signature, a neighborhood is chosen
 * whose plan moves their data, and its program is bound to what they pass.
 */
export abstract class NeighborCall<C> implements PlannedCall<C> {
  readonly signature: Signature
  readonly unplaced: boolean
  readonly neighborhood: Neighborhood

  constructor(signature: Signature, neighborhood: Neighborhood) {
    this.signature = signature
    this.unplaced = neighborhood.isLocated
    this.neighborhood = neighborhood
  }

  run(all: readonly C[], exchange: Exchange): undefined | Promise<undefined> {
    return whenThere(this.chosen(all), (by) =>
      whenThere(this.bindTo(by, all), (bound) => runOnce(bound, exchange)),
    )
  }

  bind(all: readonly C[], init: Exchange): BoundProgram | Promise<BoundProgram> {
    return whenThere(this.chosen(all), (by) => this.bindTo(by, all, init))
  }

  /** Returns the neighborhood whose plan moves the data. */
  abstract chosen(all: readonly C[]): Neighborhood | Promise<Neighborhood>

  /**
   * Binds what the ranks here pass to the program of a neighborhood.
   *
   * @param init the exchange of a persistent call's init, in which processes may agree on lengths; undefined for a call
   *   that runs once
   */
  abstract bindTo(by: Neighborhood, all: readonly C[], init?: Exchange): BoundProgram | Promise<BoundProgram>
}

/** The checked contribution of a rank to a neighborhood collective. */
interface Contribution {
  readonly type: number
  readonly elements: TypedArray
}

/** @throws ERR_TYPE unless the data are a typed array, or a strided view of one, with a fixed buffer */
export function contributionOf(name: string, data: unknown): Contribution {
  const isArray = data instanceof StridedView || typeCodeOf(data) !== typeCode.value
  if (!isArray) {
    throw new RankweaveError(
      'ERR_TYPE',
      `${name}: expected a typed array or a strided view of one, got ${kindOf(data)}`,
    )
  }
  const { type, data: elements } = payloadOf(data)
  return { type, elements: elements instanceof StridedView ? pack(elements) : elements }
}

/**
 * Checks a receive buffer for `countElems` elements of a type.
 *
 * @param sources how many blocks they are, of equal length, if known
 * @throws ERR_TYPE unless it is a typed array with a fixed buffer; ERR_TYPE_MISMATCH, ERR_TRUNCATE when the elements do
 *   not fit
 */
export function checkInto(
  name: string,
  into: unknown,
  type: number,
  countElems: number,
  sources?: number,
): void {
  if (into === undefined) return
  if (typeCodeOf(into) === typeCode.value) {
    const message = `${name}: expected a typed array to receive into, got ${kindOf(into)}`
    throw new RankweaveError('ERR_TYPE', message)
  }
  payloadOf(into)
  const error = misfit(type, countElems, into as TypedArray, filledBy(name))
  if (error === undefined) return
  const { code, message, details } = error
  if (code !== 'ERR_TRUNCATE' || sources === undefined) throw error
  const blocks = sources === 1 ? 'of one source' : `${countElems / sources} of each of ${sources} sources`
  throw new RankweaveError(code, `${message}: ${blocks}`, { details })
}

/**
 * Checks the buffers that a rank binds to a persistent collective. It refuses strided views, which would be packed once
 * instead of at every start.
 *
 * @throws ERR_TYPE
 */
export function boundElements(
  name: string,
  send: unknown,
  recv: unknown,
): Contribution & { readonly into: TypedArray } {
  if (!ArrayBuffer.isView(send) || recv === undefined || recv === null)
    throw new RankweaveError('ERR_TYPE', `${name}: expected typed arrays to send from and to receive into`)
  return { ...contributionOf(name, send), into: recv as TypedArray }
}

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

/** The part of a tunable request that its call does not have. */
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

/**
 * The strategies that the first starts of a persistent request try, and how often. The library would choose among the
 * same ones (`choice()`). They are tried in the order of their predicted times.
 */
export interface TuneOptions {
  /** The most strategies to try: 1 to 8. Default 3. Of two or more, one is direct sends. */
  readonly candidates?: number
  /** The most times that a strategy's predicted time may exceed the best one's: 1 to 1,000. Default 2. */
  readonly within?: number
  /** The number of timed starts of each strategy: 1 to 1,000. Default 3. */
  readonly starts?: number
  /**
   * The clock, in milliseconds; only differences count. Default `performance.now`. The clock of the first rank of every
   * process is used; those of all are read once when the request is made.
   */
  readonly now?: () => number
}

/** Options of a persistent neighbor allgather or alltoall. */
export interface NeighborInitOptions {
  /** Whether the first starts try strategies; true takes the defaults. Default false. */
  readonly tune?: boolean | TuneOptions
}

/** The options with defaults. */
export type Tune = Required<TuneOptions>

export const tuneOptions = {
  candidates: integerOption({
    ...{ least: 1, most: 8 },
    help: 'strategies that are tried, at most; of two or more, one is direct sends',
    default: 3,
  }),
  within: numberOption({
    ...{ least: 1, most: 1000 },
    help: 'only those predicted to take at most this many times the best',
    default: 2,
  }),
  starts: integerOption({ ...{ least: 1, most: 1000 }, help: 'timed starts of each, in turn', default: 3 }),
  now: { ...functionOption, help: 'clock, in milliseconds', computed: 'performance.now' },
} satisfies OptionTable<TuneOptions>

export const initOptions: OptionTable<NeighborInitOptions> = { tune: uncheckedOption }

/**
 * @returns null if nothing is tried
 * @throws ERR_ARGUMENT; ERR_STRATEGY if the library has nothing to choose
 */
export function checkedTune(
  name: string,
  { isAuto, strategy }: Neighborhood,
  options: NeighborInitOptions,
): Tune | null {
  checkOptions(name, initOptions, options)
  const { tune = false } = options
  if (tune === false) return null
  if (!isAuto) {
    const message = `${name}: tune tries what the library would choose among: expected strategy auto, got ${formatStrategy(strategy)}`
    throw new RankweaveError('ERR_STRATEGY', message)
  }
  const given: TuneOptions = tune === true ? {} : tune
  checkOptions(`${name}: tune`, tuneOptions, given)
  const { now = () => performance.now(), ...numbers } = withDefaults(tuneOptions, given)
  return { ...numbers, now: checkedClock(name, now) }
}

/**
 * Checks by one reading that the clock returns numbers. A later reading that is not a number makes a start infinitely
 * long.
 */
function checkedClock(name: string, now: () => unknown): () => number {
  const read = (): number => {
    const ms = now()
    return typeof ms === 'number' ? ms : Number.NaN
  }
  if (Number.isFinite(read())) return read
  throw new RankweaveError(
    'ERR_ARGUMENT',
    `${name}: tune: expected now as a function of milliseconds, got one that returns no finite number`,
  )
}

/** Returns the text that ranks compare: those that pass other options are a mismatch. */
export function tuneText({ now: _, ...agreed }: Tune): string {
  return `tune:${optionsText(tuneOptions, agreed)}`
}

interface TuneCandidate {
  readonly strategy: Strategy
  /** The predicted time; absent if nothing is predicted. */
  readonly predictedUs?: number
}

/**
 * Returns the strategies to try, the same on all ranks: the simulated alternatives whose predicted times are short
 * enough, and direct sends. If ranks plan from their neighbors, it returns only their strategy. Does not hold the event
 * loop for long.
 *
 * @param bytes of a block; null if no rank knows all lengths
 */
async function candidatesFor(
  neighborhood: Neighborhood,
  bytes: number | null,
  operation: ChosenOperation,
  { candidates, within }: Tune,
): Promise<TuneCandidate[]> {
  await neighborhood.prepareChoice(bytes, operation)
  const choice = neighborhood.choiceFor(bytes, operation)
  if (choice === null) return [{ strategy: neighborhood.strategy }]
  const { alternatives } = choice
  const limit = within * alternatives[0].timeUs
  const best = alternatives.filter(({ timeUs }) => timeUs <= limit).slice(0, candidates)
  // Direct sends, the baseline, get the last place, whatever is predicted for them.
  const direct = alternatives.find(({ strategy }) => strategy === 'direct')
  if (direct !== undefined && candidates > 1 && !best.includes(direct)) best.splice(candidates - 1, 1, direct)
  return best.map(({ strategy, timeUs }) => ({ strategy: parseStrategy(strategy), predictedUs: timeUs }))
}
