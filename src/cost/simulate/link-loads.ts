import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { checkMachine } from '../../machine/check-machine.js'
import type { Machine } from '../../machine/machine.js'
import { interiorOf } from '../../machine/network.js'
import type { Schedule } from '../../schedule/ir.js'
import type { LoweredSchedule } from '../../schedule/lower/program.js'
import { placesOf } from './costs.js'
import { frameTable } from './frame-table.js'
import { loweredSource } from './lowered-source.js'

/** Loads of some links of a machine. */
export interface LoadSummary {
  readonly links: number
  /** Links that bytes pass. */
  readonly used: number
  /** The link that most bytes pass, the first of several; -1 where no link is used. */
  readonly mostLoaded: number
  readonly mostBytes: number
  /** Over used links; 0 without any. */
  readonly meanBytes: number
}

/** What passes the links of a machine, numbered as its network numbers them; the summary is of all links. */
export interface LinkLoads extends LoadSummary {
  /** Bytes of messages, without headers. Length: links. */
  readonly bytes: Float64Array
  /** Of links between nodes and network. */
  readonly ofNodes: LoadSummary
  /** Of links between routers or switches. */
  readonly ofInterior: LoadSummary
}

interface LinkLoadOptions {
  /** Process of every rank, process p being on core p of the machine. Default: one process per rank. */
  readonly placement?: Int32Array
}

const knownOptions: OptionTable<LinkLoadOptions> = uncheckedOptions('placement')

/**
 * How many bytes of a schedule pass each link of a machine, which needs no profile. Links are those of the simulator,
 * and so are messages: a block that several ranks of a process send those of another is counted once.
 *
 * Memory: 8 bytes per link, and what `simulate` needs for the programs and their messages.
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

/** Of links `first` to `end - 1`. */
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
