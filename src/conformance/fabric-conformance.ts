import { requireKnownOptions, requireOptions } from '../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../base/option.js'
import { seededRandom } from '../base/random.js'
import {
  type Decision,
  type Fabric,
  type FabricFactory,
  type FabricSession,
  maxHeaderWords,
} from '../fabric/fabric.js'
import { cancelCases, type FabricContext, type ProcessCase, processCases } from './process-cases.js'
import { equalWords, expect, expectBytes, expectRefused, patternBytes, TestPeer, turns } from './test-peer.js'
import { type ExpectedFabric, expectedFabric } from './world-case.js'

/** A rule of the contract in `fabric.ts`, checked on its own session. */
export interface ConformanceCase {
  readonly name: string
  /** Throws an error with expected and actual values when the fabric breaks the rule. */
  run(): Promise<void>
}

export interface FabricConformanceOptions {
  /** The properties that the fabric must have. Default: what the factory declares. */
  readonly expected?: Partial<ExpectedFabric>
  /** The seed of everything random. Default 1. */
  readonly seed?: number
  /** The number of repetitions of random cases, each drawn anew. Default 1. */
  readonly rounds?: number
  /** Whether transfers of 256 MiB are made. Default false: the largest has 1 MiB. */
  readonly large?: boolean
}

const knownOptions: OptionTable<FabricConformanceOptions> = uncheckedOptions(
  ...(['expected', 'seed', 'rounds', 'large'] as const),
)

/**
 * Returns the contract of a fabric as cases to run, under any test runner or none.
 *
 * A session that hosts one process of several runs its part of each case: start the same case with the same options in
 * every process. A case opens one session after the other; the factory must be able to open several.
 */
export function fabricConformance(
  factory: FabricFactory,
  options: FabricConformanceOptions = {},
): readonly ConformanceCase[] {
  requireOptions('fabricConformance', factory)
  requireKnownOptions('fabricConformance', options, knownOptions)
  const { seed = 1, rounds = 1, large = false } = options
  const context: FabricContext = {
    expected: expectedFabric(factory, options.expected),
    seed,
    rounds,
    largeBytes: large ? 256 * 2 ** 20 : 2 ** 20,
  }
  const perProcess = [...processCases, ...trafficCases, ...cancelCases, ...authorityCases].map(
    ({ name, program }) => ({
      name,
      run: () =>
        withSession(factory, async (session) => {
          await Promise.all(session.hosted.map((fabric) => program(fabric, session, context)))
        }),
    }),
  )
  const perSession = sessionCases.map(({ name, check }) => ({
    name,
    run: () => withSession(factory, (session) => check(session, factory, context)),
  }))
  return [...perProcess, ...perSession]
}

async function withSession(
  factory: FabricFactory,
  body: (session: FabricSession) => Promise<void>,
): Promise<void> {
  const session = await factory.open()
  try {
    await body(session)
  } finally {
    await session.close()
  }
}

