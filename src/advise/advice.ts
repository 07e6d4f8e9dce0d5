import {
  type ChangeName,
  type Changes,
  type ImpossibleChange,
  leastShare,
  type PossibleChange,
  touchedText,
} from './changes.js'
import {
  type ComparisonBounds,
  comparedRuns,
  type Finding,
  findingOf,
  type Gain,
  isComplete,
  type RunPair,
} from './gain.js'

/** A change with what pairs of runs showed. */
export interface TriedChange extends PossibleChange {
  readonly gain: Gain
  readonly finding: Finding
}

/** An advice: what runs of a program showed, and which changes to use. */
export interface Advice {
  readonly tried: readonly TriedChange[]
  readonly untried: readonly ImpossibleChange[]
  /** All changes that gained, in one command; null unless there are several. */
  readonly together: TriedChange['gain'] | null
  /** The reason the changes that gained alone were not compared together; null if they were, or were too few. */
  readonly notTogether: string | null
  /** The changes that belong in the command; empty if it should stay as it is. */
  readonly advised: readonly ChangeName[]
  /** The verdict in a sentence on which a user can act. */
  readonly verdict: string
  /** The seconds of runs of the unchanged command, beside which changes ran; null if there was none. */
  readonly unchanged: Spread | null
}

/** The least and the largest of some times, in seconds. */
export interface Spread {
  readonly runs: number
  readonly leastSeconds: number
  readonly mostSeconds: number
}

/** A change that can be tried, or why it cannot. */
export type PreparedChange = { readonly what?: string } | Obstacle

/** The reason why a possible change is not tried. */
export interface Obstacle {
  /** The end of a sentence that begins with the name of the change. */
  readonly obstacle: string
  /** Whether more time would let it be tried. */
  readonly needsTime: boolean
  /** Whether runs had the change all the same. */
  readonly wasTried?: true
}

/** The obstacle to settings that are to be learned, after so many runs, or fewer for lack of time, that tried others. */
export const noneFaster = (runs: number, needsTime: boolean): Obstacle => ({
  obstacle: `other algorithms were not faster than MPI's in ${runs === 1 ? 'the one run' : `${runs} runs`} that tried them, too few for an interval`,
  needsTime,
  wasTried: true,
})

export const timeIsOver: Obstacle = { obstacle: 'the time was over', needsTime: true }
const endedEarly: Obstacle = { obstacle: 'the runs were ended before', needsTime: true }

/** The runs of a program, for which `advise` has a budget. */
export interface ProgramRuns {
  /** Runs the program with changes, and returns the seconds from the end of MPI_Init to the begin of MPI_Finalize. */
  run(changes: readonly ChangeName[]): Promise<number>
  /** Prepares a change, given how many others follow; returns what it changes in fact, or why it cannot be tried. */
  prepare(name: ChangeName, othersToFollow: number): Promise<PreparedChange>
  /** Returns the bounds of a comparison, given how many others follow and how many pairs it has. */
  boundsOf(name: string, othersToFollow: number, pairs: number): ComparisonBounds
  /** Returns whether an error only ends the runs early, so that what is known so far is told. */
  isEarlyEnd(error: unknown): boolean
  /** Returns why a run failed, if that speaks against its changes; null: the error ends all runs. */
  failureOf(error: unknown, changes: readonly ChangeName[]): string | null
}

/**
 * Tries every possible change alone, then those that gained together, each in pairs of runs beside the program as it is
 * started today. Time that some changes leave goes to those that are still undecided.
 */
export async function advised(changes: Changes, runs: ProgramRuns): Promise<Advice> {
  const unchanged: number[] = []
  const run: ProgramRuns['run'] = async (names) => {
    const seconds = await runs.run(names)
    if (names.length === 0) unchanged.push(seconds)
    return seconds
  }
  const advice = await triedChanges(changes, { ...runs, run })
  return { ...advice, unchanged: spreadOf(unchanged) }
}

function spreadOf(seconds: readonly number[]): Spread | null {
  if (seconds.length === 0) return null
  const [leastSeconds, mostSeconds] = [Math.min(...seconds), Math.max(...seconds)]
  return { runs: seconds.length, leastSeconds, mostSeconds }
}

type Conclusion = Omit<Advice, 'unchanged'>

