import type { Exchange } from '../../calls/exchange/exchange.js'
import { runProgram } from '../../calls/program/run-program.js'
import { elementSizeBytes, typeCode } from '../../messages/datatype/elements.js'
import type { ProcessCounts, ProcessProgram } from '../../schedule/lower/program.js'
import { UniformStore } from '../memory/uniform-store.js'

/** The traffic of completed calls of neighborhood collectives. */
export interface NeighborTraffic {
  /** The calls and starts in which this process took part, counted once for all its ranks. */
  calls: number
  /** The number of messages of the schedule that left this process in frames. */
  messagesSent: number
  /** The number of messages of the schedule between ranks of this process, which became copies. */
  messagesInProcess: number
  framesSent: number
  blocksSent: number
}

/** Adds the traffic of one run of a program. */
export function countRun(
  traffic: NeighborTraffic,
  { messagesSent, messagesInside, framesSent, blocksSent }: ProcessCounts,
): void {
  traffic.calls++
  traffic.messagesSent += messagesSent
  traffic.messagesInProcess += messagesInside
  traffic.framesSent += framesSent
  traffic.blocksSent += blocksSent
}

export function noTraffic(): NeighborTraffic {
  return { calls: 0, messagesSent: 0, messagesInProcess: 0, framesSent: 0, blocksSent: 0 }
}

/**
 * Exchanges some integers about every value by running the program once with them as blocks.
 *
 * @param each integers per value
 * @param fill writes the integers of the contributed values: those of value v from `v * each` on
 */
export async function exchangeLengths(
  program: ProcessProgram,
  traffic: NeighborTraffic,
  exchange: Exchange,
  each: number,
  fill: (words: Int32Array) => void,
): Promise<Int32Array> {
  const type = typeCode.Int32Array
  const store = new UniformStore(program, type, elementSizeBytes(type), each)
  const words = store.words as Int32Array
  fill(words)
  await new Promise<void>((resolve) => runProgram(program, exchange, store, resolve))
  countRun(traffic, program.counts)
  return words
}
