import type { CompletePlanRequest } from '../../client/protocol/http.js'
import { outlinedMachine } from '../../machine/machine-text.js'
import type { NodeOutline } from '../../machine/nodes.js'
import { type UnderstoodRequest, understand } from '../../neighborhood/choose/plan-request.js'

/** A request for a plan as it was read, once: plain data, which can be passed to worker threads. */
export interface ReadRequest extends UnderstoodRequest {
  readonly topology: string
  /** The machine as one line of text, which a worker thread lays out. */
  readonly machine: string | null
  /** The name of the plan, equal for equal requests. Stored plans keep their names. */
  readonly key: string
}

/**
 * Reads a request, with the errors of `rankweave plan`. The machine is not laid out, so this takes at most some
 * milliseconds, whatever machine the text describes.
 *
 * @returns also the size of the machine; null without one
 * @throws ERR_USAGE, ERR_STRATEGY, ERR_MACHINE
 */
export function readRequest(request: CompletePlanRequest): {
  readonly read: ReadRequest
  readonly nodes: NodeOutline | null
} {
  const { topology, machine: text = null } = request
  const machine = text === null ? undefined : outlinedMachine(text)
  const words = { ...request, machine, labelSeed: request.labels }
  const understood = understand(words, (name) => (name === 'labelSeed' ? 'labels' : name))
  const key = keyOf(request, understood)
  return { read: { ...understood, topology, machine: text, key }, nodes: machine?.outline ?? null }
}

/** Writes the request as the client wrote it, with defaults added. */
function keyOf(request: CompletePlanRequest, understood: UnderstoodRequest): string {
  const { topology, strategy, machine, operation, bytes = null, map } = request
  const mapped = map === undefined ? {} : { map }
  const words = { topology, strategy, machine: machine?.trim() ?? null, operation, bytes, ...mapped }
  if (strategy !== 'common-neighbor' || understood.strategy.kind !== strategy) return JSON.stringify(words)
  const { k, mode, theta = null, dedupe, elide, engine = 'greedy', labelSeed = null } = understood.strategy
  return JSON.stringify({ ...words, ...{ k, mode, theta, dedupe, elide, engine, labels: labelSeed } })
}
