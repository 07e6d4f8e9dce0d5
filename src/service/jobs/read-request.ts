import type { CompletePlanRequest } from '../../client/protocol/http.js'
import { cluster, type Machine } from '../../machine/machine.js'
import { parseMachine } from '../../machine/machine-text.js'
import { simgridFast } from '../../machine/simgrid-profiles.js'
import { type UnderstoodRequest, understand } from '../../neighborhood/choose/plan-request.js'

/** A request for a plan as it was read, once: plain data, which worker threads are handed. */
export interface ReadRequest extends UnderstoodRequest {
  readonly topology: string
  /** One line of text. */
  readonly machine: string | null
  /** Equal for equal requests: names the plan. Plans that are stored keep their names. */
  readonly key: string
}

/**
 * Reads a request, with the errors of `rankweave plan`. A machine of millions of nodes is left to the worker,
 * so that the event loop is not held.
 *
 * @throws ERR_USAGE, ERR_STRATEGY, ERR_MACHINE
 */
export function readRequest(request: CompletePlanRequest): ReadRequest {
  const { topology, machine: text = null } = request
  const { machine = largeMachine } = { machine: machineOf(text) }
  const words = { ...request, machine: machine ?? undefined, labelSeed: request.labels }
  const understood = understand(words, (name) => (name === 'labelSeed' ? 'labels' : name))
  return { ...understood, topology, machine: text, key: keyOf(request, understood) }
}

/** Stands for machines that are not read here: nothing of a request depends on more. */
const largeMachine = cluster({ nodes: 2, cores: 2, profile: simgridFast })

/** The machine of a text; null without one, and undefined for one that is not read here. @throws ERR_MACHINE */
export function machineOf(text: string | null): Machine | null | undefined {
  if (text === null) return null
  return sizeClaimed(text) <= 2 ** 20 ? parseMachine(text) : undefined
}

/**
 * No less than the cores of the machine that a text describes: the product of its numbers, of a Clos network
 * that has all nodes it has room for to the power of its levels.
 */
function sizeClaimed(text: string): number {
  const claimed = [...text.matchAll(/\d+/g)].reduce(
    (product, [digits]) => product * Math.max(1, Number(digits)),
    1,
  )
  const isFull = text.startsWith('clos:') && !/[:,]nodes=/.test(text)
  return isFull ? claimed ** Number(/[:,]levels=(\d+)/.exec(text)?.[1] ?? 1) : claimed
}

/** The request as the client wrote it, with defaults written out. */
function keyOf(request: CompletePlanRequest, understood: UnderstoodRequest): string {
  const { topology, strategy, machine, operation, bytes = null } = request
  const words = { topology, strategy, machine: machine?.trim() ?? null, operation, bytes }
  if (strategy !== 'common-neighbor' || understood.strategy.kind !== strategy) return JSON.stringify(words)
  const { k, mode, theta = null, dedupe, elide, engine = 'greedy', labelSeed = null } = understood.strategy
  return JSON.stringify({ ...words, ...{ k, mode, theta, dedupe, elide, engine, labels: labelSeed } })
}