/** The cases under load: floods, random traffic, large transfers. */
const trafficCases: readonly ProcessCase[] = [
  {
    name: 'a flood of frames is neither rejected nor lost',
    async program(fabric, session) {
      const flood = 5000
      const me = new TestPeer(fabric, session)
      const next = (fabric.process + 1) % fabric.processes
      for (let n = 0; n < flood; n++)
        fabric.send(next, Int32Array.of(n), patternBytes(fabric.process, next, n, 8))
      await me.until(() => me.received.length >= flood, 'the flood')
      me.received.forEach(({ header, src, payload }, n) => {
        expect(header[0] === n, `frame ${n}`, header[0])
        expectBytes(payload, patternBytes(src, fabric.process, n, 8))
      })
      await me.part()
    },
  },
  {
    name: 'bulk transfers fill the receive buffer, in both directions at once, whichever side comes first',
    async program(fabric, session) {
      const me = new TestPeer(fabric, session)
      const { bulk } = fabric
      if (bulk !== undefined) {
        const sizes = [0, 1, 4097, 3 * fabric.maxPayloadBytes + 5]
        const transfers: Promise<void>[] = []
        const send = (peer: number) => {
          sizes.forEach((size, id) => {
            const buffer = patternBytes(fabric.process, peer, id, size)
            transfers.push(bulk.send(peer, id, buffer).then(() => void buffer.fill(0xee)))
          })
        }
        const receive = (peer: number) => {
          sizes.forEach((size, id) => {
            const into = new Uint8Array(size)
            const whole = () => expectBytes(into, patternBytes(peer, fabric.process, id, size))
            transfers.push(bulk.receive(peer, id, into).then(whole))
          })
        }
        for (let peer = 0; peer < fabric.processes; peer++) {
          const sendFirst = (fabric.process + peer) % 2 === 0
          if (sendFirst) send(peer)
          else receive(peer)
          await turns(1)
          if (sendFirst) receive(peer)
          else send(peer)
        }
        fabric.ref()
        await Promise.all(transfers)
        fabric.unref()
      }
      await me.part()
    },
  },
  {
    name: 'what a process has written to its staging memory is read in place by the peers that it names a location to',
    async program(fabric, session) {
      const { staging, process, processes } = fabric
      const sizeBytes = 5000
      const me = new TestPeer(fabric, session)
      const memory = staging?.memory() ?? new Uint8Array(0)
      expect(
        staging === undefined || memory === staging.memory(),
        'the same staging memory each time',
        memory,
      )
      const bytes = memory.subarray(memory.length - Math.min(memory.length, sizeBytes))
      bytes.set(patternBytes(process, process, 7, bytes.length))
      for (let peer = 0; peer < processes; peer++) {
        if (peer === process) continue
        const location = bytes.length === 0 ? undefined : staging?.locate(peer, bytes)
        const where = location === undefined ? [] : [location.segment, location.byteOffset]
        fabric.send(peer, Int32Array.of(bytes.length), new Uint8Array(Float64Array.from(where).buffer))
      }
      await me.until(() => me.received.length >= processes - 1, 'a location of every peer')
      for (const { src, header, payload } of me.received) {
        if (payload.length === 0) continue
        const [segment, byteOffset] = new Float64Array(payload.slice().buffer)
        const seen = staging!.reach(src, { segment: segment, byteOffset: byteOffset }, header[0])
        expectBytes(seen, patternBytes(src, src, 7, header[0]))
      }
      await me.part()
    },
  },
  {
    name: 'random traffic in bursts, from inside the sink and between polls arrives in order and complete',
    async program(fabric, session, { seed, rounds }) {
      // The plan is drawn per ordered pair, so every process knows what each sends to each.
      const planOf = (src: number, dst: number) => {
        const random = seededRandom((seed * 64 + src) * 64 + dst)
        const max = fabric.maxPayloadBytes
        return Array.from({ length: 150 * rounds }, () => {
          const kind = Math.floor(random() * 12)
          const size =
            kind === 0 ? max - Math.floor(random() * 9) : kind < 3 ? 5000 * random() : 40 * random()
          return {
            payloadBytes: Math.min(max, Math.floor(size)),
            headerWords: 1 + Math.floor(random() * maxHeaderWords),
          }
        })
      }
      const peers = Array.from({ length: fabric.processes }, (_, peer) => peer)
      const outgoing = peers.map((peer) => planOf(fabric.process, peer))
      const next = peers.map(() => 0)
      const send = (peer: number) => {
        const n = next[peer]
        const frame = outgoing[peer][n]
        if (frame === undefined) return false
        next[peer] = n + 1
        const header = new Int32Array(frame.headerWords).fill(n)
        fabric.send(peer, header, patternBytes(fabric.process, peer, n, frame.payloadBytes))
        return true
      }
      const random = seededRandom(seed + 1000 + fabric.process)
      const me = new TestPeer(fabric, session, (src) => {
        if (random() < 0.3) send(src)
      })
      for (;;) {
        let left = false
        for (const peer of peers) {
          for (let burst = random() * 20; burst > 0; burst--) left = send(peer) || left
          if (random() < 0.3) fabric.poll()
        }
        if (random() < 0.5) await turns(1)
        if (!left) break
      }
      const expected = peers.map((peer) => planOf(peer, fabric.process))
      const total = expected.reduce((sum, frames) => sum + frames.length, 0)
      await me.until(() => me.received.length >= total, 'all frames')
      await me.part()
      expect(me.received.length === total, `${total} frames`, me.received.length)
      const seen = peers.map(() => 0)
      for (const { src, header, payload } of me.received) {
        const n = seen[src]++
        const { headerWords, payloadBytes } = expected[src][n]
        const right = header.length === headerWords && header.every((word) => word === n)
        expect(right, `${headerWords} words of ${n} from process ${src}`, header)
        expectBytes(payload, patternBytes(src, fabric.process, n, payloadBytes))
      }
    },
  },
  {
    name: 'frames overtake a large bulk transfer around the ring',
    async program(fabric, session, { largeBytes }) {
      const me = new TestPeer(fabric, session)
      const { bulk, process, processes } = fabric
      if (bulk !== undefined) {
        const [next, before] = [(process + 1) % processes, (process + processes - 1) % processes]
        const words = largeBytes / 4 + 1
        const outgoing = new Uint32Array(words)
        for (let i = 0; i < words; i++) outgoing[i] = Math.imul(i + 1, 0x9e3779b1) ^ process
        const incoming = new Uint32Array(words)
        const frames = 100
        const transfers = [
          bulk.receive(before, 1, new Uint8Array(incoming.buffer)),
          bulk.send(next, 1, new Uint8Array(outgoing.buffer)),
        ]
        for (let n = 0; n < frames; n++) {
          fabric.send(next, Int32Array.of(n))
          if (n % 10 === 0) await turns(1)
        }
        await me.until(() => me.received.length >= frames, 'frames during a transfer')
        fabric.ref()
        await Promise.all(transfers)
        fabric.unref()
        for (let i = 0; i < words; i++) {
          const element = (Math.imul(i + 1, 0x9e3779b1) ^ before) >>> 0
          if (incoming[i] !== element) expect(false, `element ${i} to be ${element}`, incoming[i])
        }
      }
      await me.part()
    },
  },
]

