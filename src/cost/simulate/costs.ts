import { type Machine, nodeOf, packageOf } from '../../machine/machine.js'
import { levels, type MessageCosts, type Profile } from '../../machine/profile.js'
import type { LoweredSchedule } from '../../schedule/lower/program.js'
import { copiesOf } from '../../schedule/lower/value-memory.js'
import type { BytesOf } from './block-lengths.js'
import type { FrameTable } from './frame-table.js'

/** The places of processes. Length of both: processes. */
export interface ProcessPlaces {
  readonly node: Int32Array
  /** The package of every process, counted over all nodes. */
  readonly packageIndex: Int32Array
}

/**
 * Returns the places of processes, process p on core p.
 *
 * @throws ERR_MACHINE for a machine with fewer cores than processes
 */
export function placesOf(machine: Machine, processes: number): ProcessPlaces {
  return { node: nodeOf(machine, processes), packageIndex: packageOf(machine, processes) }
}

/** Returns the time of copying a block that is packed, unpacked or put into a slot. */
export function blockCopyNs({ memory }: Profile, blockBytes: number): number {
  return memory.copyBlockNs + blockBytes * memory.copyNsPerByte
}

/** The costs of jobs, in nanoseconds. */
export interface Costs {
  /** The index in `levels`, by frame. */
  readonly level: Uint8Array
  readonly messages: readonly MessageCosts[]
  /** The bytes of a frame on its way: its values and the header of its level. By frame. */
  readonly wireBytes: Float64Array
  /** The time of packing a frame, and of unpacking it; 0 if it is sent, or received, in place. By frame. */
  readonly packNs: Float64Array
  readonly unpackNs: Float64Array
  /** The time of each combination, process by process. */
  readonly combineNs: Float64Array
  /** The time of the copies to slots that follow everything else. By process. */
  readonly copyNs: Float64Array
}

export function costsOf(
  frames: FrameTable,
  { programs, schedule }: LoweredSchedule,
  bytesOf: BytesOf,
  profile: Profile,
  places: ProcessPlaces,
): Costs {
  const { sendStart, receiveStart, frameAt } = frames
  const { memory } = profile
  const combineNs: number[] = []
  const copyNs = new Float64Array(programs.length)
  const costs = costsOfFrames(frames, profile, places)
  for (const [p, program] of programs.entries()) {
    const { combine, valueTerm } = program
    for (let c = 0; c < combine.left.length; c++)
      combineNs.push(bytesOf(valueTerm[combine.firstValue + c]) * memory.reduceNsPerByte)
    const { isSentInPlace, isReceivedInPlace, toSlots } = copiesOf(schedule, program)
    isSentInPlace.forEach((is, frame) => {
      if (is === 1) costs.packNs[sendStart[p] + frame] = 0
    })
    isReceivedInPlace.forEach((is, frame) => {
      if (is === 1) costs.unpackNs[frameAt[receiveStart[p] + frame]] = 0
    })
    for (const value of toSlots) copyNs[p] += blockCopyNs(profile, bytesOf(valueTerm[value]))
  }
  return { ...costs, combineNs: Float64Array.from(combineNs), copyNs }
}

/** Returns the costs of frames for their processors. */
export function costsOfFrames(
  { from, to, blocks, bytes }: FrameTable,
  { memory, levels: costs }: Profile,
  places: ProcessPlaces,
): Pick<Costs, 'level' | 'messages' | 'packNs' | 'unpackNs' | 'wireBytes'> {
  const count = from.length
  const level = new Uint8Array(count)
  const packNs = new Float64Array(count)
  const wireBytes = new Float64Array(count)
  const messages = levels.map((name) => costs[name])
  const headers = messages.map(({ headerBytes = 0 }) => headerBytes)
  for (let f = 0; f < count; f++) {
    level[f] = levelBetween(places, from[f], to[f])
    wireBytes[f] = bytes[f] + headers[level[f]]
    if (blocks[f] > 1) packNs[f] = blocks[f] * memory.copyBlockNs + bytes[f] * memory.copyNsPerByte
  }
  return { level, messages, packNs, unpackNs: packNs.slice(), wireBytes }
}

const packageLevel = levels.indexOf('package')
const nodeLevel = levels.indexOf('node')
export const networkLevel = levels.indexOf('network')

/** Returns the index in `levels` of the messages between two processes. */
export function levelBetween({ node, packageIndex }: ProcessPlaces, a: number, b: number): number {
  if (packageIndex[a] === packageIndex[b]) return packageLevel
  return node[a] === node[b] ? nodeLevel : networkLevel
}