async function triedChanges({ possible, impossible }: Changes, runs: ProgramRuns): Promise<Conclusion> {
  const trials: Trial[] = []
  const untried = [...impossible]
  let isEnded = false
  for (const [i, change] of possible.entries()) {
    const others = possible.length - i - 1
    const prepared: PreparedChange = isEnded ? endedEarly : await preparedBy(change.name, runs, others)
    if ('obstacle' in prepared) {
      untried.push(untriedBy(change, prepared))
      isEnded ||= prepared === endedEarly
    } else {
      const trial = new Trial({ ...change, ...prepared }, [change.name])
      trials.push(trial)
      await trial.continue(runs, others)
      isEnded = trial.obstacle === endedEarly
    }
  }
  if (!isEnded) isEnded = await continueOpen(trials, runs)
  const tried: TriedChange[] = []
  for (const { change, gain, obstacle } of trials)
    if (gain === null || obstacle?.wasTried) untried.push(untriedBy(change, obstacle ?? timeIsOver))
    else tried.push({ ...change, gain, finding: findingOf(gain) })
  const gained = tried.filter(({ finding }) => finding === 'faster')
  if (gained.length < 2) return concluded(tried, untried, null, null)
  if (isEnded) return concluded(tried, untried, null, endedEarly)
  const together = new Trial(
    gained[0],
    gained.map(({ name }) => name),
  )
  await together.continue(runs, 0)
  const { gain, obstacle } = together
  if (gain === null || obstacle?.wasTried) return concluded(tried, untried, null, obstacle ?? timeIsOver)
  return concluded(tried, untried, gain, null)
}

/** Pairs of runs without and with changes. */
class Trial {
  readonly change: PossibleChange
  readonly #names: readonly ChangeName[]
  readonly #pairs: RunPair[] = []
  gain: Gain | null = null
  /** Set when the pairs cannot continue. */
  obstacle: Obstacle | null = null
  /** Whether further time could decide it. Does not depend on its gain between looks. */
  isOpen = true

  constructor(change: PossibleChange, names: readonly ChangeName[]) {
    this.change = change
    this.#names = names
  }

