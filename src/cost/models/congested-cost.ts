import { addToList } from '../../base/maps.js'
import { shown } from '../../errors.js'
import { torusInterior } from '../../machine/interior.js'
import { opKind, type Schedule } from '../../schedule/ir.js'
import { requireSchedule } from '../../schedule/require-schedule.js'
import { fail, requireBytes, requireFigures, requireInteger, requireTaper } from './check-input.js'

/** The messages between two barriers. */
export interface Stage {
  readonly source: ArrayLike<number>
  readonly destination: ArrayLike<number>
  readonly bytes: ArrayLike<number>
  /** The direction of every message if both ways round an even ring are equal: 1 up, -1 down. Default: balanced. */
  readonly side?: ArrayLike<number>
  /** The messages, by index, that must have arrived before each starts. Default: all start together. */
  readonly after?: readonly (readonly number[])[]
}

/** The cost of stages: `messages * alpha + bytes * delta`. */
export interface CongestedCost {
  /** The sum over the stages of the most messages that one node sends or receives. */
  readonly messages: number
  /**
   * The sum over the stages of the time until the last message has arrived. A byte takes 1 on a link that one message
   * uses alone.
   */
  readonly bytes: number
}

/**
 * Returns the cost of stages of messages on a network where messages that start together share links. Each takes c
 * times as long as alone, where c is the most messages per capacity of any link on its route. The cost is exact if
 * messages that meet on a link are equally long, start together and end together. Other messages are refused because
 * their time depends on more than that.
 *
 * @throws ERR_MODEL for messages that meet and differ, for a message that waits for several which do not arrive
 *   together, for messages that wait for each other, for nodes or bytes out of range, and for an invalid network or
 *   invalid stages
 * @see Sack 2011 §3.1
 */
export function congestedCost(network: CongestionNetwork, stages: Iterable<Stage>): CongestedCost {
  requireNetwork(network)
  if (typeof Object(stages)[Symbol.iterator] !== 'function')
    fail(`expected a list of stages, got ${shown(stages)}`)
  let messages = 0
  let bytes = 0
  for (const stage of stages) {
    checkStage(network, stage)
    messages += mostMessages(network, stage)
    bytes += stageBytes(network, stage)
  }
  return { messages, bytes }
}

function requireNetwork(network: CongestionNetwork): void {
  const { nodes, links, longestRoute, route } = Object(network) as CongestionNetwork
  const counts = [nodes, links, longestRoute]
  if (counts.every((count) => Number.isInteger(count) && count >= 0) && typeof route === 'function') return
  fail(`expected a network, got ${shown(network)}`)
}

function checkStage({ nodes }: CongestionNetwork, stage: Stage): void {
  const { source, destination, bytes, side, after } = Object(stage) as Stage
  if (![source, destination, bytes].every(isList) || !(side === undefined || isList(side)))
    fail(`expected a stage with lists of sources, destinations and bytes, got ${shown(stage)}`)
  const count = source.length
  if (after !== undefined && !(Array.isArray(after) && after.every(isList)))
    fail(`expected lists of messages to wait for, got ${shown(after)}`)
  if (destination.length !== count || bytes.length !== count || (after && after.length !== count))
    fail(`expected a stage with ${count} destinations, lengths and dependencies, one per source`)
  for (let i = 0; i < count; i++) {
    for (const node of [source[i], destination[i]])
      if (!Number.isInteger(node) || node < 0 || node >= nodes)
        fail(`message ${i}: expected nodes from 0 to ${nodes - 1}, got ${shown(node)}`)
    if (!(Number.isFinite(bytes[i]) && bytes[i] >= 0))
      fail(`message ${i}: expected a length of at least 0, got ${shown(bytes[i])}`)
    if (side?.[i] !== undefined && !Number.isFinite(side[i]))
      fail(`message ${i}: expected a side of 1 or -1, got ${shown(side[i])}`)
    for (const other of after?.[i] ?? [])
      if (!Number.isInteger(other) || other < 0 || other >= count)
        fail(`message ${i}: expected to wait for messages from 0 to ${count - 1}, got ${shown(other)}`)
  }
}

function isList(value: unknown): boolean {
  return typeof value === 'object' && Number.isInteger(Object(value).length)
}

