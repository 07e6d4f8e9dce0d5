import { laterTurn } from './turn.js'

/** The milliseconds for which long work holds the event loop at a time, apart from the rest of a step. */
const sliceMs = 10

/** Runs all steps now. */
export function atOnce<T>(steps: Generator<void, T>): T {
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  return step.value
}

/** Runs the steps in slices, between which the event loop runs. */
export async function inSlices<T>(steps: Generator<void, T>): Promise<T> {
  for (;;) {
    const end = performance.now() + sliceMs
    do {
      const step = steps.next()
      if (step.done === true) return step.value
    } while (performance.now() < end)
    await laterTurn()
  }
}

/** Work in flight, and the key on which it depends. */
export interface SharedWork<K, T> {
  readonly key: K
  readonly done: Promise<T>
}

/** Begins work, or waits for the work in flight for the same key. */
export async function joinWork<K, T>(
  inFlight: SharedWork<K, T>[],
  key: K,
  areSame: (a: K, b: K) => boolean,
  begin: () => Promise<T>,
): Promise<T> {
  const known = inFlight.find((each) => areSame(each.key, key))
  if (known !== undefined) return known.done
  const begun = { key, done: begin() }
  inFlight.push(begun)
  try {
    return await begun.done
  } finally {
    inFlight.splice(inFlight.indexOf(begun), 1)
  }
}
