import { laterTurn } from '../../base/turn.js'

/** Milliseconds that long work holds the event loop at a time, and as long as one of its steps takes. */
export const sliceMs = 10

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
