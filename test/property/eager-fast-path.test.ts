import fc from 'fast-check'
import { ANY_SOURCE, ANY_TAG, Communicator, type Message, type Request, type TypedArray } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { CommRuntime } from '../../src/comm/comm-state.js'
import { stridedTable } from '../../src/comm/table/rank-table.js'
import { ThreadsSession } from '../../src/fabric/threads/threads.js'
import { connectThreads, resolveThreads } from '../../src/fabric/threads/threads-connect.js'
import type { RuntimeOptions } from '../../src/messages/process/frame-port.js'
import { defaultRuntimeOptions } from '../../src/messages/process/runtime.js'
import { worldLayout } from '../../src/messages/process/world-layout.js'
import { waitLines } from '../../src/world/diagnosis.js'
import { cases } from '../support/soak.js'
import { elementTypes, marked } from '../unit/messages/p2p/point-to-point-payloads.js'
import { codeOf } from '../unit/messages/p2p/point-to-point-world.js'
import { MatchingOracle } from './point-to-point-oracle.js'

const parameters = { numRuns: cases(400) }

const worlds = fc.record({
  eagerLimitBytes: fc.constantFrom(65_536, 65_536, 65_536, 40, 0),
  creditBytes: fc.constantFrom(2 ** 24, 2 ** 24, 2 ** 24, 200, 0),
  ringBytes: fc.constantFrom(4096, 2 ** 16),
})

/** Two ranks on two processes in this thread: what one sends lies in the ring until the other one looks. */
function openPair({ ringBytes, ...options }: { readonly ringBytes: number } & Partial<RuntimeOptions>) {
  const sessions = connectThreads(resolveThreads({ processes: 2, ringBytes })).map(
    (connection) => new ThreadsSession(connection),
  )
  const layout = worldLayout(2, sessions[0].nodes)
  const runtimes = sessions.map(
    ({ hosted }) => new CommRuntime(hosted[0], layout, { ...defaultRuntimeOptions, ...options }),
  )
  const [a, b] = runtimes.map(
    (runtime) => new Communicator(runtime.createContext({ leader: 0, counter: 0 }, stridedTable(2)), 0),
  )
  const close = () => Promise.all(sessions.map((session) => session.close()))
  return { a: a, b: b, runtimes, close }
}

const turn = () => new Promise(setImmediate)
const typeIndex = fc.nat(elementTypes.length)
const tags = fc.nat(1)

/** What a receive is given: nothing, what fits, more than that, too little, or another element type. */
const buffers = fc.constantFrom('none', 'same', 'none', 'same', 'longer', 'shorter', 'other')

const steps = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      tag: tags,
      typeIndex,
      countElems: fc.oneof(fc.nat(3), fc.nat(30)),
      synchronous: fc.nat(9).map((n) => n === 0),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('receive' as const),
      waits: fc.nat(2).map((n) => n > 0),
      source: fc.constantFrom(0, ANY_SOURCE),
      tag: fc.option(tags, { nil: ANY_TAG }),
      buffer: buffers,
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'turn' as const }) },
)

describe('receives that look for their message before they wait', () => {
  it('get what receives get that are posted: the earliest, whole or not at all', async () => {
    await fc.assert(
      fc.asyncProperty(
        worlds,
        fc.array(steps, { minLength: 1, maxLength: 60, size: 'max' }),
        async (options, script) => {
          const { a, b, runtimes, close } = openPair(options)
          const oracle = new MatchingOracle()
          const sent: unknown[] = []
          const sends: Promise<unknown>[] = []
          const receives: { done: Promise<Message> | Request<Message>; into: TypedArray | undefined }[] = []
          for (const step of script) {
            if (step.kind === 'turn') {
              await turn()
              continue
            }
            if (step.kind === 'send') {
              const id = sent.length
              const type = elementTypes[step.typeIndex]
              const content = type === undefined ? { id } : marked(type, step.countElems, 0, 1, id)
              sends.push(step.synchronous ? a.ssend(content, 1, step.tag) : a.send(content, 1, step.tag))
              sent.push(structuredClone(content))
              oracle.send({ id, source: 0, tag: step.tag })
              continue
            }
            const { source, tag } = step
            const next = oracle.peek(source, tag)
            const into = bufferFor(step.buffer, next && sent[next.id])
            const id = receives.length
            oracle.receive({ id, source, tag })
            // One that waits although nothing was sent would wait without end.
            if (step.waits && next !== undefined) {
              const done = b.recv(source, tag, into === undefined ? {} : { into }) as Promise<Message>
              receives.push({ done, into })
              await codeOf(done)
            } else {
              // No rank waits for it yet: a rank that waits in one call does not poll in another.
              const request = b.irecv(source, tag, into === undefined ? {} : { into }) as Request<Message>
              receives.push({ done: request, into })
            }
          }
          await turn()
          for (const [id, { done: started, into }] of receives.entries()) {
            const matched = oracle.matches.get(id)
            if (matched === undefined) {
              const request = started as Request<Message>
              request.cancel()
              expect(await codeOf(request.wait())).toBe('ERR_ABORTED')
              continue
            }
            const done = started instanceof Promise ? started : started.wait()
            const content = sent[matched]
            const expected = misfitOf(content, into)
            expect(await codeOf(done)).toBe(expected)
            if (expected !== 'none') continue
            const { data, count, sizeBytes } = await done
            if (ArrayBuffer.isView(content)) {
              const array = content as TypedArray
              expect([count, sizeBytes]).toEqual([array.length, array.byteLength])
              if (into !== undefined) expect(data).toBe(into)
              expect((data as TypedArray).subarray(0, array.length)).toEqual(array)
            } else expect(data).toEqual(content)
          }
          for (const { id, source, tag } of oracle.arrived) {
            const message = await b.recv(source, tag)
            expect(message.data).toEqual(sent[id])
          }
          await Promise.all(sends)
          expect(b.counters.rank.messagesReceived).toBe(sent.length)
          expect(a.counters.rank.messagesSent).toBe(sent.length)
          expect(waitLines(runtimes)).toEqual([])
          await close()
        },
      ),
      parameters,
    )
  })
})

function bufferFor(how: string, content: unknown): TypedArray | undefined {
  if (how === 'none') return undefined
  const array = ArrayBuffer.isView(content) ? (content as TypedArray) : new Float64Array(2)
  const TypedArrayOf = array.constructor as Float64ArrayConstructor
  if (how === 'other') return array instanceof Int16Array ? new Int8Array(100) : new Int16Array(100)
  return new TypedArrayOf(Math.max(0, array.length + (how === 'same' ? 0 : how === 'longer' ? 3 : -1)))
}

function misfitOf(content: unknown, into: TypedArray | undefined): string {
  if (into === undefined) return 'none'
  if (!ArrayBuffer.isView(content) || content.constructor !== into.constructor) return 'ERR_TYPE_MISMATCH'
  return (content as TypedArray).length > into.length ? 'ERR_TRUNCATE' : 'none'
}
