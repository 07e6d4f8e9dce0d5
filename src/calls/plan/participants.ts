import { GrowingInt32Array } from '../../base/growing-array.js'
import { indexIn, rangeAt } from '../../base/search.js'
import type { Algorithm, CombinationOrder, Shape } from '../../collective/patterns/algorithm.js'
import type { ParticipantGrid } from '../../collective/patterns/participant-grid.js'
import { treePath } from '../../collective/patterns/rank-tree.js'
import { gridOfMachine } from '../../collective/ways/machine-grid.js'
import { RankweaveError } from '../../errors.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import type { Collective } from '../../schedule/specification.js'

/**
 * The participants of a collective's schedule, each of which combines or joins what its ranks contribute:
 *
 * - `processes`: every process, whose ranks may lie anywhere; for data that are not combined, or in any order;
 * - `runs`: every run of consecutive ranks of one process; for operations that do not commute;
 * - `pieces`: every largest part of the reduction tree whose ranks are a part of one run; for the bits of the tree;
 * - `path`: the same as far as a process exchanges messages with it along the tree ({@link pathParticipants}).
 */
export type ParticipantKind = WholeKind | 'path'
/** The kinds of which every process knows all participants. */
export type WholeKind = 'processes' | 'runs' | 'pieces'

export interface Participants {
  readonly kind: ParticipantKind
  readonly process: Int32Array
  /** The participants of this process, ascending. */
  readonly own: Int32Array
  /** The first rank of every participant, then the number of ranks; null for `processes`. */
  readonly firstRank: Int32Array | null
  /**
   * The local index of the first rank of each own participant; then the number of ranks here. Ranks here are in this
   * order.
   */
  readonly ownFirst: Int32Array
}

/**
 * Returns the kind of participants with which an algorithm combines in this order. In scans the order of the ranks
 * always matters. What combines nothing has order `any`.
 */
export function participantsFor(
  { collective, isAlongPath }: Pick<Algorithm, 'collective' | 'isAlongPath'>,
  required: CombinationOrder,
): ParticipantKind {
  const isScan = collective === 'scan' || collective === 'exscan'
  if (required === 'any' && !isScan) return 'processes'
  if (isAlongPath === true) return 'path'
  return required === 'tree' ? 'pieces' : 'runs'
}

/** Tells whether an algorithm combines in the required order. */
export function serves(algorithm: Algorithm, shape: Shape, required: CombinationOrder): boolean {
  const order = algorithm.order?.(shape) ?? 'any'
  return required === 'any' || order === 'tree' || order === required
}

/** Tells whether a reduction by an algorithm can be planned while the locations of the ranks are not known. */
export function isUnplaced(algorithm: Algorithm, required: CombinationOrder): boolean {
  const kind = participantsFor(algorithm, required)
  return kind === 'processes' || kind === 'path'
}

/** The most pieces, or runs, that are planned for, since every participant takes memory on every process. */
const mostParticipants = 2 ** 16

/**
 * Returns the participants of a kind, or null if there are too many. Except for `processes`, the location of every rank
 * must be known.
 */
export function participantsOf(state: CommContext, kind: WholeKind): Participants | null {
  const { processes, processIndex, localRanks, size } = state
  if (kind === 'processes') {
    const process = Int32Array.from({ length: processes.count }, (_, index) => index)
    const ownFirst = Int32Array.of(0, localRanks.length)
    return { kind, process, own: Int32Array.of(processIndex), firstRank: null, ownFirst }
  }
  if (kind === 'runs') return placed(state, kind, processes.runProcess, processes.runStart)
  const locations = {
    processOf: (rank: number) => state.processOfRank(rank) as number,
    endOfRun: (rank: number) => processes.endOfRun(rank),
  }
  const pieces = treePieces(size, locations, mostParticipants)
  if (pieces === undefined) return null
  const process = Int32Array.from(pieces, (piece) => piece.process)
  const firstRank = Int32Array.from([...pieces.map((piece) => piece.first), size])
  return placed(state, kind, process, firstRank)
}

