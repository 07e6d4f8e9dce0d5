import {
  functionOption,
  integerOption,
  numberOption,
  type OptionTable,
  uncheckedOption,
} from '../../base/option.js'
import { checkOptions, optionsText, withDefaults } from '../../base/option-table.js'
import { RankweaveError } from '../../errors.js'
import type { ChosenOperation } from '../../neighborhood/choose/auto.js'
import { formatStrategy, parseStrategy, type Strategy } from '../../neighborhood/strategies/strategies.js'
import type { Neighborhood } from '../plan/neighborhood.js'

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

export interface TuneCandidate {
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
export async function candidatesFor(
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
