import type { Communicator } from '../handles/communicator.js'
import type { TypedArray } from '../messages/datatype/elements.js'
import type { Message } from '../messages/mailboxes/arrived.js'
import { ANY_SOURCE, ANY_TAG } from '../messages/mailboxes/envelope.js'
import { waitall } from '../messages/p2p/request.js'
import { type Draw, drawn, elements, ranksOf, same, shuffled, types } from './collective-oracles.js'
import { flowSettings } from './message-checks.js'
import type { WorldCase } from './world-case.js'

const messagesPerRank = 40
const tags = 4

export const matchingChecks: readonly WorldCase[] = [
  {
    name: 'matching keeps the order of every sender, with wildcards, under random interleavings',
    settings: [
      ...flowSettings,
      { matching: { count: true } },
      { matching: { design: 'bins' } },
      { matching: { count: true, design: 'partners-dynamic' } },
    ],
    async check(world, { seed, rounds }) {
      for (let round = 0; round < rounds; round++) {
        const plan = draw(world.size, seed + round)
        await Promise.all([send(world, plan, seed + round), ...receive(world, plan, seed + round)])
        await world.barrier()
        same(await world.iprobe(), null, `round ${round}: no message is left`)
        // No rank sends for the next round before every rank has probed.
        await world.barrier()
      }
    },
  },
  {
    name: 'matching is counted where the world asks for it',
    settings: [{}, { matching: { count: true } }],
    async check(world) {
      const { rank, size } = world
      const each = 3
      // All messages to rank 0 are unexpected: tag 1 comes last from every rank.
      for (let tag = each; tag > 0; tag--) await world.send(Int32Array.of(rank, tag), 0, tag)
      await world.barrier()
      if (rank === 0) {
        for (let source = 0; source < size; source++) await world.probe(source, 1)
        for (let source = size - 1; source >= 0; source--) {
          for (let tag = 1; tag < each; tag++) {
            const { data } = await world.recv(source, tag)
            same([...(data as Int32Array)], [source, tag], 'the message')
          }
        }
        for (let left = size; left > 0; left--) same((await world.recv()).tag, each, 'the tag that is left')
      }
      const { matching } = world.describe()
      if (matching === null) return
      const mine = matching.find((of) => of.rank === rank)
      if (rank !== 0) {
        same(mine?.receives ?? 0, 0, 'receives of a rank without any')
        return
      }
      const { posted, unexpected, receives, anySource, anyTag } = mine!
      same([receives, anySource, anyTag], [4 * size, size, size], 'receives, of any source, of any tag')
      same(
        [posted.searches, posted.matches, posted.longest],
        [each * size, 0, 0],
        'searches of posted receives',
      )
      same(unexpected.longest, each * size, 'longest queue of unexpected messages')
      same(unexpected.length, 0, 'unexpected messages that are left')
      same(
        unexpected.byLength.reduce((sum, count) => sum + count, 0),
        unexpected.searches,
        'searches by length',
      )
    },
  },
]

interface Planned {
  readonly from: number
  readonly to: number
  readonly tag: number
  readonly slot: number
  readonly length: number
}

/** Draws what every rank sends to every rank; all ranks draw the same. */
function draw(ranks: number, seed: number): readonly Planned[] {
  const pick = drawn(seed, ranks)
  return Array.from({ length: messagesPerRank * ranks }, (_, slot) => ({
    from: pick(ranks),
    to: pick(ranks),
    tag: pick(tags),
    slot,
    length: [0, 1, pick(4), pick(60), pick(600)][pick(5)],
  }))
}

const contentOf = ({ from, to, slot, length }: Planned) =>
  elements(types[slot % types.length], slot, from, to, length)

/** Sends this rank's messages in order, in any mode; waits for some of them before the next. */
async function send(world: Communicator, plan: readonly Planned[], seed: number): Promise<void> {
  const pick = drawn(seed, world.rank, 1)
  const pending = []
  for (const message of plan) {
    if (message.from !== world.rank) continue
    const start = pick(3) === 0 ? 'issend' : 'isend'
    const request = world[start](contentOf(message), message.to, message.tag)
    if (pick(4) === 0) await request.wait()
    else pending.push(request)
    await pause(pick)
  }
  await waitall(pending)
}