function mostMessages({ nodes }: CongestionNetwork, { source, destination }: Stage): number {
  const sent = new Int32Array(nodes)
  const received = new Int32Array(nodes)
  let most = 0
  for (let i = 0; i < source.length; i++) {
    most = Math.max(most, ++sent[source[i]], ++received[destination[i]])
  }
  return most
}

/** Returns the time at which the last message of a stage arrives. */
function stageBytes(network: CongestionNetwork, stage: Stage): number {
  const { source, after } = stage
  const count = source.length
  const load = new Loads(network, stage)
  const missing = new Int32Array(count)
  const waiting: number[][] = []
  after?.forEach((others, i) => {
    missing[i] = others.length
    for (const other of others) {
      waiting[other] ??= []
      waiting[other].push(i)
    }
  })
  /** The time at which the messages arrived that each message waits for; not a number until one has. */
  const start = new Float64Array(count).fill(Number.NaN)
  const groups = new Map<number, number[]>()
  const first: number[] = []
  for (let i = 0; i < count; i++) if (missing[i] === 0) first.push(i)
  if (first.length > 0) groups.set(0, first)
  let done = 0
  let last = 0
  while (groups.size > 0) {
    let now = Number.POSITIVE_INFINITY
    for (const time of groups.keys()) now = Math.min(now, time)
    const group = groups.get(now)!
    groups.delete(now)
    done += group.length
    load.begin(group, now, (message, end) => {
      last = Math.max(last, end)
      for (const next of waiting[message] ?? []) {
        if (!Number.isNaN(start[next]) && start[next] !== end)
          fail(`message ${next} waits for messages that do not arrive together: at ${start[next]} and ${end}`)
        start[next] = end
        if (--missing[next] > 0) continue
        addToList(groups, end, next)
      }
    })
  }
  if (done < count) fail(`${count - done} messages wait for each other`)
  return last
}

class Loads {
  readonly #network: CongestionNetwork
  readonly #stage: Stage
  readonly #count: Int32Array
  /** The time until which the messages of an earlier group occupy a link. */
  readonly #busyUntil: Float64Array
  /** The length of the messages of this group on each link. */
  readonly #length: Float64Array
  readonly #end: Float64Array
  readonly #route: Int32Array

  constructor(network: CongestionNetwork, stage: Stage) {
    this.#network = network
    this.#stage = stage
    this.#count = new Int32Array(network.links)
    this.#busyUntil = new Float64Array(network.links)
    this.#length = new Float64Array(network.links)
    this.#end = new Float64Array(network.links)
    this.#route = new Int32Array(network.longestRoute)
  }

  /** Starts messages together. @param ended called for each with the time of its arrival */
  begin(group: readonly number[], now: number, ended: (message: number, end: number) => void): void {
    const { capacity } = this.#network
    const { bytes } = this.#stage
    for (const message of group)
      this.#each(message, (link) => {
        if (bytes[message] > 0 && this.#busyUntil[link] > now)
          fail(
            `message ${message} starts at ${now} on a link that others occupy until ${this.#busyUntil[link]}`,
          )
        if (this.#count[link]++ === 0) this.#length[link] = bytes[message]
        else if (this.#length[link] !== bytes[message])
          fail(
            `messages of ${this.#length[link]} and ${bytes[message]} bytes meet on a link: expected equal lengths`,
          )
      })
    const ends = group.map((message) => {
      let congestion = 1
      this.#each(message, (link) => {
        congestion = Math.max(congestion, this.#count[link] / capacity[link])
      })
      return now + congestion * bytes[message]
    })
    group.forEach((message, i) => {
      this.#each(message, (link) => {
        if (this.#count[link] > 0) {
          this.#count[link] = 0
          this.#end[link] = ends[i]
          this.#busyUntil[link] = ends[i]
        } else if (this.#end[link] !== ends[i])
          fail(
            `messages that meet on a link end at ${this.#end[link]} and ${ends[i]}: expected the same time`,
          )
      })
    })
    group.forEach((message, i) => {
      ended(message, ends[i])
    })
  }

  #each(message: number, visit: (link: number) => void): void {
    const { source, destination, side } = this.#stage
    const links = this.#network.route(
      source[message],
      destination[message],
      this.#route,
      side?.[message] ?? 0,
    )
    for (let i = 0; i < links; i++) visit(this.#route[i])
  }
}

