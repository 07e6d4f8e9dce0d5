import { largestOf } from '../../base/search.js'
import type { Algorithm, CombinationOrder } from '../../collective/patterns/algorithm.js'
import type { CallWatch, CommContext, WatchedCall } from '../../messages/process/comm-context.js'
import { contextKey } from '../../messages/process/context-id.js'
import { type Collective, collectives } from '../../schedule/specification.js'
import { callDraw } from '../../tuning/online/call-draw.js'
import { GridSelection } from '../../tuning/online/grid-selection.js'
import { onlineCollectives } from '../../tuning/online/online-options.js'
import type { OnlineCommunicator, OnlineProcess } from '../../tuning/online/online-process.js'
import { settingLine } from '../../tuning/setting.js'
import type { Exchange } from '../exchange.js'
import { serves } from './required-order.js'
import { readySetting, type ServableSetting, type TunedChoice } from './tuned-calls.js'

/** Calls that make communicators: what they make gets a part of the calls that are left. */
const making: ReadonlySet<string> = new Set(['split', 'dup', 'create', 'topology'])
const tunable: ReadonlySet<string> = new Set(onlineCollectives)

/** A call while it runs. */
interface OnlineCall {
  /** Of those on the communicator that are chosen, from 0. */
  readonly number: number
  /** Whether it is one of the calls that are recorded. */
  readonly isRecorded: boolean
  readonly startUs: number
  /** In the records; -1: not there. */
  place: number
  setting: number
}

/**
 * Online tuning of one communicator in one process: which setting each call takes, and how long it took.
 *
 * A choice depends on the call's number, its bytes and the communicator only, so members choose alike without a message.
 * Calls are numbered as they begin to run, which is in their order on every process.
 *
 * @see Steiner 2023 §4.6
 */
export class OnlineCalls implements CallWatch {
  readonly #process: OnlineProcess
  readonly #context: CommContext
  readonly #key: number
  readonly #draws: number
  #shape: Omit<OnlineCommunicator, 'key'> | undefined
  readonly #selections = new Map<string, GridSelection>()
  readonly #choices = new Map<Collective, (TunedChoice | undefined)[]>()
  /** In records; -1 until a call is recorded. */
  #place = -1
  /** Calls that may still be recorded, and chosen where the run explores. */
  #left: number | undefined
  #calls = 0
  #current: OnlineCall | undefined

  constructor(process: OnlineProcess, context: CommContext) {
    const { leader, counter } = context.id
    this.#process = process
    this.#context = context
    this.#key = contextKey(context.id)
    this.#draws = Math.imul(leader, 0x9e3779b1) ^ counter
  }