function placed(
  { processIndex, localRanks }: CommContext,
  kind: ParticipantKind,
  process: Int32Array,
  firstRank: Int32Array,
): Participants | null {
  if (process.length > mostParticipants) return null
  return withOwn({ processIndex, localRanks }, kind, process, firstRank)
}

function withOwn(
  { processIndex, localRanks }: Pick<CommContext, 'processIndex' | 'localRanks'>,
  kind: ParticipantKind,
  process: Int32Array,
  firstRank: Int32Array,
): Participants {
  const own: number[] = []
  process.forEach((index, participant) => {
    if (index === processIndex) own.push(participant)
  })
  const first = own.map((participant) => indexIn(localRanks, firstRank[participant]))
  return {
    kind,
    process,
    own: Int32Array.from(own),
    firstRank,
    ownFirst: Int32Array.from([...first, localRanks.length]),
  }
}

interface RankLocations {
  processOf(rank: number): number
  /** Returns the rank after the run of consecutive ranks on one process that a rank is in. */
  endOfRun(rank: number): number
}

/** A maximal part of the reduction tree whose ranks are consecutive on one process. */
interface TreePiece {
  readonly first: number
  readonly process: number
}

/** Returns the pieces of the tree in O(pieces * lg ranks) time; undefined when there are more than `most`. */
function treePieces(
  ranks: number,
  { processOf, endOfRun }: RankLocations,
  most: number,
): readonly TreePiece[] | undefined {
  const pieces: TreePiece[] = []
  const visit = (first: number, size: number): boolean => {
    const end = Math.min(first + size, ranks)
    if (endOfRun(first) >= end) {
      pieces.push({ first, process: processOf(first) })
      return pieces.length <= most
    }
    const middle = first + size / 2
    return visit(first, size / 2) && (middle >= end || visit(middle, size / 2))
  }
  let size = 1
  while (size < ranks) size *= 2
  return visit(0, size) ? pieces : undefined
}

/**
 * Returns the participants of an algorithm in which each exchanges messages only with those on its path of the tree
 * over ranks. They are the pieces of this process and, for the ranks of other processes, the largest nodes of the tree
 * between them. About others it needs to know only where the halves on the paths of its pieces begin. These are O(ranks
 * here * lg ranks) addresses, looked up in one batch, not the whole table. Processes number the participants
 * differently, but in the same order.
 *
 * @param root rank that owns every node that it is in
 */
export function pathParticipants(state: CommContext, root: number): Participants | Promise<Participants> {
  const { size, localRanks, processIndex, processes } = state
  const firstRank = nodesAround(size, localRanks, root)
  const ranks = firstRank.length - 1
  // Participants that are never addressed count as another process's.
  const process = new Int32Array(ranks).fill(processIndex === 0 ? processes.count : 0)
  const shape = { ranks, firstRank }
  const rootIndex = rangeAt(firstRank, root)
  const peers = new Set<number>()
  for (let participant = 0; participant < ranks; participant++) {
    if (indexIn(localRanks, firstRank[participant]) < 0) continue
    process[participant] = processIndex
    for (const { left, right } of treePath(shape, participant, rootIndex)) {
      peers.add(left === participant ? right : left)
    }
  }
  const remote = Int32Array.from(peers).filter((peer) => process[peer] !== processIndex)
  const done = (hosts: ArrayLike<number>): Participants => {
    for (let i = 0; i < remote.length; i++) process[remote[i]] = hosts[i]
    return withOwn(state, 'path', process, firstRank)
  }
  const first = remote.map((peer) => firstRank[peer])
  if (!state.isPlaced) return state.processesOfRanks(first).then(done)
  return done(first.map((rank) => state.processOfRank(rank) as number))
}

