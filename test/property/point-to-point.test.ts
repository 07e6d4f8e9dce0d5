import fc from 'fast-check'
import { ANY_SOURCE, ANY_TAG, type Message, type Request } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { waitLines } from '../../src/world/diagnosis.js'
import { cases } from '../support/soak.js'
import { elementTypes, marked } from '../unit/messages/p2p/point-to-point-payloads.js'
import {
  codeOf,
  drained,
  openWorld,
  type TestWorldOptions,
} from '../unit/messages/p2p/point-to-point-world.js'
import { MatchingOracle } from './point-to-point-oracle.js'

const parameters = { numRuns: cases(400, 200) }

/** Worlds of 1, 2 and 5 processes with uneven and empty blocks of ranks, and all ways of data to travel. */
const worlds: fc.Arbitrary<TestWorldOptions> = fc
  .record({
    ranksPerProcess: fc.constantFrom<number[]>([3], [4, 1], [0, 2], [1, 1, 1], [2, 0, 3, 1, 2]),
    eagerLimitBytes: fc.constantFrom(0, 40, 1e6),
    creditBytes: fc.constantFrom(0, 100, 1000, 1e6),
    maxPayloadBytes: fc.constantFrom(24, 100, 65_536),
    bulk: fc.boolean(),
    seed: fc.integer({ min: 0, max: 1e6 }),
  })
  .map((options) => ({
    ...options,
    processes: options.ranksPerProcess.length,
    ranks: options.ranksPerProcess.reduce((sum, ranks) => sum + ranks, 0),
  }))

const anyRank = fc.nat(1000)
const tags = fc.nat(2)
const sourcePattern = fc.option(anyRank, { nil: ANY_SOURCE })
const tagPattern = fc.option(tags, { nil: ANY_TAG })
const typeIndex = fc.nat(elementTypes.length)

const steps = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      from: anyRank,
      to: anyRank,
      tag: tags,
      typeIndex,
      countElems: fc.oneof(fc.nat(3), fc.nat(60)),
      synchronous: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('receive' as const, 'mprobe' as const, 'probe' as const),
      at: anyRank,
      source: sourcePattern,
      tag: tagPattern,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which: fc.nat(1000) }) },
)

describe('matching, one step after the other', () => {
  it('is that of two lists searched from their start', async () => {
    await fc.assert(
      fc.asyncProperty(worlds, fc.array(steps, { minLength: 1, maxLength: 80 }), async (options, script) => {
        const world = await openWorld(options)
        const { ranks } = options
        const oracles = world.comms.map(() => new MatchingOracle())
        const sends: { request: Request<void>; to: number; content: unknown; from: number; tag: number }[] =
          []
        const receives: { request: Request<Message>; at: number }[] = []
        const operations: { kind: 'send' | 'receive'; id: number }[] = []
        for (const step of script) {
          if (step.kind === 'send') {
            const [from, to, id] = [step.from % ranks, step.to % ranks, sends.length]
            const type = elementTypes[step.typeIndex]
            const content =
              type === undefined
                ? { from, to, id, text: 'x'.repeat(step.countElems) }
                : marked(type, step.countElems, from, to, id)
            const start = step.synchronous ? 'issend' : 'isend'
            const request = world.comms[from][start](content, to, step.tag)
            sends.push({ request, to, from, tag: step.tag, content: structuredClone(content) })
            operations.push({ kind: 'send', id })
            oracles[to].send({ id, source: from, tag: step.tag })
          } else if (step.kind === 'cancel') {
            if (operations.length === 0) continue
            const { kind, id } = operations[step.which % operations.length]
            if (kind === 'receive') {
              const { request, at } = receives[id]
              request.cancel()
              const withdrawn = oracles[at].withdrawReceive(id)
              if (withdrawn) expect(await codeOf(request.wait())).toBe('ERR_ABORTED')
            } else {
              const { request, to } = sends[id]
              const pending = !request.pending.settled
              request.cancel()
              await drained(world)
              const withdrawn = pending && oracles[to].withdrawSend(id)
              if (withdrawn) expect(await codeOf(request.wait())).toBe('ERR_ABORTED')
            }
          } else {
            const at = step.at % ranks
            const source = step.source === ANY_SOURCE ? ANY_SOURCE : step.source % ranks
            const comm = world.comms[at]
            const oracle = oracles[at]
            const next = oracle.peek(source, step.tag)
            if (step.kind === 'receive') {
              const id = receives.length
              receives.push({ request: comm.irecv(source, step.tag), at })
              operations.push({ kind: 'receive', id })
              oracle.receive({ id, source, tag: step.tag })
            } else if (step.kind === 'probe') {
              const status = await comm.iprobe(source, step.tag)
              expect(status && { source: status.source, tag: status.tag }).toEqual(
                next === undefined ? null : { source: next.source, tag: next.tag },
              )
            } else {
              const matched = await comm.improbe(source, step.tag)
              expect(matched === null).toBe(next === undefined)
              if (matched === null) continue
              oracle.withdrawSend(next!.id)
              const message = await matched.recv()
              expect(message.data).toEqual(sends[next!.id].content)
            }
          }
          await drained(world)
          receives.forEach(({ request, at }, id) => {
            if (oracles[at].posted.some((receive) => receive.id === id)) {
              expect(request.pending.settled).toBe(false)
            }
          })
        }
        for (const [id, { request, at }] of receives.entries()) {
          const sent = oracles[at].matches.get(id)
          if (sent === undefined) {
            request.cancel()
            expect(await codeOf(request.wait())).toBe('ERR_ABORTED')
            continue
          }
          expect(request.pending.settled).toBe(true)
          const { source, tag, data } = await request.wait()
          expect({ source, tag, data }).toEqual({
            source: sends[sent].from,
            tag: sends[sent].tag,
            data: sends[sent].content,
          })
        }
        for (const [rank, { arrived }] of oracles.entries()) {
          for (const { id, source, tag } of arrived) {
            const message = await world.comms[rank].recv(source, tag)
            expect(message.data).toEqual(sends[id].content)
          }
        }
        await drained(world)
        expect(sends.every(({ request }) => request.pending.settled)).toBe(true)
        expect(waitLines(world.runtimes)).toEqual([])
        await world.session.close()
      }),
      parameters,
    )
  })
})

