import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { CommState } from '../../src/comm/comm-state.js'
import { stridedTable } from '../../src/comm/table/rank-table.js'
import { RankweaveError } from '../../src/errors.js'
import { Communicator } from '../../src/handles/communicator.js'
import { ANY_SOURCE, ANY_TAG } from '../../src/messages/mailboxes/envelope.js'
import type { MatchedMessage } from '../../src/messages/p2p/matched-message.js'
import type { Request } from '../../src/messages/p2p/request.js'
import { envelopeChargeBytes } from '../../src/messages/process/credit.js'
import { creditWord, envelopeWord, frameKind, headerWord } from '../../src/messages/process/frames.js'
import { cases } from '../support/soak.js'
import { drained, openWorld, type TestWorld } from '../unit/messages/p2p/point-to-point-world.js'

const worlds = fc
  .record({
    ranksPerProcess: fc.constantFrom<number[]>([3], [1, 1], [2, 0, 1, 2]),
    eagerLimitBytes: fc.constantFrom(0, 100, 1e6),
    creditBytes: fc.constantFrom(0, 63, 64, 200, 1000, 4000, 2 ** 40),
    maxPayloadBytes: fc.constantFrom(24, 65_536),
    bulk: fc.boolean(),
    seed: fc.integer({ min: 0, max: 1e6 }),
    faults: fc.constantFrom({}, { delay: 4 }),
  })
  .map((options) => ({
    ...options,
    processes: options.ranksPerProcess.length,
    ranks: options.ranksPerProcess.reduce((sum, ranks) => sum + ranks, 0),
  }))

const some = fc.nat(1000)
/** 0: the world; 1: a communicator that the processes open one after the other. */
const which = fc.nat(1)
const steps = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      which,
      from: some,
      to: some,
      sizeBytes: fc.constantFrom(0, 0, 1, 8, 30, 200),
      copies: fc.constantFrom(1, 1, 5, 40),
      synchronous: fc.nat(5).map((n) => n === 0),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('receive' as const, 'short' as const, 'mprobe' as const),
      which,
      at: some,
      copies: fc.constantFrom(1, 5, 40),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('recvMatched' as const), which: some }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which: some }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('open' as const, 'open' as const, 'fail' as const),
      at: some,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('drain' as const, 'turn' as const) }) },
)

/** Charges by sender and receiver, as the frames between processes show them. */
function countCharges({ runtimes }: TestWorld) {
  const sent = new Map<string, number>()
  const returned = new Map<string, number>()
  const add = (map: Map<string, number>, key: string, bytes: number) =>
    map.set(key, (map.get(key) ?? 0) + bytes)
  for (const runtime of runtimes) {
    const send = runtime.send.bind(runtime)
    runtime.send = (peer, header, payload) => {
      const kind = header[headerWord.kind]
      const { process } = runtime
      if (kind === frameKind.eager) {
        add(sent, `${process} to ${peer}`, envelopeChargeBytes + header[envelopeWord.sizeBytes])
      } else if (kind === frameKind.credit) {
        add(returned, `${peer} to ${process}`, header[creditWord.bytes] >>> 0)
      }
      send(peer, header, payload)
    }
  }
  return (src: number, dst: number) =>
    (sent.get(`${src} to ${dst}`) ?? 0) - (returned.get(`${src} to ${dst}`) ?? 0)
}

