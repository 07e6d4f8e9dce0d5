import { clockUs } from '../../base/clock.js'
import { largestOf } from '../../base/search.js'
import type { Algorithm, CombinationOrder } from '../../collective/patterns/algorithm.js'
import type { CallWatch, CommContext, WatchedCall } from '../../messages/process/comm-context.js'
import { contextKey } from '../../messages/process/frames.js'
import { type Collective, collectives } from '../../schedule/specification.js'
import {
  communicatorDraws,
  drawOfCall,
  GridSelection,
  leftToDefault,
  numberDrawn,
  type ReadyCell,
} from '../../tuning/online/grid-selection.js'
import {
  type OnlineCommunicator,
  type OnlineProcess,
  onlineCollectives,
} from '../../tuning/online/online-process.js'
import { settingLine } from '../../tuning/settings/setting.js'
import type { Exchange } from '../exchange/exchange.js'
import { topologyCalls } from '../signature.js'
import { serves } from './participants.js'
import { readySetting, type ServableSetting, type TunedLeaf } from './tuned-calls.js'

/** The calls that make communicators. The new communicator gets a part of the calls that are left. */
const making: ReadonlySet<string> = new Set(['split', 'dup', 'create', ...topologyCalls])
const tunable: ReadonlySet<string> = new Set(onlineCollectives)

type NamedKind = 'making' | 'tunable' | 'other'

/** A call while it runs. A later call of the same exchange reuses the object. */
class OnlineCall {
  /** Its number among the recorded calls on the communicator, from 0. */
  number = 0
  isRecorded = false
  /** The start time; no integer, so that a time is written to it without allocation. */
  startUs = 0.5
  /** Its place in the records; -1: not there. */
  place = -1
  setting = 0
}

/** The settings that serve the calls of one collective, of one order of combination, on a communicator. */
interface Selector {
  readonly selection: GridSelection
  /** The place of the collective among all. */
  readonly collective: number
}

/** The settings among which the calls of one collective, one order of combination and one length choose. */
interface CallChoices {
  readonly cell: ReadyCell
  /** The place of the collective among all. */
  readonly place: number
  readonly bytes: number
  readonly order: CombinationOrder | undefined
}

type Watched = Pick<Exchange, 'isWatched' | 'watched'>

/**
 * Online tuning of one communicator in one process: which setting each call takes, and how long it took.
 *
 * A choice depends on the call's number, its bytes and the communicator only, so members choose alike without a
 * message. Calls are numbered as they begin to run, which is in their order on every process.
 *
 * @see Steiner 2023 §4.6
 */
export class OnlineCalls implements CallWatch {
  readonly #process: OnlineProcess
  readonly #context: CommContext
  readonly #key: number
  readonly #draws: number
  /** Whether calls that are not recorded choose, too. */
  readonly #isTuned: boolean
  readonly #isMeasured: boolean
  #shape: Omit<OnlineCommunicator, 'key'> | undefined
  /** The selectors by collective and, for reductions, by order. */
  readonly #selectors = new Map<string, Selector>()
  readonly #leaves = new Map<Collective, (TunedLeaf | undefined)[]>()
  /** The place of the communicator in the records; -1 until a call is recorded. */
  #place = -1
  /** The number of calls that may still be recorded, and chosen if the run explores; -1 until a call begins. */
  #left = -1
  #calls = 0
  // These fields hold what the last call looked up, because most calls are like the one before.
  #lastName = ''
  #lastKind: NamedKind = 'other'
  readonly #lastChoices = new Map<Collective, CallChoices>()

  constructor(process: OnlineProcess, context: CommContext) {
    const { leader, counter } = context.id
    this.#process = process
    this.#context = context
    this.#key = contextKey(context.id)
    this.#draws = communicatorDraws(process.options.seed, Math.imul(leader, 0x9e3779b1) ^ counter)
    this.#isTuned = process.options.mode === 'tuned'
    this.#isMeasured = process.records.capacity > 0
  }

