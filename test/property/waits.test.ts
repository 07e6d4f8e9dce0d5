import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Request, waitall, waitany, waitsome } from '../../src/messages/p2p/request.js'
import { cases } from '../support/soak.js'
import { openWorld } from '../unit/messages/p2p/point-to-point-world.js'

/** Started receives; those of an odd number carry a signal that never aborts. */
const requestCount = 6
const which = fc.nat(requestCount - 1)
const steps = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('wait' as const, 'waitall' as const, 'waitany' as const, 'waitsome' as const),
      list: fc.array(which, { minLength: 1, maxLength: 8 }),
      hasSignal: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('complete' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort' as const), which: fc.nat(20) }) },
)

interface Wait {
  readonly kind: 'wait' | 'waitall' | 'waitany' | 'waitsome'
  readonly list: readonly number[]
  readonly controller: AbortController | undefined
  /** What its promise has settled to. */
  seen: string | undefined
  expected: string | undefined
}

const turn = () => new Promise(setImmediate)

it('waits end when their requests do or their signal aborts, and block their rank exactly until then', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 40 }), async (script) => {
      const world = await openWorld({ ranks: 1 })
      const [comm] = world.comms
      const { waits: tracker } = world.runtimes[0]
      const never = new AbortController()
      const requests = Array.from({ length: requestCount }, (_, tag) =>
        comm.irecv<Int32Array>(0, tag, tag % 2 === 1 ? { signal: never.signal } : {}),
      )
      const done = new Set<number>()
      const waits: Wait[] = []
      const decide = (wait: Wait, completed?: number) => {
        if (wait.expected !== undefined) return
        const complete = wait.list.filter((tag) => done.has(tag))
        if (wait.kind === 'waitall') {
          if (complete.length === wait.list.length) wait.expected = wait.list.join()
        } else if (complete.length > 0) {
          const first = completed === undefined ? complete[0] : completed
          if (wait.kind === 'waitsome') {
            wait.expected = wait.list.flatMap((tag, at) => (done.has(tag) ? [`${at}:${tag}`] : [])).join()
          } else if (wait.kind === 'wait') wait.expected = String(first)
          else wait.expected = `${wait.list.indexOf(first)}:${first}`
        }
      }
      for (const step of script) {
        if (step.kind === 'complete') {
          if (done.has(step.which)) continue
          done.add(step.which)
          await comm.send(Int32Array.of(step.which), 0, step.which)
          for (const wait of waits) if (wait.list.includes(step.which)) decide(wait, step.which)
        } else if (step.kind === 'abort') {
          const wait = waits[step.which]
          wait?.controller?.abort()
          if (wait?.controller !== undefined) wait.expected ??= 'ERR_ABORTED'
        } else {
          const controller = step.hasSignal ? new AbortController() : undefined
          const list = step.kind === 'wait' ? step.list.slice(0, 1) : step.list
          const wait: Wait = { kind: step.kind, list, controller, seen: undefined, expected: undefined }
          waits.push(wait)
          started(
            wait,
            list.map((tag) => requests[tag]),
          ).then(
            (seen) => {
              wait.seen = seen
            },
            (error) => {
              wait.seen = error.code
            },
          )
          decide(wait)
        }
        await turn()
        expect(waits.map(({ seen }) => seen)).toEqual(waits.map(({ expected }) => expected))
        const open = waits.filter(({ expected }) => expected === undefined)
        expect(tracker.waits > 0).toBe(open.length > 0)
        expect(tracker.isBlocked(0)).toBe(open.length > 0)
        const signalled = open.some(
          ({ controller, list }) =>
            controller !== undefined || list.some((tag) => tag % 2 === 1 && !done.has(tag)),
        )
        expect(tracker.withSignal > 0).toBe(signalled)
        const awaited = requests.map(
          (_, tag) => !done.has(tag) && open.some(({ list }) => list.includes(tag)),
        )
        expect(requests.map(({ pending }) => pending.awaited)).toEqual(awaited)
      }
      await world.session.close()
    }),
    { numRuns: cases(150) },
  )
})

/** The wait's outcome as text. */
async function started(
  { kind, controller }: Wait,
  requests: Request<{ data: Int32Array }>[],
): Promise<string> {
  const options = controller === undefined ? {} : { signal: controller.signal }
  if (kind === 'wait') return String((await requests[0].wait(options)).data[0])
  if (kind === 'waitall') return (await waitall(requests, options)).map(({ data }) => data[0]).join()
  const text = ({ index, value }: { index: number; value: { data: Int32Array } }) =>
    `${index}:${value.data[0]}`
  if (kind === 'waitany') return text(await waitany(requests, options))
  return (await waitsome(requests, options)).map(text).join()
}
