import type { ProcessTopology } from '../../topology/process-topology.js'
import type { Schedule } from '../ir.js'
import { OperationLog } from '../operation-log.js'
import { neighborAllgatherSpecification, type Specification } from '../specification.js'
import { limit } from './checked-values.js'
import { blocksIn, type ScheduleFileHeader, type TopologyFacts, topologyFactsIn } from './header.js'
import { type LineBounds, readRankLine } from './read-rank-line.js'
import type { Reject } from './reject.js'
import { RankRows } from './rows.js'
import { SpecificationRows } from './specification-rows.js'

/** The contents of a schedule file's lines, collected rank by rank in any order. */
export class FileContent {
  readonly header: ScheduleFileHeader
  readonly topologyFacts: TopologyFacts | null
  readonly #bounds: LineBounds
  readonly #log: OperationLog
  readonly #staging: Int32Array
  /** The state of each rank: 1 if its line may come, 2 if it has come. */
  readonly #state: Uint8Array
  /** The neighbors; null without a topology. */
  readonly #out: RankRows | null
  readonly #in: RankRows | null
  /** The specification; null in a neighbor allgather, whose specification follows from the topology even of a slice. */
  readonly #specification: SpecificationRows | null
  #found = 0
  /** The number of elements in the lists of ranks, blocks and slots of all lines, which are counted with 32 bits. */
  #listed = 0

  constructor(header: ScheduleFileHeader) {
    const { collective, phases, ranks, slice, version } = header
    this.header = header
    this.topologyFacts = topologyFactsIn(header)
    const hasTopology = this.topologyFacts !== null
    this.#bounds = { version, collective, ranks, phases, hasTopology, blocks: blocksIn(header) }
    this.#log = new OperationLog(ranks)
    this.#staging = new Int32Array(ranks)
    this.#state = new Uint8Array(ranks)
    if (slice === null) this.#state.fill(1)
    else for (const rank of slice) this.#state[rank] = 1
    this.#out = hasTopology ? new RankRows(ranks) : null
    this.#in = hasTopology ? new RankRows(ranks) : null
    const follows = hasTopology && collective === 'neighbor-allgather'
    this.#specification = follows || version === 1 ? null : new SpecificationRows(header)
  }

  add(value: unknown, reject: Reject): void {
    const line = readRankLine(value, this.#bounds, this.#log, reject)
    const { rank } = line
    if (this.#state[rank] === 2) reject('rank', 'each rank once', `rank ${rank} again`)
    if (this.#state[rank] === 0) reject('rank', 'a rank of the slice in the header', rank)
    this.#listed += line.out.length + line.in.length + line.own.length + line.slots.length
    if (this.#listed >= limit)
      reject('the line', `fewer than ${limit} elements in the lists so far`, this.#listed)
    this.#state[rank] = 2
    this.#found++
    this.#staging[rank] = line.staging
    this.#specification?.add(rank, line.own, line.slots)
    this.#out?.set(rank, line.out)
    this.#in?.set(rank, line.in)
  }

  /** Returns why the lines are not complete; null if they are. */
  missing(): string | null {
    const expected = this.header.slice?.length ?? this.header.ranks
    if (this.#found === expected) return null
    return `expected ${expected} rank lines, got ${this.#found}: rank ${this.#state.indexOf(1)} is missing`
  }

  schedule(): Schedule {
    const { parameters, phases, strategy } = this.header
    const topology = this.#topology()
    const specification = this.#specificationFor(topology)
    const head = { specification, topology, strategy, parameters, staging: this.#staging }
    return Object.freeze({ ...head, ...this.#log.operations(), phases })
  }

  #topology(): ProcessTopology | null {
    if (this.topologyFacts === null || this.#out === null || this.#in === null) return null
    const { cart, pairing } = this.topologyFacts
    const { ranks } = this.header
    const [outStart, outRank] = this.#out.compressed()
    const [inStart, inRank] = this.#in.compressed()
    return { ranks, outStart, outRank, outWeight: null, inStart, inRank, inWeight: null, pairing, cart }
  }

  #specificationFor(topology: ProcessTopology | null): Specification {
    return this.#specification?.build() ?? neighborAllgatherSpecification(topology!)
  }
}
