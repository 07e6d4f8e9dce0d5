// How long a receive takes that finds its message among n unexpected ones. The same in C: baselines/unexpected.c.
import { ANY_TAG, type Communicator } from 'rankweave'
import { expectEqual } from './timing.js'

export interface Unexpected {
  /** A key of bench/matching/queue-programs.ts. */
  readonly program: string
  readonly lengths: readonly number[]
}

/** Messages that a sender sends one after the other: their tags are the numbers from `from` to before `to`. */
interface Sent {
  readonly source: number
  readonly from: number
  readonly to: number
}

/** What rank 0 receives, in order. */
interface Receive {
  readonly source: number
  readonly tag: number
  /** Number of the message. */
  readonly message: number
}

interface Plan {
  readonly sent: readonly Sent[]
  readonly receives: readonly Receive[]
  /** Receives that are timed: the first ones. */
  readonly timed: number
}

/** Above all tags of messages. */
const [goTag, sentTag] = [100_000, 100_001]
const groupMessages = [2, 10, 50, 100]
const warmUps = { messages: 1024, repetitions: 12 }
/** Receives of a length, all repetitions together; fewest and most repetitions. */
const effort = { receives: 4096, fewest: 3, most: 40 }

/** Microseconds per receive, by number of messages. Ranks from 1 send when rank 0 says so. */
export default async function main(world: Communicator, { program, lengths }: Unexpected) {
  const figures: Record<string, number> = {}
  if (world.rank > 0) {
    await sendOnDemand(world)
    return figures
  }
  const warmUp = planOf(program, warmUps.messages, world.size - 1)
  for (let i = 0; i < warmUps.repetitions; i++) await repeat(world, warmUp, true)
  for (const n of lengths) {
    const plan = planOf(program, n, world.size - 1)
    await repeat(world, plan, true)
    const count = Math.max(effort.fewest, Math.min(effort.most, Math.floor(effort.receives / n)))
    const times: number[] = []
    for (let i = 0; i < count; i++) times.push(await repeat(world, plan, false))
    figures[n] = times.sort((a, b) => a - b)[count >> 1]
  }
  for (let rank = 1; rank < world.size; rank++) await world.send(Int32Array.of(-1, -1), rank, goTag)
  return figures
}

async function sendOnDemand(world: Communicator): Promise<void> {
  for (;;) {
    const [from, to] = (await world.recv<Int32Array>(0, goTag)).data
    if (from < 0) return
    for (let tag = from; tag < to; tag++) await world.send(Int32Array.of(tag, ~tag), 0, tag)
    await world.send(Int32Array.of(from, to), 0, sentTag)
  }
}

/** All messages arrive, then they are received: microseconds per receive that is timed. */
async function repeat(world: Communicator, plan: Plan, isChecked: boolean): Promise<number> {
  const { sent, receives, timed } = plan
  for (const { source, from, to } of sent) {
    // Posted before: it matches the posted receive, after all messages before it have become unexpected.
    const isSent = world.recv(source, sentTag)
    await world.send(Int32Array.of(from, to), source, goTag)
    await isSent
  }
  const options = { into: new Int32Array(2) }
  const begin = performance.now()
  for (let i = 0; i < timed; i++) {
    await world.recv(receives[i].source, receives[i].tag, options)
    if (isChecked) check(options.into, receives[i])
  }
  const tookMs = performance.now() - begin
  for (let i = timed; i < receives.length; i++) {
    await world.recv(receives[i].source, receives[i].tag, options)
    check(options.into, receives[i])
  }
  return (1000 * tookMs) / timed
}

function check([value, inverse]: Int32Array, { message }: Receive): void {
  expectEqual(value, message, 'unexpected message')
  expectEqual(inverse, ~message, 'unexpected message')
}

function planOf(program: string, n: number, senders: number): Plan {
  const sent = program === 'mb2' ? groups(n) : blocks(n, senders)
  const inOrder = sent.flatMap(({ source, from, to }) =>
    Array.from({ length: to - from }, (_, i): Receive => ({ source, tag: from + i, message: from + i })),
  )
  switch (program) {
    case 'mb3': {
      const last = { source: 1, tag: n, message: n }
      return { sent: [...sent, { source: 1, from: n, to: n + 1 }], receives: [last, ...inOrder], timed: 1 }
    }
    case 'mb4-forward':
      return { sent, receives: inOrder, timed: n }
    case 'mb4-middle': {
      const left = [...inOrder]
      const receives = inOrder.map(() => left.splice(left.length >> 1, 1)[0])
      return { sent, receives, timed: n }
    }
    case 'mb5': {
      const receives = inOrder.map((_, i) =>
        i % 2 === 0 ? inOrder[n - 1 - i / 2] : { ...inOrder[i >> 1], tag: ANY_TAG },
      )
      return { sent, receives, timed: n }
    }
    default:
      return { sent, receives: inOrder.reverse(), timed: n }
  }
}

/** As many messages of each sender; a single one is of the first. */
function blocks(n: number, senders: number): Sent[] {
  if (n < senders) return [{ source: 1, from: 0, to: n }]
  const each = n / senders
  return Array.from({ length: senders }, (_, s) => ({ source: s + 1, from: s * each, to: (s + 1) * each }))
}

/** Shares of 2, 10, 50 and 100; a sender without messages is left out. */
function groups(n: number): Sent[] {
  const total = groupMessages.reduce((sum, messages) => sum + messages, 0)
  let before = 0
  return groupMessages.flatMap((messages, s) => {
    const from = Math.round((n * before) / total)
    before += messages
    const to = Math.round((n * before) / total)
    return to > from ? [{ source: s + 1, from, to }] : []
  })
}
