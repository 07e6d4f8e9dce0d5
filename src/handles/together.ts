import { promiseTry } from '../base/turn.js'
import { callTogether } from '../calls/collectives/together.js'
import { wrongValue } from '../errors.js'
import type { Communicator } from './communicator.js'

/**
 * Makes one collective call for all ranks of this process, for hosted programs: `together(worlds, (world, k) =>
 * world.allreduce(values[k], 'sum'))`. To other processes it is the call of single ranks: they may call either way.
 * Results, checks, errors and bits are those of that call.
 *
 * Shapes: `comms` are the handles of all ranks of one communicator in this process, each once, in any order. The result
 * is a list in that order; a barrier has none.
 *
 * Ownership: what the calls borrow is borrowed until the promise settles.
 *
 * Costs one promise, and one place in the order of calls, instead of one for each rank.
 *
 * @param call makes one collective call of the handle and returns its promise: any method of the communicator that
 *   returns the promise of one collective. It runs for each handle in turn, before anything is sent. Persistent requests
 *   are started by `Communicator.startAll`.
 * @throws ERR_ARGUMENT for handles that are not those of all ranks here, or a function that does anything but one such
 *   call; the error of a call's arguments, which names the rank. Nothing has been sent then. Otherwise the error of the
 *   first rank that fails
 */
export function together<C extends Communicator>(
  comms: ArrayLike<C>,
  call: (comm: C, k: number) => Promise<void>,
): Promise<void>
export function together<C extends Communicator, R>(
  comms: ArrayLike<C>,
  call: (comm: C, k: number) => Promise<R>,
): Promise<R[]>
export function together(
  comms: ArrayLike<Communicator>,
  call: (comm: Communicator, k: number) => Promise<unknown>,
): Promise<unknown> {
  return promiseTry(() => {
    if (typeof call !== 'function') throw wrongValue('ERR_ARGUMENT', 'together: expected a function', call)
    return callTogether(comms, call)
  })
}
