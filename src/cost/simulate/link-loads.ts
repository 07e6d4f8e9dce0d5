import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { checkMachine } from '../../machine/check-machine.js'
import type { Machine } from '../../machine/machine.js'
import { interiorOf } from '../../machine/network.js'
import type { Schedule } from '../../schedule/ir.js'
import type { LoweredSchedule } from '../../schedule/lower/program.js'
import { placesOf } from './costs.js'
import { frameTable } from './frame-table.js'
import { loweredSource } from './simulate.js'

export interface LoadSummary {
  readonly links: number
  /** The number of links that bytes pass. */
  readonly used: number
  /** The link that most bytes pass, the first of several; -1 if no link is used. */
  readonly mostLoaded: number
  readonly mostBytes: number
  /** The mean over used links; 0 if there are none. */
  readonly meanBytes: number
}

/** The loads of the links of a machine, numbered as its network numbers them. The summary is of all links. */
export interface LinkLoads extends LoadSummary {
  /** The bytes of messages, without headers. Length: links. */
  readonly bytes: Float64Array
  /** The loads of links between nodes and network. */
  readonly ofNodes: LoadSummary
  /** The loads of links between routers or switches. */
  readonly ofInterior: LoadSummary
}

interface LinkLoadOptions {
  /** The process of every rank, process p being on core p of the machine. Default: one process per rank. */
  readonly placement?: Int32Array
}

const knownOptions: OptionTable<LinkLoadOptions> = uncheckedOptions('placement')

/**
 * Returns the bytes of a schedule that pass each link of a machine, which needs no profile. Links and messages are
 * those of the simulator: a block that several ranks of a process send those of another is counted once.
 *
 * Memory: 8 bytes per link, and the memory of `simulate` for the programs and their messages.
 *
 * @param source a schedule that verifies, or one that has been lowered, with its placement
 * @param bytes as of `simulate`
 * @throws ERR_SIMULATION, ERR_PLACEMENT, ERR_SCHEDULE as `simulate`; ERR_MACHINE for fewer cores than processes, and
 *   beyond 2^24 links
 */
export function linkLoads(
  source: Schedule | LoweredSchedule,
  machine: Machine,
  bytes: number | ArrayLike<number>,
  options: LinkLoadOptions = {},
): LinkLoads {
  requireKnownOptions('linkLoads', options, knownOptions)
  checkMachine(machine)
  const { lowered, bytesOf } = loweredSource(source, bytes, options.placement)
  const { node } = placesOf(machine, lowered.programs.length)
  const frames = frameTable(lowered, bytesOf)
  const interior = interiorOf(machine)
  const firstInterior = 2 * machine.cores.length
  const loads = new Float64Array(firstInterior + interior.links)
  const path = new Int32Array(interior.longestPath)
  for (let frame = 0; frame < frames.from.length; frame++) {
    const [from, to] = [node[frames.from[frame]], node[frames.to[frame]]]
    if (from === to) continue
    loads[2 * from] += frames.bytes[frame]
    loads[2 * to + 1] += frames.bytes[frame]
    const end = interior.path(from, to, firstInterior, path, 0)
    for (let i = 0; i < end; i++) loads[path[i]] += frames.bytes[frame]
  }
  return {
    bytes: loads,
    ...summedLoads(loads, 0, loads.length),
    ofNodes: summedLoads(loads, 0, firstInterior),
    ofInterior: summedLoads(loads, firstInterior, loads.length),
  }
}

/** Sums the loads of links `first` to `end - 1`. */
function summedLoads(bytes: Float64Array, first: number, end: number): LoadSummary {
  let [used, mostLoaded, mostBytes, sum] = [0, -1, 0, 0]
  for (let link = first; link < end; link++) {
    if (bytes[link] === 0) continue
    used++
    sum += bytes[link]
    if (bytes[link] > mostBytes) [mostLoaded, mostBytes] = [link, bytes[link]]
  }
  return { links: end - first, used, mostLoaded, mostBytes, meanBytes: used === 0 ? 0 : sum / used }
}
