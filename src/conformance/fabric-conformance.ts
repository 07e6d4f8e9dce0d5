import { requireKnownOptions, requireOptions } from '../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../base/option.js'
import type { FabricFactory, FabricSession } from '../fabric/fabric.js'
import { authorityCases } from './authority-cases.js'
import { cancelCases } from './cancel-cases.js'
import { expect, expectRefused, turns } from './frame-checks.js'
import { type FabricContext, processCases } from './process-cases.js'
import { type ExpectedFabric, expectedFabric } from './process-identity.js'
import { trafficCases } from './traffic-cases.js'

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
