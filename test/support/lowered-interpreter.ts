import { below, mulberry32 } from '../../src/base/random.js'
import { taskNumbers } from '../../src/schedule/lower/dependencies.js'
import type { LoweredSchedule } from '../../src/schedule/lower/program.js'

export interface InterpretOptions<T> {
  /** Of programs with combinations. */
  readonly combine?: (left: T, right: T, term: number) => T
  /** What is ready is done in an order drawn from it. */
  readonly seed?: number
  /** Notified of what happens, in this order. */
  readonly watch?: Watch
}

export interface Watch {
  /** A process sends one of its frames, which the other process will receive as its frame `received`. */
  sends(process: number, frame: number, to: number, received: number): void
  arrives(process: number, frame: number, to: number, received: number): void
  combines(process: number, combination: number): void
}

export interface Interpreted<T> {
  /** Receive buffer of every rank: the payload of each slot. */
  readonly slots: Map<number, T>[]
  readonly framesSent: number
  readonly messagesSent: number
  readonly blocksSent: number
}

/**
 * Runs the programs of a lowered schedule with payloads, as a runner would: a frame leaves and a combination
 * is made when what it needs has been counted to be there. The order of everything else, arrivals included,
 * is random. No frame is buffered: it arrives when its receive is posted, and only then is it complete at its
 * sender. Payloads are opaque; a frame is the list of its payloads.
 */
export function interpret<T>(
  { programs, placement }: LoweredSchedule,
  contributionOf: (rank: number, place: number) => T,
  { combine, seed = 1, watch }: InterpretOptions<T> = {},
): Interpreted<T> {
  const random = mulberry32(seed)
  const slots = Array.from(placement, () => new Map<number, T>())
  const values = programs.map(() => new Map<number, T>())
  const missing = programs.map(({ dependencies }) => dependencies.needs.slice())
  const numbers = programs.map((program) =>
    taskNumbers(program.send, program.receive, program.combine, program.gates),
  )
  /** By process and receive frame: null when it is posted, else what is to be done then. */
  const unposted = programs.map(({ gates }) =>
    Array.from(gates.ofReceive, (gate): (() => void)[] | null => (gate < 0 ? null : [])),
  )
  const steps: (() => void)[] = []
  let [framesSent, messagesSent, blocksSent, arrived] = [0, 0, 0, 0]

  const hold = (process: number, value: number, payload: T): void => {
    const program = programs[process]
    if (values[process].has(value)) throw new Error(`process ${process} assigns value ${value} twice`)
    values[process].set(value, payload)
    for (let f = program.fillStart[value]; f < program.fillStart[value + 1]; f++) {
      const rank = program.ranks[program.fillRank[f]]
      const slot = program.fillSlot[f]
      if (slots[rank].has(slot)) throw new Error(`slot ${slot} of rank ${rank} filled twice`)
      slots[rank].set(slot, payload)
    }
  }
  const read = (process: number, value: number): T => {
    if (!values[process].has(value)) throw new Error(`process ${process} does not have value ${value}`)
    return values[process].get(value) as T
  }
  const settle = (process: number, bringer: number): void => {
    const { useStart, use } = programs[process].dependencies
    for (let u = useStart[bringer]; u < useStart[bringer + 1]; u++) {
      if (--missing[process][use[u]] === 0) steps.push(() => run(process, use[u]))
    }
  }
  const run = (process: number, task: number): void => {
    const { send, receive, combine: combinations, valueTerm } = programs[process]
    const { firstGate, firstPost, opened, sent } = numbers[process]
    if (task >= firstPost) {
      const late = unposted[process][task - firstPost]!
      unposted[process][task - firstPost] = null
      steps.push(...late)
      return
    }
    if (task >= firstGate) {
      settle(process, opened + task - firstGate)
      return
    }
    const c = task - send.peer.length
    if (c >= 0) {
      const value = combinations.firstValue + c
      watch?.combines(process, c)
      const [left, right] = [read(process, combinations.left[c]), read(process, combinations.right[c])]
      hold(process, value, combine!(left, right, valueTerm[value]))
      settle(process, receive.peer.length + c)
      return
    }
    const frame: T[] = []
    for (let i = send.valueStart[task]; i < send.valueStart[task + 1]; i++) {
      frame.push(read(process, send.value[i]))
    }
    framesSent++
    messagesSent += send.messages[task]
    blocksSent += frame.length
    const to = send.peer[task]
    const received = receiveOf(to, process, send.round[task])
    watch?.sends(process, task, to, received)
    const arriving = (): void => {
      watch?.arrives(process, task, to, received)
      arrive(to, received, frame)
      if (programs[process].gates.sends.length > 0) settle(process, sent + task)
    }
    const late = unposted[to][received] ?? steps
    late.push(arriving)
  }
  const receiveOf = (process: number, source: number, round: number): number => {
    const { receive } = programs[process]
    const named = [...receive.peer.keys()].filter(
      (j) => receive.peer[j] === source && receive.round[j] === round,
    )
    if (named.length !== 1) throw new Error(`${named.length} receives for ${source} -> ${process} #${round}`)
    return named[0]
  }
  const arrive = (process: number, received: number, frame: readonly T[]): void => {
    const { receive } = programs[process]
    const [first, end] = [receive.valueStart[received], receive.valueStart[received + 1]]
    if (end - first !== frame.length) throw new Error(`frame ${received} of ${process} has another length`)
    for (const [i, payload] of frame.entries()) hold(process, first + i, payload)
    arrived++
    settle(process, received)
  }
  for (const { process, ranks, ownStart, dependencies } of programs) {
    for (const [i, rank] of ranks.entries()) {
      for (let v = ownStart[i]; v < ownStart[i + 1]; v++)
        hold(process, v, contributionOf(rank, v - ownStart[i]))
    }
    for (const [task, needs] of dependencies.needs.entries()) {
      if (needs === 0 && task < numbers[process].firstPost) steps.push(() => run(process, task))
    }
  }
  while (steps.length > 0) {
    const last = steps.length - 1
    const at = below(random, steps.length)
    ;[steps[at], steps[last]] = [steps[last], steps[at]]
    steps.pop()!()
  }
  const expected = programs.reduce((sum, { receive }) => sum + receive.peer.length, 0)
  if (arrived !== expected) throw new Error(`${arrived} of ${expected} frames arrived`)
  for (const [process, { valueTerm }] of programs.entries()) {
    if (values[process].size !== valueTerm.length) throw new Error(`process ${process} lacks values`)
  }
  return { slots, framesSent, messagesSent, blocksSent }
}