/**
 * Receives what was drawn, by patterns that cannot match each other's messages: either all by one pattern, or each tag
 * by a separate one. All receive concurrently.
 */
function receive(world: Communicator, plan: readonly Planned[], seed: number): Promise<void>[] {
  const pick = drawn(seed, world.rank, 2)
  const mine = plan.filter(({ to }) => to === world.rank)
  const bySource = () =>
    Array.from({ length: world.size }, (_, source) => ({
      source,
      tag: ANY_TAG,
      messages: mine.filter(({ from }) => from === source),
    }))
  const byTag = () =>
    Array.from({ length: tags }, (_, tag) => tag).flatMap((tag) => {
      const tagged = mine.filter((message) => message.tag === tag)
      if (pick(2) === 0) return [{ source: ANY_SOURCE, tag, messages: tagged }]
      return Array.from({ length: world.size }, (_, source) => ({
        source,
        tag,
        messages: tagged.filter(({ from }) => from === source),
      }))
    })
  const classes = [() => [{ source: ANY_SOURCE, tag: ANY_TAG, messages: mine }], bySource, byTag, byTag]
  return shuffled(classes[pick(classes.length)](), pick).map((each, n) =>
    receiveClass(world, each, drawn(seed, world.rank, 3, n)),
  )
}

/** The receives of one pattern, and all messages that it matches. */
interface PatternClass {
  readonly source: number
  readonly tag: number
  readonly messages: readonly Planned[]
}

async function receiveClass(
  world: Communicator,
  { source, tag, messages }: PatternClass,
  pick: Draw,
): Promise<void> {
  // The next messages of each sender in this class.
  const next = new Map<number, Planned[]>()
  for (const message of messages) next.set(message.from, [...(next.get(message.from) ?? []), message])
  const check = (got: Message) => {
    const expected = next.get(got.source)?.shift()
    if (expected === undefined)
      throw new Error(`expected no further message from rank ${got.source}, got one`)
    const what = `message ${expected.slot} from rank ${expected.from}, by (${source}, ${tag})`
    same([got.tag, got.count], [expected.tag, expected.length], what)
    same(got.data, contentOf(expected), what)
  }
  const posted = []
  for (let left = messages.length; left > 0; left--) {
    await pause(pick)
    // A blocking receive would match what the posted ones are to match.
    const how = posted.length > 0 ? 0 : pick(5)
    if (how === 0) {
      posted.push(world.irecv(source, tag))
      if (pick(6) > 0) continue
      for (const request of posted.splice(0)) check(await request.wait())
    } else if (how === 1) check(await world.recv(source, tag))
    else if (how === 2) check(await (await world.mprobe(source, tag)).recv())
    else if (how === 3) {
      const status = await world.probe(source, tag)
      check(await world.recv(status.source, status.tag))
    } else {
      const matched = await world.improbe(source, tag)
      check(matched === null ? await world.recv(source, tag) : await matched.recv())
    }
  }
  for (const request of posted) check(await request.wait())
}

/** Yields at random: to frames and other ranks, to microtasks only, or not at all. */
async function pause(pick: Draw): Promise<void> {
  const kind = pick(10)
  if (kind === 0) await new Promise((resolve) => setImmediate(resolve))
  else if (kind < 3) await undefined
}

const floodMessages = 200