  /** Runs pairs until they are decided or their time is over, given how many others need time. */
  async continue(runs: ProgramRuns, othersToFollow: number): Promise<void> {
    const bounds = runs.boundsOf(this.#names.join(' and '), othersToFollow, this.#pairs.length)
    const onPair = (known: Gain) => {
      this.gain = known
      bounds.onPair?.(known)
    }
    let begun: readonly ChangeName[] = []
    const run = (isChanged: boolean) => {
      begun = isChanged ? this.#names : []
      return runs.run(begun)
    }
    try {
      this.gain = await comparedRuns(run, { ...bounds, onPair }, this.#pairs)
      this.isOpen = this.gain !== null && !isComplete(this.gain, bounds.mostPairs)
    } catch (error) {
      this.obstacle = obstacleOf(error, runs, begun)
      this.isOpen = false
    }
  }
}

/**
 * Gives the rest of the time to trials that ended without a decision. They share it again when one is decided. Returns
 * whether the runs were ended early.
 */
async function continueOpen(trials: readonly Trial[], runs: ProgramRuns): Promise<boolean> {
  for (;;) {
    const open = trials.filter(({ isOpen }) => isOpen)
    // Complete trials are judged here; to judge an open one would be a further look.
    const complete = trials.filter(({ isOpen, obstacle }) => !isOpen && obstacle === null)
    const gained = complete.filter(({ gain }) => gain !== null && findingOf(gain) === 'faster')
    const toFollow = gained.length < 2 ? 0 : 1
    for (const [i, trial] of open.entries()) {
      await trial.continue(runs, open.length - i - 1 + toFollow)
      if (trial.obstacle === endedEarly) return true
    }
    if (open.every(({ isOpen }) => isOpen)) return false
  }
}

/** Returns why runs cannot continue after an error. @throws the error if it ends the command */
function obstacleOf(error: unknown, runs: ProgramRuns, changes: readonly ChangeName[]): Obstacle {
  if (runs.isEarlyEnd(error)) return endedEarly
  const failure = runs.failureOf(error, changes)
  if (failure === null) throw error
  return { obstacle: failure, needsTime: false, wasTried: true }
}

function untriedBy({ name, share }: PossibleChange, { obstacle, ...rest }: Obstacle): ImpossibleChange {
  return { name, share, reason: obstacle, ...rest }
}

/** Prepares a change; runs that end early, or do not end, are obstacles, too. */
async function preparedBy(
  name: ChangeName,
  runs: ProgramRuns,
  othersToFollow: number,
): Promise<PreparedChange> {
  try {
    return await runs.prepare(name, othersToFollow)
  } catch (error) {
    return obstacleOf(error, runs, [name])
  }
}

/** Returns what follows from the runs, also if they were ended early. */
function concluded(
  tried: readonly TriedChange[],
  untried: readonly ImpossibleChange[],
  together: Gain | null,
  obstacle: Obstacle | null,
): Conclusion {
  const gained = tried.filter(({ finding }) => finding === 'faster')
  const best = gained.toSorted((a, b) => b.gain.ratio - a.gain.ratio)[0] as TriedChange | undefined
  const pays =
    together !== null &&
    best !== undefined &&
    findingOf(together) === 'faster' &&
    together.ratio >= best.gain.ratio
  const advised = pays ? gained.map(({ name }) => name) : best === undefined ? [] : [best.name]
  const gain = pays ? together : (best?.gain ?? null)
  const verdict = verdictOf(tried, untried, advised, gain)
  return {
    tried,
    untried,
    together,
    notTogether: obstacle === null ? null : reasonText({ reason: obstacle.obstacle, ...obstacle }),
    advised,
    verdict,
  }
}

function verdictOf(
  tried: readonly TriedChange[],
  untried: readonly ImpossibleChange[],
  advised: readonly ChangeName[],
  gain: Gain | null,
): string {
  if (gain !== null) return `${capitalized(advised.join(' and '))}: ${gainText(gain)}.`
  const open = [
    ...tried
      .filter(({ finding }) => finding === 'open')
      .map(({ name, gain }) => `${name}, ${gainText(gain)}`),
    ...untried
      .filter(({ needsTime }) => needsTime)
      .map(({ name, ...change }) => `${name}, ${untriedText(change)}`),
  ]
  if (open.length > 0)
    return `The runs do not say yet whether this pays: ${open.join('; ')}. To decide, give it more time (--minutes) or a quieter machine.`
  if (tried.length > 0) {
    const texts = [
      ...tried.map(({ name, gain }) => `${name}, ${gainText(gain)}`),
      ...untried.filter(({ wasTried }) => wasTried).map(({ name, reason }) => `${name}, ${reason}`),
    ]
    return `Nothing to gain here: ${texts.join('; ')}.`
  }
  const most = untried.reduce((share, change) => Math.max(share, change.share), 0)
  if (most < leastShare)
    return `Nothing to gain here: ${touchedText(most)} is in calls that Rankweave can change.`
  const found = untried.filter(({ wasTried }) => wasTried).map(({ name, reason }) => `${name}, ${reason}`)
  return found.length === 0
    ? 'Nothing to try here: the rows above say why, change by change.'
    : `Nothing was faster here: ${found.join('; ')}.`
}

/** Prints `1.31 times as fast [1.24, 1.39] in 11 pairs`, or why fewer pairs say nothing yet. */
export function gainText({ interval, pairs, ratio }: Gain): string {
  const counted = `${pairs} ${pairs === 1 ? 'pair' : 'pairs'}`
  if (interval === null)
    return `${counted}, too few for an interval (median ${ratio.toFixed(2)} times as fast)`
  const range = interval.map((bound) => bound.toFixed(2)).join(', ')
  return `${ratio.toFixed(2)} times as fast [${range}] in ${counted}`
}

/** Prints `not tried: the time was over (it can save at most 12% of the time)`, or `a run did not end`. */
export function untriedText({ share, ...change }: Omit<ImpossibleChange, 'name'>): string {
  return `${reasonText(change)}${change.needsTime ? ` (it can save ${touchedText(share)})` : ''}`
}

/** Prints `not tried: the time was over`, or `a run did not end`. */
export function reasonText({ reason, wasTried }: Pick<ImpossibleChange, 'reason' | 'wasTried'>): string {
  return wasTried === true ? reason : `not tried: ${reason}`
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