  begin(call: WatchedCall, name: string): void {
    this.#current = undefined
    call.watched = undefined
    this.#left ??= this.#granted()
    if (making.has(name)) {
      const half = this.#left >> 1
      this.#left -= half
      this.#process.grant(this.#key, call.seq, half)
      return
    }
    if (!tunable.has(name)) return
    const isRecorded = this.#left > 0
    if (isRecorded) this.#left--
    else if (this.#process.options.mode === 'tuning') return
    const startUs = isRecorded ? nowUs() : 0
    const watched: OnlineCall = { number: this.#calls++, isRecorded, startUs, place: -1, setting: 0 }
    call.watched = watched
  }

  start({ watched }: WatchedCall): void {
    this.#current = watched as OnlineCall
  }

  stop(): void {
    this.#current = undefined
  }

  ended({ watched }: WatchedCall): void {
    const { place } = watched as OnlineCall
    if (place >= 0) this.#process.records.end(place, nowUs())
  }

  /**
   * What the call that has begun takes; undefined where it is left to the rule.
   *
   * @param order of a reduction: what it requires
   */
  choiceOf(collective: Collective, bytes: number, order?: CombinationOrder): TunedChoice | undefined {
    const current = this.#current
    if (current === undefined || !tunable.has(collective)) return undefined
    const drawn = callDraw(
      this.#process.options.seed,
      this.#draws,
      current.number,
      collectives.indexOf(collective),
    )
    const number = this.#selection(collective, order).choose(bytes, drawn)
    this.#record(current, collective, number, bytes)
    return number === 0 ? undefined : this.#choice(collective, number)
  }

  /** The setting that was chosen cannot serve the call, so the rule decides: the call says nothing of the setting. */
  refused(): void {
    const current = this.#current
    if (current === undefined) return
    current.setting = 0
    if (current.place >= 0) this.#process.records.refuse(current.place)
  }

  /** The number of the setting of a call, for processes that cannot choose themselves; 0: none. */
  settingOf({ watched }: Pick<Exchange, 'watched'>): number {
    return (watched as OnlineCall | undefined)?.setting ?? 0
  }

  /** For a process that did not choose: what the one has chosen that did. */
  arrived(
    { watched }: Pick<Exchange, 'watched'>,
    collective: Collective,
    number: number,
    bytes: number,
  ): void {
    if (watched !== undefined) this.#record(watched as OnlineCall, collective, number, bytes)
  }

  /** The number of a bcast's algorithm, by which the root names it to the others; -1: it is none of these. */
  numberOf(algorithm: Algorithm): number {
    const isOf = ({ leaf: { setting } }: TunedChoice) =>
      setting.reason === null && setting.algorithm === algorithm
    return this.#choices.get('bcast')?.findIndex((choice) => choice !== undefined && isOf(choice)) ?? -1
  }

  /** The inverse of {@link numberOf}. */
  algorithmOf(number: number): Algorithm {
    return (this.#choice('bcast', number).leaf.setting as ServableSetting).algorithm
  }

  #record(call: OnlineCall, collective: Collective, number: number, bytes: number): void {
    call.setting = number
    if (!call.isRecorded) return
    const { records } = this.#process
    if (this.#place < 0) this.#place = this.#process.add({ key: this.#key, ...this.#shapeOf() })
    call.place = records.start(
      this.#place,
      call.number,
      collectives.indexOf(collective),
      number,
      bytes,
      call.startUs,
    )
  }

  /** Calls that it may choose: all of them of the world. */
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

  #selection(collective: Collective, order: CombinationOrder | undefined): GridSelection {
    const key = order === undefined ? collective : `${collective} ${order}`
    let selection = this.#selections.get(key)
    if (selection === undefined) {
      const { logic } = this.#process
      const eligible = this.#eligible(collective, order)
      const grid = this.#process.grid(collective)
      const { nodes, processesPerNode } = this.#shapeOf()
      selection = new GridSelection(grid, logic, eligible, nodes, processesPerNode)
      this.#selections.set(key, selection)
    }
    return selection
  }

  /** Settings that give the same results as the rule would, for so many processes. */
  #eligible(collective: Collective, order: CombinationOrder | undefined): number[] {
    const shape = { ranks: this.#shapeOf().processes, segments: 1, root: 0 }
    return this.#process.table.of(collective).flatMap((setting, i) => {
      const ready = readySetting(setting)
      if (ready.reason !== null) return setting.algorithm === 'default' ? [i + 1] : []
      const { algorithm } = ready
      const isRefused = (algorithm.refuses?.(shape) ?? null) !== null
      return isRefused || (order !== undefined && !serves(algorithm, shape, order)) ? [] : [i + 1]
    })
  }

  #choice(collective: Collective, number: number): TunedChoice {
    let choices = this.#choices.get(collective)
    if (choices === undefined) {
      choices = []
      this.#choices.set(collective, choices)
    }
    let choice = choices[number]
    if (choice === undefined) {
      const described = this.#process.table.settingOf(collective, number)
      const setting = readySetting(described)
      const { mode } = this.#process.options
      const leaf = { setting, line: settingLine(described), conditions: () => `online, ${mode}` }
      const shape = { ranks: this.#shapeOf().processes, segments: 1 }
      const parts = setting.reason === null ? (setting.algorithm.parts?.(shape) ?? 1) : 1
      choice = { leaf, parts, segments: -1, refusal: null }
      choices[number] = choice
    }
    return choice
  }
}

function nowUs(): number {
  return performance.now() * 1000
}