/** A network as one-way links, numbered from 0, with the routes of messages. */
export interface CongestionNetwork {
  readonly nodes: number
  readonly links: number
  /** The number of messages that a link carries at full speed at the same time. Length: links. */
  readonly capacity: Float64Array
  /**
   * Writes the links of a route into `into` and returns their number.
   *
   * @param side the direction if both are equally long: 1 up, -1 down, 0 as the network chooses
   */
  route(source: number, destination: number, into: Int32Array, side: number): number
  /** The most links of a route. */
  readonly longestRoute: number
}

const mostNodes = 2 ** 20

/**
 * Returns a torus; node x + X y + X Y z is at (x, y, z). Links and routes are those of a machine of kind `torus`, which
 * the simulator uses: one dimension after the other, each on the shorter side. If both sides are equally long, nodes at
 * an even coordinate go up and the others down, which balances them.
 *
 * @param dims extents of any number of dimensions, the fastest first
 * @throws ERR_MODEL
 * @see Sack 2011 §3.1
 */
export function torusNetwork(dims: readonly number[]): CongestionNetwork {
  requireFigures('extents', dims)
  if (dims.length === 0 || dims.length > 16) fail(`expected 1 to 16 dimensions, got ${dims.length}`)
  for (const extent of dims) requireInteger('extents', extent, 1, mostNodes)
  const nodes = dims.reduce((product, extent) => product * extent, 1)
  requireInteger('nodes', nodes, 1, mostNodes)
  const { links, longestPath, path } = torusInterior({ dims, wraps: dims.map(() => true) })
  return {
    nodes,
    links,
    capacity: new Float64Array(links).fill(1),
    longestRoute: longestPath,
    route: (source, destination, into, side) => path(source, destination, 0, into, 0, side),
  }
}

export interface Clos {
  readonly nodes: number
  readonly nodesPerSwitch: number
  /** The share mu of its nodes' bandwidth that a leaf switch can send to the others; above 0, at most 1. */
  readonly taper: number
}

/**
 * Returns a Clos network whose routing balances the links between switches perfectly: messages that leave a leaf switch
 * share `taper * nodesPerSwitch` links.
 *
 * @throws ERR_MODEL
 * @see Sack 2011 §3.1
 */
export function closNetwork(clos: Clos): CongestionNetwork {
  const { nodes, nodesPerSwitch, taper } = Object(clos) as Clos
  requireInteger('nodes', nodes, 1, mostNodes)
  requireInteger('nodesPerSwitch', nodesPerSwitch, 1, nodes)
  requireTaper(taper)
  const switches = Math.ceil(nodes / nodesPerSwitch)
  const links = 2 * nodes + 2 * switches
  const capacity = new Float64Array(links).fill(1, 0, 2 * nodes)
  capacity.fill(taper * nodesPerSwitch, 2 * nodes)
  const switchOf = (node: number): number => Math.floor(node / nodesPerSwitch)
  return {
    nodes,
    links,
    capacity,
    longestRoute: 4,
    route(source, destination, into) {
      if (source === destination) return 0
      into[0] = 2 * source
      into[1] = 2 * destination + 1
      const [from, to] = [switchOf(source), switchOf(destination)]
      if (from === to) return 2
      into[2] = 2 * nodes + 2 * from
      into[3] = 2 * nodes + 2 * to + 1
      return 4
    },
  }
}

/**
 * Yields the messages of a schedule with one rank per node: a stage per phase, as if a barrier ended it.
 *
 * @param blockBytes of every block and partial result
 * @throws ERR_MODEL for a length out of range
 */
export function scheduleStages(schedule: Schedule, blockBytes: number): Generator<Stage> {
  requireSchedule(schedule)
  requireBytes('blockBytes', blockBytes)
  return stagesOf(schedule, blockBytes)
}

function* stagesOf(schedule: Schedule, blockBytes: number): Generator<Stage> {
  const phases = Array.from({ length: schedule.phases }, () => ({
    source: [] as number[],
    destination: [] as number[],
    bytes: [] as number[],
  }))
  const { opStart, opKind: kinds, opPhase, opPeer, entryStart, specification } = schedule
  for (let rank = 0; rank < specification.ranks; rank++) {
    for (let op = opStart[rank]; op < opStart[rank + 1]; op++) {
      if (kinds[op] !== opKind.send) continue
      const { source, destination, bytes } = phases[opPhase[op]]
      source.push(rank)
      destination.push(opPeer[op])
      bytes.push((entryStart[op + 1] - entryStart[op]) * blockBytes)
    }
  }
  yield* phases
}
