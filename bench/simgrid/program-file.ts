import { closeSync, openSync, writeSync } from 'node:fs'
import type { MemoryCosts, MessageCosts } from '../../src/machine/profile.js'
import type { Schedule } from '../../src/schedule/ir.js'
import type { LoweredSchedule, ProcessProgram } from '../../src/schedule/lower/program.js'
import { copiesOf } from '../../src/schedule/lower/value-memory.js'
import type { Specification } from '../../src/schedule/specification.js'

/** What a processor spends, for run-program.c to sleep. What the way costs is in the platform. */
export interface ProcessorCosts {
  /** By level, near to far: four each. */
  readonly messages: readonly Pick<MessageCosts, 'sendOverheadNs' | 'receiveOverheadNs'>[]
  readonly memory: MemoryCosts
}

const magic = 0x32505752
const headerBytes = 16 + 11 * 8

/**
 * Writes the programs of a schedule, one rank per process, as run-program.c reads them: a header with the
 * costs of the processor, the place of every rank's part, then the parts, so that a rank reads its own only.
 * Little-endian.
 *
 * @param levelOf how far apart two processes are: 0 to 3
 */
export function writeProgramFile(
  path: string,
  { schedule, programs }: LoweredSchedule,
  costs: ProcessorCosts,
  levelOf: (process: number, peer: number) => number,
): void {
  const { specification } = schedule
  const parts = programs.map((program, process) =>
    rankPart(program, schedule, (peer) => levelOf(process, peer)),
  )
  const head = new DataView(new ArrayBuffer(headerBytes + 8 * (parts.length + 1)))
  const { isIdempotent } = specification.reductions
  const words = [magic, programs.length, isIdempotent ? 1 : 0, 0]
  for (const [i, word] of words.entries()) head.setInt32(4 * i, word, true)
  const doubles = [
    ...costs.messages.map(({ sendOverheadNs }) => sendOverheadNs),
    ...costs.messages.map(({ receiveOverheadNs }) => receiveOverheadNs),
    ...[costs.memory.copyNsPerByte, costs.memory.copyBlockNs, costs.memory.reduceNsPerByte],
  ]
  for (const [i, cost] of doubles.entries()) head.setFloat64(16 + 8 * i, cost, true)
  let at = head.byteLength
  for (const [rank, part] of parts.entries()) {
    head.setBigInt64(headerBytes + 8 * rank, BigInt(at), true)
    at += part.byteLength
  }
  head.setBigInt64(headerBytes + 8 * parts.length, BigInt(at), true)
  const file = openSync(path, 'w')
  try {
    writeSync(file, head)
    for (const part of parts) writeSync(file, part)
  } finally {
    closeSync(file)
  }
}

/** The arrays of one rank, in the order in which run-program.c reads them. */
function rankPart(
  program: ProcessProgram,
  schedule: Schedule,
  levelOf: (peer: number) => number,
): Int32Array {
  const { specification } = schedule
  const { ranks, ownStart, valueTerm, send, receive, combine, dependencies } = program
  const { gates } = program
  if (ranks.length !== 1) throw new Error(`expected one rank per process, got ${ranks.length}`)
  const own = ownStart[1]
  const slots = slotsOf(program, specification)
  const parts = partsOf(specification)
  const copies = copiesOf(schedule, program)
  const counts = [
    gates.sends.length,
    ...[valueTerm.length, own, send.peer.length, receive.peer.length, combine.left.length],
    ...[dependencies.use.length, slots.value.length, slots.runFirst.length, send.value.length],
    ...[parts, copies.toSlots.length],
  ]
  const arrays: readonly ArrayLike<number>[] = [
    ...[counts, valueTerm.map((term) => partOf(term, specification, parts)), valueTerm.subarray(0, own)],
    ...[send.peer, send.round, send.peer.map(levelOf), send.valueStart, send.value],
    ...[receive.peer, receive.round, receive.peer.map(levelOf), receive.valueStart],
    ...[combine.left, combine.right],
    ...[dependencies.needs, dependencies.useStart, dependencies.use],
    ...[slots.value, slots.runs, slots.runFirst, slots.runCount, slots.runStride],
    ...[copies.isSentInPlace, copies.isReceivedInPlace, copies.toSlots],
  ]
  const part = new Int32Array(arrays.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const array of arrays) {
    part.set(array, at)
    at += array.length
  }
  return part
}

/**
 * The value that fills each slot, and the runs of blocks whose combination it must be: one run of one block
 * for a block.
 */
function slotsOf({ ranks, fillStart, fillSlot, valueTerm }: ProcessProgram, specification: Specification) {
  const { slotStart, slotTerm, reductions } = specification
  const first = slotStart[ranks[0]]
  const value = new Int32Array(slotStart[ranks[0] + 1] - first)
  for (let v = 0; v < valueTerm.length; v++) {
    for (let f = fillStart[v]; f < fillStart[v + 1]; f++) value[fillSlot[f]] = v
  }
  const runs = [0]
  const runFirst: number[] = []
  const runCount: number[] = []
  const runStride: number[] = []
  for (let slot = 0; slot < value.length; slot++) {
    const term = slotTerm[first + slot]
    if (term >= 0) {
      runFirst.push(term)
      runCount.push(1)
      runStride.push(0)
    } else {
      for (let j = reductions.runStart[~term]; j < reductions.runStart[~term + 1]; j++) {
        runFirst.push(reductions.first[j])
        runCount.push(reductions.count[j])
        runStride.push(reductions.stride[j])
      }
    }
    runs.push(runFirst.length)
  }
  return { value, runs, runFirst, runCount, runStride }
}

/** Into how many parts every unit of data is cut; 0 where blocks are empty. */
function partsOf({ collective, partStart, ranks }: Specification): number {
  if (collective === 'barrier') return 0
  const isPerPair = collective === 'scatter' || collective === 'alltoall' || collective === 'reduce-scatter'
  const origin = partStart.findIndex((start, o) => o < ranks && partStart[o + 1] > start)
  return (partStart[origin + 1] - partStart[origin]) / (isPerPair ? ranks : 1)
}

/** Which part of its unit a block or partial result is. */
function partOf(term: number, { partStart }: Specification, parts: number): number {
  if (parts === 0) return 0
  if (term < 0) return ~term % parts
  return (term - partStart[originOf(term, partStart)]) % parts
}

/** The last rank whose first block is not after this one; ranks without blocks are passed over. */
function originOf(block: number, partStart: Int32Array): number {
  let low = 0
  let high = partStart.length - 1
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (partStart[middle] <= block) low = middle
    else high = middle
  }
  return low
}
