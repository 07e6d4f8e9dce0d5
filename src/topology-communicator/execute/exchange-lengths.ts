import type { Exchange } from '../../calls/exchange/exchange.js'
import { runProgram } from '../../calls/program/run-program.js'
import { elementSizeBytes, typeCode } from '../../messages/datatype/elements.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import { UniformStore } from '../memory/uniform-store.js'
import { countRun, type NeighborTraffic } from './neighbor-traffic.js'

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
