import { mulberry32 } from '../../src/base/random.js'
import type { ViolationCode } from '../../src/schedule/verify/violations.js'
import type { PhaseObject, ScheduleLines } from './schedule-lines.js'

/** Draws a number from 0 to `below - 1`. */
export type Choose = (below: number) => number

export function chooseBy(seed: number): Choose {
  const next = mulberry32(seed)
  return (below) => next() % below
}

export interface Mutation {
  readonly name: string
  /** Breaks the lines; false when there is nothing to break. */
  readonly apply: (lines: ScheduleLines, choose: Choose) => boolean
  /** At least one of these must be found. */
  readonly codes: readonly ViolationCode[]
}

type Operation<K extends keyof PhaseObject> = {
  rank: number
  phase: number
  index: number
  list: PhaseObject[K]
  operation: PhaseObject[K][number]
}

function operations<K extends keyof PhaseObject>({ ranks }: ScheduleLines, kind: K): Operation<K>[] {
  return ranks.flatMap(({ rank, phases }) =>
    phases.flatMap((lists, phase) =>
      lists[kind].map((operation, index) => ({ rank, phase, index, list: lists[kind], operation })),
    ),
  )
}

function one<K extends keyof PhaseObject>(
  lines: ScheduleLines,
  kind: K,
  choose: Choose,
  fits: (operation: Operation<K>) => boolean = () => true,
): Operation<K> | null {
  const all = operations(lines, kind).filter(fits)
  return all.length === 0 ? null : all[choose(all.length)]
}

const hasBlocks = ({ operation }: { operation: { blocks: number[] } }): boolean => operation.blocks.length > 0

/** The receive of a send, first in, first out. */
function receiveOf(lines: ScheduleLines, sent: Operation<'send'>): Operation<'receive'> {
  const { to, tag } = sent.operation
  const alike = operations(lines, 'send').filter(
    ({ rank, operation }) => rank === sent.rank && operation.to === to && operation.tag === tag,
  )
  const receives = operations(lines, 'receive').filter(
    ({ rank, operation }) => rank === to && operation.from === sent.rank && operation.tag === tag,
  )
  return receives[alike.findIndex(({ operation }) => operation === sent.operation)]
}

const stagingPlace = (lines: ScheduleLines, rank: number): number => {
  const line = lines.ranks[rank]
  return 1 + line.in.length + line.staging++
}

/** Inserts a phase after the given one, empty for every rank. */
export function insertPhase(lines: ScheduleLines, after: number): void {
  lines.header.phases++
  for (const { phases } of lines.ranks) phases.splice(after + 1, 0, { send: [], receive: [], copy: [] })
}

/** A cycle of messages in one phase, as sends; null when there is none. */
function messageCycle(lines: ScheduleLines, phase: number, choose: Choose): Operation<'send'>[] | null {
  const sends = operations(lines, 'send').filter(
    (send) => send.phase === phase && send.operation.to !== send.rank,
  )
  if (sends.length === 0) return null
  const path = [sends[choose(sends.length)]]
  for (;;) {
    const { to } = path[path.length - 1].operation
    const seen = path.findIndex(({ rank }) => rank === to)
    if (seen !== -1) return path.slice(seen)
    const next = sends.filter(({ rank }) => rank === to)
    if (next.length === 0) return null
    path.push(next[choose(next.length)])
  }
}