const rounds = 20

/** The rules of `Authority`. Nothing is checked on a fabric without one; the fabric's own tests inject losses. */
const authorityCases: readonly ProcessCase[] = [
  {
    name: 'a decision is the same at every process: what each has contributed, in the order of members',
    async program(fabric, session) {
      const me = new TestPeer(fabric, session)
      const everyone = Array.from({ length: fabric.processes }, (_, process) => process)
      const decisions: Promise<Decision>[] = []
      // Every process asks in another order, and for some decisions long before the others.
      for (let n = 0; n < rounds; n++) {
        const round = (n + fabric.process) % rounds
        const decision = decide(fabric, `all ${round}`, everyone, round)
        if (decision !== undefined) decisions[round] = decision
      }
      for (const [round, decision] of (await Promise.all(decisions)).entries()) {
        expectDecision(decision, everyone, round)
      }
      await me.part()
    },
  },
  {
    name: 'a decision of some processes does not wait for the others',
    async program(fabric, session) {
      const me = new TestPeer(fabric, session)
      const even = Array.from({ length: Math.ceil(fabric.processes / 2) }, (_, n) => 2 * n)
      if (fabric.process % 2 === 0) {
        const decision = await decide(fabric, 'even', even, 1)
        if (decision !== undefined) expectDecision(decision, even, 1)
      }
      await me.part()
    },
  },
]

function decide(
  fabric: Fabric,
  key: string,
  members: readonly number[],
  round: number,
): Promise<Decision> | undefined {
  const contribution = contributionOf(fabric.process, round)
  const decision = fabric.authority?.decide(key, members, contribution)
  // The contribution has been read when the call returns.
  contribution.fill(0)
  return decision
}

/** Returns 64 bytes, the most that are allowed, or no bytes for some processes. */
function contributionOf(process: number, round: number): Uint8Array {
  return new Uint8Array((process + round) % 3 === 2 ? 0 : 64).fill(process + 7 * round + 1)
}

function expectDecision({ contributions, lost }: Decision, members: readonly number[], round: number): void {
  expect(lost.length === 0, 'no loss', lost.join())
  expect(contributions.length === members.length, `${members.length} contributions`, contributions.length)
  members.forEach((process, n) => {
    const expected = contributionOf(process, round)
    const got = contributions[n]
    expect(
      got != null && equalWords([...got], [...expected]),
      `the contribution of process ${process}`,
      got === null ? 'none' : String(got),
    )
  })
}

