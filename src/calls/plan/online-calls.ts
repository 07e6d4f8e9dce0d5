import { largestOf } from '../../base/search.js'
import type { Algorithm, CombinationOrder } from '../../collective/patterns/algorithm.js'
import type { CallWatch, CommContext, WatchedCall } from '../../messages/process/comm-context.js'
import { contextKey } from '../../messages/process/context-id.js'
import { type Collective, collectives } from '../../schedule/specification.js'
import { callDraw } from '../../tuning/online/call-draw.js'
import { GridSelection } from '../../tuning/online/grid-selection.js'
import { onlineCollectives } from '../../tuning/online/online-options.js'
import type { OnlineCommunicator, OnlineProcess } from '../../tuning/online/online-process.js'
import { settingLine } from '../../tuning/settings/setting.js'
import type { Exchange } from '../exchange.js'
import { serves } from './required-order.js'
import { readySetting, type ServableSetting, type TunedChoice } from './tuned-calls.js'

/** Calls that make communicators: what they make gets a part of the calls that are left. */
const making: ReadonlySet<string> = new Set(['split', 'dup', 'create', 'topology'])
const tunable: ReadonlySet<string> = new Set(onlineCollectives)

type NamedKind = 'making' | 'tunable' | 'other'

/** A call while it runs. When it has ended, a later one uses the record. */
interface OnlineCall {
  /** Of those on the communicator that are chosen, from 0. */
  number: number
  /** Whether it is one of the calls that are recorded. */
  isRecorded: boolean
  startUs: number
  /** In the records; -1: not there. */
  place: number
  setting: number
}

/** What serves the calls of one collective, of one order of combination, on a communicator. */
interface Selector {
  readonly selection: GridSelection
  /** Place of the collective among all. */
  readonly collective: number
}

/** No call that chooses: it is left to the rule. */
const notChosen = -1

/** Records of calls that have ended, of one communicator: as many as calls may overlap without a new one. */
const mostSpares = 64

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
  /** By collective, and of reductions by order. */
  readonly #selectors = new Map<string, Selector>()
  readonly #choices = new Map<Collective, (TunedChoice | undefined)[]>()
  /** In records; -1 until a call is recorded. */
  #place = -1
  /** Calls that may still be recorded, and chosen where the run explores. */
  #left: number | undefined
  #calls = 0
  #current: OnlineCall | undefined
  readonly #spares: OnlineCall[] = []
  // What the last call looked up: most calls are like the one before.
  #lastName = ''
  #lastKind: NamedKind = 'other'
  #lastCollective: Collective | undefined
  #lastOrder: CombinationOrder | undefined
  #lastSelector: Selector | undefined

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
    if (name !== this.#lastName) {
      this.#lastName = name
      this.#lastKind = making.has(name) ? 'making' : tunable.has(name) ? 'tunable' : 'other'
    }
    if (this.#lastKind === 'other') return
    if (this.#lastKind === 'making') {
      const half = this.#left >> 1
      this.#left -= half
      this.#process.grant(this.#key, call.seq, half)
      return
    }
    const isRecorded = this.#left > 0
    if (isRecorded) this.#left--
    else if (this.#process.options.mode === 'tuning') return
    const watched = this.#spares.pop() ?? {
      number: 0,
      isRecorded: false,
      startUs: 0.5,
      place: -1,
      setting: 0,
    }
    watched.number = this.#calls++
    watched.isRecorded = isRecorded
    watched.place = -1
    watched.setting = 0
    if (isRecorded) watched.startUs = nowUs()
    call.watched = watched
  }

  start({ watched }: WatchedCall): void {
    this.#current = watched as OnlineCall
  }

  stop(): void {
    this.#current = undefined
  }

  ended(call: WatchedCall): void {
    const watched = call.watched as OnlineCall
    if (watched.place >= 0) this.#process.records.end(watched.place, nowUs())
    call.watched = undefined
    if (this.#spares.length < mostSpares) this.#spares.push(watched)
  }

  /**
   * The number of the setting that the call takes which has begun; 0: the default, so the rule decides. {@link notChosen}
   * of a call that is not watched. Allocates nothing, but for the first call of a cell.
   *
   * @param order of a reduction: what it requires
   */
  numberFor(collective: Collective, bytes: number, order?: CombinationOrder): number {
    const current = this.#current
    if (current === undefined) return notChosen
    const selector =
      collective === this.#lastCollective && order === this.#lastOrder
        ? this.#lastSelector!
        : this.#selectorOf(collective, order)
    const drawn = callDraw(this.#process.options.seed, this.#draws, current.number, selector.collective)
    const number = selector.selection.choose(bytes, drawn)
    this.#record(current, selector.collective, number, bytes)
    return number
  }

  /** The same as a choice; undefined where it is left to the rule. */
  choiceOf(collective: Collective, bytes: number, order?: CombinationOrder): TunedChoice | undefined {
    if (!tunable.has(collective)) return undefined
    const number = this.numberFor(collective, bytes, order)
    return number <= 0 ? undefined : this.choiceOfNumber(collective, number)
  }

  /** The setting that was chosen cannot serve the call, so the rule decides: the call says nothing of the setting. */
  refused(): void {
    if (this.#current !== undefined) this.#refuse(this.#current)
  }

  /** The same of a call that is known later. */
  refusedLate({ watched }: Pick<Exchange, 'watched'>): void {
    if (watched !== undefined) this.#refuse(watched as OnlineCall)
  }

  #refuse(call: OnlineCall): void {
    call.setting = 0
    if (call.place >= 0) this.#process.records.refuse(call.place)
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
    if (watched !== undefined)
      this.#record(watched as OnlineCall, collectives.indexOf(collective), number, bytes)
  }

  /** The number of a bcast's algorithm, by which the root names it to the others; -1: it is none of these. */
  numberOf(algorithm: Algorithm): number {
    const isOf = ({ leaf: { setting } }: TunedChoice) =>
      setting.reason === null && setting.algorithm === algorithm
    return this.#choices.get('bcast')?.findIndex((choice) => choice !== undefined && isOf(choice)) ?? -1
  }

  /** The inverse of {@link numberOf}. */
  algorithmOf(number: number): Algorithm {
    return (this.choiceOfNumber('bcast', number).leaf.setting as ServableSetting).algorithm
  }

  #record(call: OnlineCall, collective: number, number: number, bytes: number): void {
    call.setting = number
    if (!call.isRecorded) return
    const { records } = this.#process
    if (this.#place < 0) this.#place = this.#process.add({ key: this.#key, ...this.#shapeOf() })
    call.place = records.start(this.#place, call.number, collective, number, bytes, call.startUs)
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
    this.#lastCollective = collective
    this.#lastOrder = order
    this.#lastSelector = selector
    return selector
  }

  /** Settings that give the same results as the rule would, for so many processes. */
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

  /** @param number above 0 */
  choiceOfNumber(collective: Collective, number: number): TunedChoice {
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