describe('cancelling, at any moment', () => {
  it('takes a message back entirely or not at all, and leaves the buffer alone afterwards', async () => {
    const action = fc.record({
      kind: fc.constantFrom('send' as const, 'receive' as const, 'cancel' as const, 'turn' as const),
      from: anyRank,
      to: anyRank,
      tag: tags,
      which: fc.nat(1000),
      countElems: fc.nat(60),
      synchronous: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(
        worlds,
        fc.array(action, { minLength: 1, maxLength: 100 }),
        async (options, actions) => {
          const world = await openWorld(options)
          const { ranks } = options
          const sends: { request: Request<void>; to: number; aborted?: boolean }[] = []
          const receives: Request<Message>[] = []
          for (const { kind, from, to, tag, which, countElems, synchronous } of actions) {
            if (kind === 'send') {
              const data = new Float64Array(countElems + 1).fill(sends.length)
              const start = synchronous ? 'issend' : 'isend'
              const request = world.comms[from % ranks][start](data, to % ranks, tag)
              const send: (typeof sends)[number] = { request, to: to % ranks }
              sends.push(send)
              void codeOf(request.wait()).then((code) => {
                send.aborted = code === 'ERR_ABORTED'
                data.fill(-1)
              })
            } else if (kind === 'receive') {
              receives.push(world.comms[to % ranks].irecv(ANY_SOURCE, which % 2 === 0 ? tag : ANY_TAG))
            } else if (kind === 'turn') await new Promise(setImmediate)
            else {
              const all = [...sends.map(({ request }) => request), ...receives]
              all[which % (all.length + 1)]?.cancel()
            }
          }
          await drained(world)
          const received = new Map<number, number>()
          const take = ({ data }: Message) => {
            const [id] = data as Float64Array
            expect((data as Float64Array).every((value) => value === id)).toBe(true)
            received.set(id, (received.get(id) ?? 0) + 1)
          }
          for (const receive of receives) {
            receive.cancel()
            if ((await codeOf(receive.wait())) === 'none') take(await receive.wait())
          }
          for (const comm of world.comms) {
            for (let left = await comm.improbe(); left !== null; left = await comm.improbe())
              take(await left.recv())
          }
          await drained(world)
          for (const [id, { request, aborted }] of sends.entries()) {
            expect(request.pending.settled).toBe(true)
            expect(received.get(id) ?? 0).toBe(aborted === true ? 0 : 1)
          }
          await world.session.close()
        },
      ),
      parameters,
    )
  })
})