  begin(call: WatchedCall, name: string): void {
    if (name !== this.#lastName) this.#named(name)
    if (this.#lastKind !== 'tunable') {
      call.isWatched = false
      if (this.#lastKind === 'making') this.#share(call)
      return
    }
    const isRecorded = this.#left > 0
    call.isWatched = isRecorded || this.#isTuned
    if (!call.isWatched) return
    call.watched ??= new OnlineCall()
    const watched = call.watched as OnlineCall
    watched.isRecorded = isRecorded
    watched.setting = leftToDefault
    if (!isRecorded) return
    this.#left--
    watched.number = this.#calls++
    if (this.#isMeasured) watched.startUs = clockUs()
  }

  #named(name: string): void {
    this.#lastName = name
    this.#lastKind = making.has(name) ? 'making' : tunable.has(name) ? 'tunable' : 'other'
    if (this.#left < 0) this.#left = this.#granted()
  }

  /** Grants half of the calls that are left to the communicator that a call makes. */
  #share({ seq }: WatchedCall): void {
    const half = this.#left >> 1
    this.#left -= half
    this.#process.grant(this.#key, seq, half)
  }

  ended(call: WatchedCall): void {
    call.isWatched = false
    const watched = call.watched as OnlineCall
    if (watched.place < 0) return
    this.#process.records.end(watched.place, clockUs())
    watched.place = -1
  }

  /**
   * Draws the setting of a watched call and returns its number; 0 for the default, so that the rule decides. Allocates
   * nothing if the call is like the one before.
   *
   * @param order of a reduction: what it requires
   */
  draw({ watched }: Watched, collective: Collective, bytes: number, order?: CombinationOrder): number {
    const call = watched as OnlineCall
    const { cell, place } = this.#choicesOf(collective, bytes, order)
    const number = cell.only >= 0 ? cell.only : numberDrawn(cell, drawOfCall(this.#draws, call.number, place))
    call.setting = number
    if (call.isRecorded) this.#record(call, place, number, bytes)
    return number
  }

  #choicesOf(collective: Collective, bytes: number, order: CombinationOrder | undefined): CallChoices {
    const last = this.#lastChoices.get(collective)
    if (last?.bytes === bytes && last.order === order) return last
    const { selection, collective: place } = this.#selectorOf(collective, order)
    const choices = { cell: selection.cellOf(bytes), place, bytes, order }
    this.#lastChoices.set(collective, choices)
    return choices
  }

  /**
   * Notes that the setting that was drawn cannot serve the call, so that the rule decides. The record of the call then
   * names no setting.
   */
  refused({ isWatched, watched }: Watched): void {
    if (isWatched !== true) return
    const call = watched as OnlineCall
    call.setting = 0
    if (call.place >= 0) this.#process.records.refuse(call.place)
  }

  /** Returns the number of the setting of a call, for processes that cannot choose themselves; 0: none. */
  settingOf({ isWatched, watched }: Watched): number {
    return isWatched === true ? (watched as OnlineCall).setting : leftToDefault
  }

  /** Records, on a process that did not choose, the choice of the one that did. */
  arrived({ isWatched, watched }: Watched, collective: Collective, number: number, bytes: number): void {
    if (isWatched !== true) return
    const call = watched as OnlineCall
    call.setting = number
    if (call.isRecorded) this.#record(call, collectives.indexOf(collective), number, bytes)
  }

  /** Returns the number of a bcast's algorithm, by which the root names it to the others; -1 if it is none of these. */
  numberOf(algorithm: Algorithm): number {
    const isOf = ({ setting }: TunedLeaf) => setting.reason === null && setting.algorithm === algorithm
    return this.#leaves.get('bcast')?.findIndex((leaf) => leaf !== undefined && isOf(leaf)) ?? -1
  }

  /** Returns the algorithm with a number: the inverse of {@link numberOf}. */
  algorithmOf(number: number): Algorithm {
    return (this.leafOf('bcast', number).setting as ServableSetting).algorithm
  }

  #record(call: OnlineCall, collective: number, number: number, bytes: number): void {
    if (this.#place < 0) this.#place = this.#added()
    const { records } = this.#process
    call.place = records.start(this.#place, call.number, collective, number, bytes, call.startUs)
  }

  #added(): number {
    return this.#process.add({ key: this.#key, ...this.#shapeOf() })
  }

  /** Returns the number of calls that the communicator may choose: all of them for the world. */
  #granted(): number {
    const { id, made } = this.#context
    if (id.leader === 0 && id.counter === 0) return this.#process.options.calls
    return made?.seq === undefined ? 0 : this.#process.granted(contextKey(made.parent), made.seq)
  }

  #shapeOf(): Omit<OnlineCommunicator, 'key'> {
    if (this.#shape !== undefined) return this.#shape
    const { processes, runtime } = this.#context
    const { nodeOfProcess } = runtime.layout
    const perNode = new Map<number, number>()
    for (const member of processes.processes) {
      const node = nodeOfProcess[member]
      perNode.set(node, (perNode.get(node) ?? 0) + 1)
    }
    const processesPerNode = largestOf([...perNode.values()])
    this.#shape = { nodes: perNode.size, processesPerNode, processes: processes.count }
    return this.#shape
  }

  #selectorOf(collective: Collective, order: CombinationOrder | undefined): Selector {
    const key = order === undefined ? collective : `${collective} ${order}`
    let selector = this.#selectors.get(key)
    if (selector === undefined) {
      const { logic } = this.#process
      const eligible = this.#eligible(collective, order)
      const grid = this.#process.grid(collective)
      const { nodes, processesPerNode } = this.#shapeOf()
      const selection = new GridSelection(grid, logic, eligible, nodes, processesPerNode)
      selector = { selection, collective: collectives.indexOf(collective) }
      this.#selectors.set(key, selector)
    }
    return selector
  }

  /** Returns the settings that give the same results as the rule would, for so many processes. */
  #eligible(collective: Collective, order: CombinationOrder | undefined): number[] {
    const { processes } = this.#shapeOf()
    return this.#process.table.of(collective).flatMap((setting, i) => {
      const ready = readySetting(setting)
      if (ready.reason !== null) return setting.algorithm === 'default' ? [i + 1] : []
      const { algorithm } = ready
      const shape = { ranks: processes, segments: algorithm.sections ?? 1, root: 0 }
      const isRefused = (algorithm.refuses?.(shape) ?? null) !== null
      return isRefused || (order !== undefined && !serves(algorithm, shape, order)) ? [] : [i + 1]
    })
  }

  /**
   * Returns the setting with a number as a leaf of a tuning file has it.
   *
   * @param number above 0
   */
  leafOf(collective: Collective, number: number): TunedLeaf {
    let leaves = this.#leaves.get(collective)
    if (leaves === undefined) {
      leaves = []
      this.#leaves.set(collective, leaves)
    }
    leaves[number] ??= this.#newLeaf(collective, number)
    return leaves[number]
  }

  #newLeaf(collective: Collective, number: number): TunedLeaf {
    const setting = this.#process.table.settingOf(collective, number)
    const { mode } = this.#process.options
    return {
      setting: readySetting(setting),
      line: settingLine(setting),
      conditions: () => `online, ${mode}`,
    }
  }
}
