import { inLaterTurn } from '../../base/turn.js'

/**
 * The completions after which the next ones wait for a turn of the event loop. Otherwise ranks that share an event loop
 * and only complete each other's operations would run in microtasks without end. No timer or socket would then be
 * served.
 */
const completionsPerTurn = 1024

let completions = 0
const held: (() => void)[] = []

/** Runs `complete` now, or in the next turn of the event loop when this one has spent its budget. */
export function inTurn(complete: () => void): void {
  if (mayComplete()) complete()
  else hold(complete)
}

/** Spends one completion of this turn; returns false when there is none left, and it has to be held. */
export function mayComplete(): boolean {
  return held.length === 0 && ++completions < completionsPerTurn
}

/** Runs `complete` in the next turn of the event loop. */
export function hold(complete: () => void): void {
  if (held.push(complete) === 1) inLaterTurn(releaseHeld, undefined)
}

export function completionsHeld(): boolean {
  return held.length > 0
}

export function resolvedInTurn<T>(value: T): Promise<T> {
  if (mayComplete()) return Promise.resolve(value)
  return new Promise((resolve) => inTurn(() => resolve(value)))
}

/** Returns a completion without a value, within the same budget. */
export function doneInTurn(): Promise<void> {
  return mayComplete() ? done : new Promise((resolve) => inTurn(resolve))
}

const done = Promise.resolve()

function releaseHeld(): void {
  completions = 0
  for (const complete of held.splice(0)) complete()
}