it('what a process has in flight to another stays within the credit, and every message returns its charge once', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, fc.array(steps, { minLength: 1, maxLength: 60 }), async (options, script) => {
      const world = await openWorld(options)
      const { runtimes, states, comms } = world
      const chargesOf = countCharges(world)
      const others: (CommState | undefined)[] = runtimes.map(() => undefined)
      const handles: (Communicator | undefined)[] = comms.map(() => undefined)
      const open = (process: number) => {
        const runtime = runtimes[process]
        if (runtime.hostedRanks === 0 || others[process] !== undefined) return
        const state = runtime.createContext({ leader: 0, counter: 1 }, stridedTable(options.ranks))
        others[process] = state
        for (let i = 0; i < runtime.hostedRanks; i++)
          handles[runtime.firstRank + i] = new Communicator(state, i)
      }
      const fail = (process: number) => {
        others[process]?.fail(new RankweaveError('ERR_REVOKED', 'revoked'))
        const { firstRank, hostedRanks } = runtimes[process]
        if (others[process] !== undefined) handles.fill(undefined, firstRank, firstRank + hostedRanks)
      }
      const commOf = (n: number, rank: number) => (n === 0 ? comms[rank] : handles[rank])
      const check = () => {
        for (const { process, credit, options: limits } of runtimes) {
          for (let peer = 0; peer < runtimes.length; peer++) {
            const { inFlightBytes, grantedBytes } = credit.outstanding(peer)
            const least = peer === process ? 0 : chargesOf(process, peer)
            if (inFlightBytes < least || inFlightBytes > limits.creditBytes) {
              expect({ process, peer, least, inFlightBytes }).toBe(null)
            }
            if (grantedBytes < 0 || grantedBytes > Math.max(limits.creditBytes, options.maxPayloadBytes)) {
              expect({ process, peer, grantedBytes }).toBe(null)
            }
          }
        }
      }
      const requests: Request<unknown>[] = []
      const matched: MatchedMessage[] = []
      for (const step of script) {
        if (step.kind === 'send') {
          const comm = commOf(step.which, step.from % options.ranks)
          for (let n = 0; comm !== undefined && n < step.copies; n++) {
            const data = new Int8Array(step.sizeBytes)
            const to = step.to % options.ranks
            requests.push(step.synchronous ? comm.issend(data, to) : comm.isend(data, to))
          }
        } else if (step.kind === 'receive' || step.kind === 'short') {
          const comm = commOf(step.which, step.at % options.ranks)
          const into = step.kind === 'short' ? { into: new Int8Array(8) } : {}
          for (let n = 0; n < step.copies; n++) {
            if (comm !== undefined) requests.push(comm.irecv(ANY_SOURCE, ANY_TAG, into))
          }
        } else if (step.kind === 'mprobe') {
          const comm = commOf(step.which, step.at % options.ranks)
          for (let n = 0; n < step.copies; n++) {
            comm?.mprobe().then(
              (message) => matched.push(message),
              () => {},
            )
          }
        } else if (step.kind === 'recvMatched') {
          const [message] = matched.splice(step.which % (matched.length + 1), 1)
          if (message !== undefined) requests.push(message.irecv())
        } else if (step.kind === 'cancel') requests[step.which % (requests.length + 1)]?.cancel()
        else if (step.kind === 'open') open(step.at % runtimes.length)
        else if (step.kind === 'fail') fail(step.at % runtimes.length)
        else if (step.kind === 'turn') await new Promise(setImmediate)
        else await drained(world)
        check()
      }
      // The one communicator fails in each process in turn, the other is freed.
      for (const { process } of runtimes) {
        open(process)
        for (const [n, comm] of handles.entries()) {
          for (let to = 0; to < options.ranks; to++) comm?.isend(new Int8Array(n * 90), to)
        }
        if (process % 2 === 1) await drained(world)
        else await new Promise(setImmediate)
        fail(process)
        check()
      }
      await drained(world)
      await Promise.all(states.map(({ matching }) => matching.close()))
      await drained(world)
      for (const { process, credit } of runtimes) {
        for (const { process: peer, credit: theirs } of runtimes) {
          const { inFlightBytes, grantedBytes } = credit.outstanding(peer)
          const { owedBytes } = peer === process ? { owedBytes: 0 } : theirs.outstanding(process)
          const left = peer === process ? 0 : chargesOf(process, peer)
          expect({ inFlightBytes, grantedBytes, owedBytes }).toEqual({
            inFlightBytes: left,
            grantedBytes: 0,
            owedBytes: left,
          })
          if (left > 0) expect(left * 4).toBeLessThan(options.creditBytes)
        }
      }
      await world.session.close()
    }),
    { numRuns: cases(200) },
  )
})