/**
 * Returns the first ranks of nodes of the tree, then the number of ranks. The nodes are the largest that are
 * consecutive ranks here, or lie between them and, on one side, the root.
 */
function nodesAround(size: number, localRanks: Int32Array, root: number): Int32Array {
  const firsts = new GrowingInt32Array()
  const between = (first: number, end: number): void => {
    for (let at = first; at < end; ) {
      let ranks = 1
      while (at % (2 * ranks) === 0 && ranks < size && Math.min(at + 2 * ranks, size) <= end) ranks *= 2
      firsts.push(at)
      at += ranks
    }
  }
  const others = (first: number, end: number): void => {
    const cut = first < root && root < end ? root : first
    between(first, cut)
    between(cut, end)
  }
  let before = 0
  for (let i = 0; i < localRanks.length; ) {
    const first = localRanks[i]
    let end = first
    while (i < localRanks.length && localRanks[i] === end) {
      i++
      end++
    }
    others(before, first)
    between(first, end)
    before = end
  }
  others(before, size)
  firsts.push(size)
  return firsts.toArray()
}

// Rank r of the world is on core r of its machine. A rank of another communicator is on the core of its rank in the
// world. A process is on the core of the lowest rank of the world that it hosts in the communicator. The grid thus
// follows from the machine and the rank table alone, and all processes find the same.

/**
 * Returns why an algorithm that follows the network cannot serve a communicator; null if it can. With a
 * distributed table a process knows only some locations, and another may have fetched them all.
 */
export function placesRefusal({ followsGrid }: Algorithm, state: CommContext): string | null {
  if (followsGrid !== true || state.runtime.options.machine === undefined || !state.wasDistributed)
    return null
  return `it follows the network of the world's machine, and ${unknownPlaces}`
}

/**
 * Refuses `auto` if the machine cannot choose. All ranks find the same.
 *
 * @throws ERR_MACHINE unless the world has a machine with a profile; ERR_ALGORITHM if the rank table is in parts
 */
export function requireChoices(collective: Collective, { runtime, wasDistributed }: CommContext): void {
  const { machine } = runtime.options
  const expected = `${collective}: algorithm auto: expected a world with a machine that has a profile`
  if (machine === undefined) throw new RankweaveError('ERR_MACHINE', `${expected}, got no machine`)
  if (machine.profile === null) throw new RankweaveError('ERR_MACHINE', `${expected}, got one without`)
  if (wasDistributed)
    throw new RankweaveError('ERR_ALGORITHM', `${collective}: algorithm auto: ${unknownPlaces}`)
}

const unknownPlaces = 'the rank table is distributed: no process knows all places'

/** Returns the core of every participant on the machine of a world. The communicator's table must be whole. */
export function coresOfParticipants(state: CommContext, { process, firstRank }: Participants): Int32Array {
  const worldRankOf = (rank: number): number => state.table.lookup(rank) as number
  const coreOf = new Int32Array(process.length).fill(-1)
  if (firstRank === null) {
    for (let rank = 0; rank < state.size; rank++) {
      const core = worldRankOf(rank)
      const index = state.processOfRank(rank) as number
      if (coreOf[index] < 0 || core < coreOf[index]) coreOf[index] = core
    }
  } else for (let i = 0; i < coreOf.length; i++) coreOf[i] = worldRankOf(firstRank[i])
  return coreOf
}

/**
 * Returns the places of participants on the machine of the world; undefined without one, or if {@link gridOfMachine}
 * has none. The communicator's table must be whole. Time: proportional to its ranks.
 */
export function gridOfParticipants(
  state: CommContext,
  participants: Participants,
): ParticipantGrid | undefined {
  const { machine } = state.runtime.options
  if (machine === undefined || state.wasDistributed) return undefined
  const coreOf = coresOfParticipants(state, participants)
  return gridOfMachine(machine, coreOf, coreOf.length)
}