/** Faults that `verify` must find, one by one. */
export const mutations: readonly Mutation[] = [
  {
    name: 'one send dropped',
    codes: ['receive-unmatched'],
    apply: (lines, choose) => {
      const found = one(lines, 'send', choose)
      found?.list.splice(found.index, 1)
      return found !== null
    },
  },
  {
    name: 'one receive dropped',
    codes: ['send-unmatched'],
    apply: (lines, choose) => {
      const found = one(lines, 'receive', choose)
      found?.list.splice(found.index, 1)
      return found !== null
    },
  },
  {
    name: 'one send to another rank',
    codes: ['receive-unmatched'],
    apply: (lines, choose) => {
      const found = one(lines, 'send', choose)
      if (found === null || lines.header.ranks < 2) return false
      found.operation.to = (found.operation.to + 1 + choose(lines.header.ranks - 1)) % lines.header.ranks
      return true
    },
  },
  {
    name: 'one block sent for another',
    codes: ['blocks-differ'],
    apply: (lines, choose) => {
      const found = one(lines, 'send', choose, hasBlocks)
      if (found === null || lines.header.ranks < 2) return false
      const { blocks } = found.operation
      const i = choose(blocks.length)
      blocks[i] = (blocks[i] + 1 + choose(lines.header.ranks - 1)) % lines.header.ranks
      return true
    },
  },
  {
    name: 'one block for another, in the send and its receive',
    codes: ['wrong-block', 'slot-wrong'],
    apply: (lines, choose) => {
      const found = one(lines, 'send', choose, hasBlocks)
      if (found === null || lines.header.ranks < 2) return false
      const { blocks } = found.operation
      const i = choose(blocks.length)
      blocks[i] = (blocks[i] + 1 + choose(lines.header.ranks - 1)) % lines.header.ranks
      receiveOf(lines, found).operation.blocks[i] = blocks[i]
      return true
    },
  },
  {
    name: 'one block read from another place',
    codes: ['place-empty', 'wrong-block'],
    apply: (lines, choose) => {
      const found = one(lines, 'send', choose, hasBlocks)
      if (found === null) return false
      const line = lines.ranks[found.rank]
      const { blocks, read } = found.operation
      const i = choose(blocks.length)
      // A place that ends with the same block would be a right one, later on.
      const candidates = Array.from({ length: 1 + line.in.length }, (_, place) => place).filter(
        (place) => place !== read[i] && (place === 0 ? found.rank : line.in[place - 1]) !== blocks[i],
      )
      if (candidates.length === 0) return false
      read[i] = candidates[choose(candidates.length)]
      return true
    },
  },
  {
    name: 'two blocks of a receive in each other’s place',
    codes: ['slot-wrong', 'wrong-block'],
    apply: (lines, choose) => {
      const found = one(lines, 'receive', choose, ({ operation }) => operation.blocks.length > 1)
      if (found === null) return false
      const { write } = found.operation
      const i = choose(write.length - 1)
      ;[write[i], write[i + 1]] = [write[i + 1], write[i]]
      return true
    },
  },
  {
    name: 'one message delivered twice to the same place',
    codes: ['place-rewritten'],
    apply: (lines, choose) => {
      const sent = one(lines, 'send', choose)
      if (sent === null) return false
      const received = receiveOf(lines, sent)
      sent.list.push(structuredClone(sent.operation))
      received.list.push(structuredClone(received.operation))
      return true
    },
  },
  {
    name: 'one message delivered again to another place',
    codes: ['unused-delivery'],
    apply: (lines, choose) => {
      const sent = one(lines, 'send', choose)
      if (sent === null) return false
      const received = receiveOf(lines, sent)
      const again = structuredClone(received.operation)
      again.write = again.blocks.map(() => stagingPlace(lines, received.rank))
      sent.list.splice(sent.index + 1, 0, structuredClone(sent.operation))
      received.list.splice(received.index + 1, 0, again)
      return true
    },
  },
  {
    name: 'one block twice in a message',
    codes: ['unused-delivery'],
    apply: (lines, choose) => {
      const sent = one(lines, 'send', choose, hasBlocks)
      if (sent === null) return false
      const received = receiveOf(lines, sent)
      const i = choose(sent.operation.blocks.length)
      sent.operation.blocks.push(sent.operation.blocks[i])
      sent.operation.read.push(sent.operation.read[i])
      received.operation.blocks.push(sent.operation.blocks[i])
      received.operation.write.push(stagingPlace(lines, received.rank))
      return true
    },
  },
  {
    name: 'one send twice',
    codes: ['send-unmatched'],
    apply: (lines, choose) => {
      const found = one(lines, 'send', choose)
      found?.list.splice(found.index, 0, structuredClone(found.operation))
      return found !== null
    },
  },
  {
    name: 'one slot filled again by a copy',
    codes: ['place-rewritten'],
    apply: (lines, choose) => {
      const ranks = lines.ranks.filter((line) => line.in.length > 0)
      if (ranks.length === 0) return false
      const line = ranks[choose(ranks.length)]
      const slot = choose(line.in.length)
      line.phases[line.phases.length - 1].copy.push({
        blocks: [line.in[slot]],
        read: [1 + slot],
        write: [1 + slot],
      })
      return true
    },
  },
  {
    name: 'ranks around a cycle that receive before they send',
    codes: ['deadlock'],
    apply: (lines, choose) => {
      const phase = choose(lines.header.phases)
      const cycle = messageCycle(lines, phase, choose)
      if (cycle === null) return false
      insertPhase(lines, phase)
      for (const { rank, list, operation } of cycle) {
        list.splice(list.indexOf(operation), 1)
        lines.ranks[rank].phases[phase + 1].send.push(operation)
      }
      return true
    },
  },
  {
    name: 'a message that waits for an answer to come first',
    codes: ['deadlock'],
    apply: (lines, choose) => {
      const sent = one(lines, 'send', choose)
      if (sent === null) return false
      const { rank, phase, operation } = sent
      insertPhase(lines, phase)
      sent.list.splice(sent.index, 1)
      lines.ranks[rank].phases[phase + 1].send.push(operation)
      const tag = 1_000
      lines.ranks[operation.to].phases[phase + 1].send.push({ to: rank, tag, blocks: [], read: [] })
      lines.ranks[rank].phases[phase].receive.push({ from: operation.to, tag, blocks: [], write: [] })
      return true
    },
  },
]
