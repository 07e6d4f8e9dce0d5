import { type BoundProgram, type BoundStart, programStart } from '../../calls/program/bound-collective.js'
import type { Signature } from '../../calls/signature.js'
import type { ChosenOperation } from '../../neighborhood/choose/auto.js'
import type { TunerPlace } from './neighbor-request.js'
import type { Neighborhood } from './neighborhood.js'
import { candidatesFor, type Tune } from './tune-options.js'
import { tunedStart } from './tuned-start.js'
import { Tuner } from './tuner.js'

export interface RequestOfProcess {
  readonly neighborhood: Neighborhood
  readonly operation: ChosenOperation
  /** The bytes of a block; null if no rank knows all lengths. */
  readonly bytes: number | null
  /** The arguments of the process's ranks, which share a tuner. */
  readonly all: readonly { readonly place: TunerPlace }[]
  /** The neighborhood whose plan a request without `tune` executes. */
  readonly untuned: () => Neighborhood | Promise<Neighborhood>
  /** Returns its program with the buffers of all. */
  readonly bound: (by: Neighborhood) => BoundProgram
}

/** Returns how a process starts a persistent request: by the program at hand, or by those of the strategies to try. */
export async function requestStart(
  signature: Signature,
  tune: Tune | null,
  { neighborhood, operation, bytes, all, untuned, bound }: RequestOfProcess,
): Promise<BoundStart> {
  if (tune === null) {
    const only = bound(await untuned())
    return programStart(signature, only)
  }
  const tuner = new Tuner(await candidatesFor(neighborhood, bytes, operation, tune), tune.starts)
  for (const { place } of all) place.tuner = tuner
  const programs = tuner.strategies.map((strategy) => bound(neighborhood.by(strategy)))
  return tunedStart(signature, tuner, programs, tune.now)
}
