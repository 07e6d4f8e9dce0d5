import type { Communicator } from '../../handles/communicator.js'

/** An operation that is timed, on every rank at the same time. */
export type TimedOperation = () => Promise<unknown>

/** Finds the operations that take a run, the same on every rank. It warms up by twice as many each time. */
export async function operationsPerRun(
  world: Communicator,
  once: TimedOperation,
  runMs: number,
): Promise<number> {
  for (let iterations = 1; ; iterations *= 2) {
    const enough = (await timeOf(world, once, iterations)) >= runMs || iterations >= mostIterations
    if (await world.bcast(enough)) return iterations
  }
}

const mostIterations = 2 ** 24

/** Returns the milliseconds of so many operations, after a barrier. */
export async function timeOf(world: Communicator, once: TimedOperation, iterations: number): Promise<number> {
  await world.barrier()
  const begin = performance.now()
  for (let i = 0; i < iterations; i++) await once()
  return performance.now() - begin
}
