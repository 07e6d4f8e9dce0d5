import { percentText } from '../text/printable.js'
import {
  type ChangeName,
  type Changes,
  type ImpossibleChange,
  leastShare,
  type PossibleChange,
} from './changes.js'
import { type ComparisonBounds, comparedRuns, type Finding, findingOf, type Gain } from './gain.js'

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
  /** The changes that belong in the command; empty if it should stay as it is. */
  readonly advised: readonly ChangeName[]
  /** One sentence on which a person can act. */
  readonly verdict: string
}

/** A change that can be tried, or why it cannot. */
export type PreparedChange = { readonly what?: string } | Obstacle

/** The reason why a possible change is not tried. */
export interface Obstacle {
  /** The end of a sentence that begins with the name of the change. */
  readonly obstacle: string
  /** Whether more time would let it be tried. */
  readonly needsTime: boolean
}

export const timeIsOver: Obstacle = { obstacle: 'the time was over', needsTime: true }
const endedEarly: Obstacle = { obstacle: 'the runs were ended before', needsTime: true }

/** The runs of a program, for which `advise` has a budget. */
export interface ProgramRuns {
  /** Runs the program with changes, and returns the seconds from the end of MPI_Init to the begin of MPI_Finalize. */
  run(changes: readonly ChangeName[]): Promise<number>
  /** Prepares a change, given how many others follow; returns what it changes in fact, or why it cannot be tried. */
  prepare(name: ChangeName, othersToFollow: number): Promise<PreparedChange>
  /** Returns the bounds of a comparison, given how many others follow. */
  boundsOf(name: string, othersToFollow: number): ComparisonBounds
  /** Returns whether an error only ends the runs early, so that what is known so far is told. */
  isEarlyEnd(error: unknown): boolean
}

/**
 * Tries every possible change alone, then those that gained together, each in pairs of runs beside the program as it is
 * started today.
 */
export async function advised({ possible, impossible }: Changes, runs: ProgramRuns): Promise<Advice> {
  const tried: TriedChange[] = []
  const untried = [...impossible]
  for (const [i, change] of possible.entries()) {
    const others = possible.slice(i + 1)
    const prepared = await preparedBy(change.name, runs, others.length)
    if ('obstacle' in prepared) {
      untried.push(untriedBy(change, prepared))
      if (prepared !== endedEarly) continue
    } else {
      const { gain, isEnded } = await gainBy([change.name], runs, others.length)
      if (gain !== null) tried.push({ ...change, ...prepared, gain, finding: findingOf(gain) })
      else untried.push(untriedBy(change, isEnded ? endedEarly : timeIsOver))
      if (!isEnded) continue
    }
    return concluded(tried, [...untried, ...others.map((other) => untriedBy(other, endedEarly))], null)
  }
  const gained = tried.filter(({ finding }) => finding === 'faster').map(({ name }) => name)
  const together = gained.length < 2 ? null : (await gainBy(gained, runs, 0)).gain
  return concluded(tried, untried, together)
}

function untriedBy({ name, share }: PossibleChange, { obstacle, needsTime }: Obstacle): ImpossibleChange {
  return { name, share, reason: obstacle, needsTime }
}

/** Prepares a change; an early end of the runs is an obstacle, too. */
async function preparedBy(
  name: ChangeName,
  runs: ProgramRuns,
  othersToFollow: number,
): Promise<PreparedChange> {
  try {
    return await runs.prepare(name, othersToFollow)
  } catch (error) {
    if (!runs.isEarlyEnd(error)) throw error
    return endedEarly
  }
}

/** Compares the program with and without changes; the gain is null if the runs end before there is a pair. */
async function gainBy(
  names: readonly ChangeName[],
  runs: ProgramRuns,
  othersToFollow: number,
): Promise<{ readonly gain: Gain | null; readonly isEnded: boolean }> {
  const bounds = runs.boundsOf(names.join(' and '), othersToFollow)
  let gain: Gain | null = null
  const onPair = (known: Gain) => {
    gain = known
    bounds.onPair?.(known)
  }
  try {
    gain = await comparedRuns((isChanged) => runs.run(isChanged ? names : []), { ...bounds, onPair })
    return { gain, isEnded: false }
  } catch (error) {
    if (!runs.isEarlyEnd(error)) throw error
    return { gain, isEnded: true }
  }
}

/** Returns what follows from the runs, also if they were ended early. */
function concluded(
  tried: readonly TriedChange[],
  untried: readonly ImpossibleChange[],
  together: Gain | null,
): Advice {
  const gained = tried.filter(({ finding }) => finding === 'faster')
  const best = gained.toSorted((a, b) => b.gain.ratio - a.gain.ratio)[0] as TriedChange | undefined
  const pays =
    together !== null &&
    best !== undefined &&
    findingOf(together) === 'faster' &&
    together.ratio >= best.gain.ratio
  const advised = pays ? gained.map(({ name }) => name) : best === undefined ? [] : [best.name]
  const gain = pays ? together : (best?.gain ?? null)
  return { tried, untried, together, advised, verdict: verdictOf(tried, untried, advised, gain) }
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
    return `The runs do not say yet whether this pays: ${open.join('; ')}. More pairs (--minutes, --pairs) or a quieter machine would.`
  if (tried.length > 0) {
    const texts = tried.map(({ name, gain }) => `${name}, ${gainText(gain)}`)
    return `Nothing to gain here: ${texts.join('; ')}.`
  }
  const most = untried.reduce((share, change) => Math.max(share, change.share), 0)
  if (most < leastShare)
    return `Nothing to gain here: at most ${percentText(most)} of the time is in calls that Rankweave can change.`
  return `Nothing to try here: ${untried.map(({ name, reason }) => `${name}, because ${reason}`).join('; ')}.`
}

/** Prints `1.31 times as fast [1.24, 1.39] in 11 pairs`. */
export function gainText({ interval, pairs, ratio }: Gain): string {
  const range = interval === null ? '' : ` [${interval.map((bound) => bound.toFixed(2)).join(', ')}]`
  const few = interval === null ? ', too few for an interval' : ''
  return `${ratio.toFixed(2)} times as fast${range} in ${pairs} ${pairs === 1 ? 'pair' : 'pairs'}${few}`
}

/** Prints `not tried: the time was over (it can touch at most 12% of the time)`. */
export function untriedText({ needsTime, reason, share }: Omit<ImpossibleChange, 'name'>): string {
  return `not tried: ${reason}${needsTime ? ` (it can touch at most ${percentText(share)} of the time)` : ''}`
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