interface SessionCase {
  readonly name: string
  check(session: FabricSession, factory: FabricFactory, context: FabricContext): Promise<void>
}

const sessionCases: readonly SessionCase[] = [
  {
    name: 'a session has the kind, processes and nodes of its factory',
    async check(session, factory, { expected: { kind, processes } }) {
      expect(factory.kind === kind, `a factory of kind ${kind}`, factory.kind)
      expect(session.kind === kind, `kind ${kind}`, session.kind)
      expect(factory.processes === processes, `a factory of ${processes} processes`, factory.processes)
      expect(session.processes === processes, `${processes} processes`, session.processes)
      expect(session.hosted.length > 0, 'a process hosted here', 'none')
      expect(session.nodes.length === session.processes, 'a node for every process', session.nodes.length)
      let before = -1
      for (const fabric of session.hosted) {
        expect(fabric.process > before, 'hosted processes ascending', fabric.process)
        before = fabric.process
        expect(before < session.processes, `a process below ${session.processes}`, before)
        expect(fabric.kind === session.kind, `kind ${session.kind}`, fabric.kind)
        expect(fabric.processes === session.processes, `${session.processes} processes`, fabric.processes)
        expect(String(fabric.nodes) === String(session.nodes), String(session.nodes), fabric.nodes)
        expect(Number.isSafeInteger(fabric.maxPayloadBytes), 'whole bytes', fabric.maxPayloadBytes)
        expect(fabric.maxPayloadBytes >= 1024, 'payloads of a kibibyte at least', fabric.maxPayloadBytes)
      }
    },
  },
  {
    name: 'after close no frame is delivered, sends are rejected, and closing again has no effect',
    async check(session) {
      let closed = false
      let late = 0
      for (const fabric of session.hosted) {
        fabric.attach({
          frame: () => {
            if (closed) late++
          },
          peerLost: () => {},
        })
      }
      for (const fabric of session.hosted) {
        for (let peer = 0; peer < session.processes; peer++) fabric.send(peer, Int32Array.of(peer))
      }
      const closing = session.close()
      closed = true
      await closing
      await session.close()
      await turns(5)
      expect(late === 0, 'no frame after close', late)
      for (const fabric of session.hosted) {
        fabric.unref()
        expect(fabric.poll() === false, 'nothing to poll', 'something')
        expectRefused(() => fabric.send(0, Int32Array.of(1)), 'a send after close')
      }
    },
  },
  {
    name: 'ref and unref nest, and close releases every handle',
    async check(_session, factory) {
      await turns(3)
      const before = handles()
      const session = await factory.open()
      for (const fabric of session.hosted) {
        fabric.ref()
        fabric.ref()
        fabric.unref()
        fabric.ref()
        fabric.attach({ frame: () => {}, peerLost: () => {} })
        fabric.send(fabric.process, Int32Array.of(1))
      }
      await turns(3)
      await session.close()
      await turns(3)
      // The test runner may have handles that come and go.
      const deadlineMs = performance.now() + 2000
      let left = startedSince(before)
      while (left.length > 0 && performance.now() < deadlineMs) {
        await turns(1)
        left = startedSince(before)
      }
      expect(left.length === 0, 'no handle left', left.join(', '))
    },
  },
  {
    name: 'a session is quiet exactly when no frame is in flight',
    async check(session) {
      if (session.hosted.length < session.processes) return
      let delivered = 0
      for (const fabric of session.hosted)
        fabric.attach({ frame: () => void delivered++, peerLost: () => {} })
      expect(session.quiet(), 'quiet at first', 'frames in flight')
      const first = session.hosted[0]
      for (let peer = 0; peer < session.processes; peer++) first.send(peer, Int32Array.of(peer))
      expect(!session.quiet(), 'not quiet while frames are in flight', 'quiet')
      for (let turn = 0; turn < 1000 && !session.quiet(); turn++) await turns(1)
      expect(session.quiet(), 'quiet in the end', 'frames in flight')
      expect(delivered === session.processes, `${session.processes} frames`, delivered)
    },
  },
]

/** Returns the types of which more are active than before. */
function startedSince(before: ReadonlyMap<string, number>): string[] {
  return [...handles()].filter(([type, count]) => count > (before.get(type) ?? 0)).map(([type]) => type)
}

function handles(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1)
  return counts
}
