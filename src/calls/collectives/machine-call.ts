import type { CollectiveContext } from '../plan/collective-context.js'
import type { MachineCall } from '../plan/machine-choices.js'
import type { Method } from '../plan/method.js'
import type { BindableCall } from '../program/bound-collective.js'

/**
 * Returns the method of a call: what the ranks pass or, for `auto`, what the machine of the world has chosen. A
 * communicator of one process moves nothing, so there the rule decides.
 */
export function readyMethod(
  { plans, processes }: CollectiveContext,
  method: Method | undefined,
  call: MachineCall,
): Method | undefined | Promise<Method> {
  if (method?.isAuto !== true || processes.count === 1) return method
  return plans.byMachine.methodFor(method, call)
}

/**
 * Returns a call of a method. If the method is `auto`, the call takes its place in the order at once. It then runs as
 * the call of the method that the machine has chosen.
 *
 * @param make the call of a method that names an algorithm, or leaves it to the rule
 */
export function callByMachine<C>(
  state: CollectiveContext,
  method: Method | undefined,
  what: MachineCall,
  make: (method: Method | undefined) => BindableCall<C>,
): BindableCall<C> {
  const call = make(method)
  if (method?.isAuto !== true || state.processes.count === 1) return call
  let last: Method | undefined = method
  let made = call
  const callOf = (chosen: Method | undefined): BindableCall<C> => {
    if (chosen !== last) made = make(chosen)
    last = chosen
    return made
  }
  const { bind } = call
  return {
    ...call,
    // A process must know where all ranks are before it can choose.
    unplaced: false,
    run(contributions, exchange) {
      const ready = readyMethod(state, method, what)
      if (!(ready instanceof Promise)) return callOf(ready).run(contributions, exchange)
      return ready.then((chosen) => callOf(chosen).run(contributions, exchange))
    },
    ...(bind === undefined
      ? {}
      : {
          bind(contributions) {
            const ready = readyMethod(state, method, what)
            if (!(ready instanceof Promise)) return callOf(ready).bind!(contributions)
            return ready.then((chosen) => callOf(chosen).bind!(contributions))
          },
        }),
  }
}
