import { isNeighborSchedule, type Schedule } from '../ir.js'
import type { ProcessProgram } from './program.js'
import { area, memoryOptionsOf, type ValueMemory, valueMemory } from './value-memory.js'

/**
 * The copies that a process makes while it runs a program. They follow from the places of the schedule's values in the
 * buffers of its ranks, so runners, simulators and exports agree on them.
 */
interface Copies {
  /** By send frame, 1 for a frame that is sent from the place of its values, 0 for one that is packed. */
  readonly isSentInPlace: Uint8Array
  /** By receive frame, 1 for a frame that is received in the place of its values, 0 for one that is unpacked. */
  readonly isReceivedInPlace: Uint8Array
  /** The values that are copied into slots, once for each copy. */
  readonly toSlots: Int32Array
}

/**
 * Computes the copies of a program. A frame whose values lie next to each other in memory, in its order, needs no copy
 * at this end; one of at most one value never does. Ends are independent: one may pack a frame that the other receives
 * in place.
 *
 * In neighborhood collectives, frames of several values are packed and unpacked.
 */
export function copiesOf(schedule: Schedule, program: ProcessProgram): Copies {
  const { send, receive } = program
  if (isNeighborSchedule(schedule)) {
    const never = (): boolean => false
    return {
      isSentInPlace: runsOf(send.valueStart, never),
      isReceivedInPlace: runsOf(receive.valueStart, never),
      toSlots: besideFirstSlots(program),
    }
  }
  const { collective, partStart } = schedule.specification
  const memory = valueMemory(program, memoryOptionsOf(collective, partStart[1]))
  const follows = followsIn(program, memory)
  return {
    isSentInPlace: runsOf(send.valueStart, (at) => follows(send.value[at - 1], send.value[at])),
    isReceivedInPlace: runsOf(receive.valueStart, (value) => follows(value - 1, value)),
    toSlots: Int32Array.from([...memory.ownCopy, ...memory.copy]),
  }
}

function runsOf(valueStart: Int32Array, follows: (at: number) => boolean): Uint8Array {
  const frames = valueStart.length - 1
  const isRun = new Uint8Array(frames).fill(1)
  for (let frame = 0; frame < frames; frame++) {
    for (let at = valueStart[frame] + 1; isRun[frame] === 1 && at < valueStart[frame + 1]; at++)
      if (!follows(at)) isRun[frame] = 0
  }
  return isRun
}

/** Whether a value begins where another ends. The contributions of two ranks are in two buffers. */
function followsIn({ ownStart }: ProcessProgram, memory: ValueMemory) {
  const firsts = new Set(ownStart)
  return (before: number, value: number): boolean =>
    memory.area[before] === memory.area[value] &&
    memory.index[before] + 1 === memory.index[value] &&
    !(memory.area[value] === area.own && firsts.has(memory.index[value]))
}

/**
 * Returns the slots besides the first ones. An arriving value is received in its first slot; the contribution of a rank
 * is in none.
 */
function besideFirstSlots({ fillStart, ownStart, valueTerm }: ProcessProgram): Int32Array {
  const owns = ownStart[ownStart.length - 1]
  const copied: number[] = []
  for (let value = 0; value < valueTerm.length; value++) {
    const copies = fillStart[value + 1] - fillStart[value] - (value < owns ? 0 : 1)
    for (let copy = 0; copy < copies; copy++) copied.push(value)
  }
  return Int32Array.from(copied)
}
