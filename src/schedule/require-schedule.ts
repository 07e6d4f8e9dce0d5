import { wrongValue } from '../errors.js'
import { requireTopology } from '../topology/process-topology.js'
import type { Schedule } from './ir.js'
import type { Reductions, Specification } from './specification.js'

/**
 * Checks that a value has the fields of a schedule, of their types, but not their lengths and contents, which `verify`
 * checks. Takes constant time, so that every function that users call with a schedule can afford it.
 *
 * @throws ERR_SCHEDULE; ERR_TOPOLOGY for an invalid topology
 */
export function requireSchedule(value: unknown): asserts value is Schedule {
  const schedule = Object(value) as Partial<Schedule>
  const { specification, topology, strategy, parameters, phases, opKind } = schedule
  const { staging, opStart, opPhase, opPeer, opTag, opAfter } = schedule
  const { entryStart, entryBlock, entryFrom, entryRight, entryTo } = schedule
  const isComplete =
    isSpecification(specification) &&
    typeof strategy === 'string' &&
    typeof parameters === 'object' &&
    parameters !== null &&
    typeof phases === 'number' &&
    opKind instanceof Uint8Array &&
    areLists([staging, opStart, opPhase, opPeer, opTag, opAfter]) &&
    areLists([entryStart, entryBlock, entryFrom, entryRight, entryTo])
  if (!isComplete) throw wrongValue('ERR_SCHEDULE', 'expected a schedule', value)
  if (topology !== null) requireTopology(topology)
}

/** Checks a specification as {@link requireSchedule} checks a schedule. @throws ERR_SCHEDULE */
export function requireSpecification(value: unknown): asserts value is Specification {
  if (isSpecification(value)) return
  throw wrongValue('ERR_SCHEDULE', 'expected the specification of a collective', value)
}

function isSpecification(value: unknown): boolean {
  const { collective, ranks, partStart, ownStart, ownBlock, slotStart, slotTerm, reductions } = Object(
    value,
  ) as Partial<Specification>
  const { runStart, first, count, stride } = Object(reductions) as Partial<Reductions>
  return (
    typeof collective === 'string' &&
    typeof ranks === 'number' &&
    areLists([partStart, ownStart, ownBlock, slotStart, slotTerm]) &&
    areLists([runStart, first, count, stride])
  )
}

function areLists(values: readonly unknown[]): boolean {
  return values.every((value) => value instanceof Int32Array)
}