/** The cases with more data and messages than a fabric's buffers and the credits hold. */
export const flowChecks: readonly WorldCase[] = [
  {
    name: 'a flood of unexpected messages delays neither its senders nor later collectives',
    settings: [...flowSettings, { creditBytes: 0 }],
    async check(world) {
      const { rank, size } = world
      const floodPerPair = Math.ceil(floodMessages / size)
      const content = (src: number, dest: number, n: number) =>
        elements(Uint8Array, n, src, dest, n % 10 === 0 ? 3000 : n % 50)
      const sending = ranksOf(world).flatMap((dest) =>
        Array.from({ length: floodPerPair }, (_, n) => world.isend(content(rank, dest, n), dest, n)),
      )
      await world.barrier()
      same(await world.allreduce(Int32Array.of(1), 'sum'), Int32Array.of(world.size), 'behind the flood')
      // The latest message is received first, so that all others remain unexpected.
      for (const source of ranksOf(world)) {
        for (let n = floodPerPair - 1; n >= 0; n--) {
          same((await world.recv(source, n)).data, content(source, rank, n), `message ${n} of rank ${source}`)
        }
      }
      await waitall(sending)
    },
  },
  {
    name: 'large messages arrive complete, to other ranks and to the rank itself, in both directions at once and in parts of a buffer',
    settings: flowSettings,
    async check(world, { largeBytes }) {
      const { rank, size } = world
      // The size is odd, and the data do not begin at the start of their buffer.
      const bytes = Math.min(largeBytes / 8, 8 * 2 ** 20) + 13
      const [to, from] = [(rank + 1) % size, (rank + size - 1) % size]
      const source = filled(new Uint8Array(bytes + 3), rank).subarray(3)
      const expected = filled(new Uint8Array(bytes + 3), from).subarray(3)
      const into = new Uint8Array(bytes + 5).subarray(5)
      const sent = world.isend(source, to, 1)
      await world.recv(from, 1, { into })
      await sent.wait()
      sameBytes(into, expected)
      await world.sendrecv(source, rank, rank, { into })
      sameBytes(into, source)
      // Memory that a fabric may reach directly is sent into such memory and into ordinary memory, and back.
      const direct = world.alloc(bytes + 3).subarray(3)
      direct.set(source)
      const intoDirect = world.alloc(bytes + 5).subarray(5)
      for (const [data, buffer] of [
        [direct, into.fill(0)],
        [direct, intoDirect],
        [source, intoDirect.fill(0)],
      ] as const) {
        const sending = world.isend(data, to, 2)
        await world.recv(from, 2, { into: buffer })
        await sending.wait()
        sameBytes(buffer, expected)
      }
    },
  },
  {
    name: 'the largest message arrives complete, from the first rank to the last, sent and broadcast',
    async check(world, { largeBytes }) {
      const { rank, size } = world
      const words = Math.ceil(largeBytes / 4)
      const last = size - 1
      // The data go between two ranks only: a copy for each of many would not fit in memory.
      const pair = await world.split(rank === 0 || rank === last ? 0 : null, rank)
      if (pair === null) return
      const data = filled(new Uint32Array(words), rank)
      if (rank === 0) {
        if (last > 0) await pair.ssend(data, 1, 2)
        await pair.bcast(data, 0)
      } else {
        await pair.recv(0, 2, { into: data })
        sameFill(data, 0)
        await pair.bcast(null, 0, { into: data.fill(1) })
        sameFill(data, 0)
      }
      await pair.free()
    },
  },
]

/** Fills an array with elements that encode their array and position. */
function filled<A extends TypedArray & { [index: number]: number }>(array: A, salt: number): A {
  for (let i = 0; i < array.length; i++) array[i] = mixed(i, salt)
  return array
}

/** Compares without a copy of the expected array: the largest message is most of the memory. */
function sameFill(array: Uint32Array, salt: number): void {
  for (let i = 0; i < array.length; i++) {
    const expected = mixed(i, salt)
    if (array[i] !== expected) throw different(i, array.length, expected, array[i])
  }
}

/** Compares by the runtime: a loop over the elements would be most of the time of a suite. */
function sameBytes(actual: Uint8Array, expected: Uint8Array): void {
  if (Buffer.compare(actual, expected) === 0) return
  const at = expected.findIndex((byte, i) => byte !== actual[i])
  throw different(at, expected.length, expected[at], actual[at])
}

const different = (at: number, length: number, expected: number | undefined, actual: number | undefined) =>
  new Error(`element ${at} of ${length}: expected ${expected}, got ${actual}`)

const mixed = (i: number, salt: number) =>
  (Math.imul(i + 1, 0x9e3779b1) ^ Math.imul(salt + 1, 0x85ebca6b)) >>> 0
