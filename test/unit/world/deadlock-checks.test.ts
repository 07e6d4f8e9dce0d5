import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { realClock } from '../../../src/base/clock.js'
import { whileLoading } from '../../../src/base/turn.js'
import { CommRuntime } from '../../../src/comm/comm-state.js'
import type { Fabric, FabricSession, FrameSink } from '../../../src/fabric/fabric.js'
import { frameKind } from '../../../src/messages/process/frames.js'
import { worldLayout } from '../../../src/messages/process/world-layout.js'
import { DeadlockWatch } from '../../../src/world/deadlock.js'
import type { EventLoopWatch } from '../../../src/world/event-loop.js'

it('are rare while frames come and go, however often every rank sleeps, and close together once none does', () => {
  const delays: number[] = []
  let check = () => {}
  vi.spyOn(realClock, 'later').mockImplementation((delayMs, callback) => {
    delays.push(delayMs)
    check = callback
    return () => {}
  })
  const processCounters = { framesSent: 0, framesReceived: 0 }
  const runtime = {
    waits: { awake: 0, waits: 1, withSignal: 0, changes: 0 },
    processCounters,
  } as unknown as CommRuntime
  const session = { hosted: [runtime.fabric], processes: 1, quiet: () => true } as unknown as FabricSession
  const eventLoop = { activity: () => 'none' } as unknown as EventLoopWatch
  const watch = new DeadlockWatch(
    session,
    () => [runtime],
    eventLoop,
    () => {},
  )
  const runs = (times: number, before: () => void) => {
    for (let n = 0; n < times; n++) {
      before()
      check()
    }
    return delays.splice(0)
  }
  watch.arm()
  expect(runs(7, () => processCounters.framesReceived++)).toEqual([1, 2, 4, 8, 16, 25, 25, 25])
  expect(runs(4, () => {})).toEqual([2, 4, 8, 16])
  watch.stop()
})

/** Where only doubt remains, a rank may be woken by what Node does not name. */
describe('in doubt', () => {
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  const [ask, answer] = [1, 2]

  /** The highest of some processes, whose frames are put down and whose timers run when told. */
  function watched(processes: number) {
    const timers = new Set<() => void>()
    vi.spyOn(realClock, 'later').mockImplementation((_, run) => {
      timers.add(run)
      return () => timers.delete(run)
    })
    let sink!: FrameSink
    const sent: Int32Array[] = []
    const fabric: Partial<Fabric> = {
      ...{ process: processes - 1, processes, maxPayloadBytes: 1024 },
      attach: (attached) => {
        sink = attached
      },
      send: (_, header) => void sent.push(header.slice()),
      ...{ ref: () => {}, unref: () => {} },
    }
    const nodes = Array.from({ length: processes }, () => 'one')
    const runtime = new CommRuntime(fabric as Fabric, worldLayout(processes, nodes))
    const session = { hosted: [fabric], processes, quiet: () => true } as unknown as FabricSession
    const eventLoop = { activity: () => 'perhaps' } as unknown as EventLoopWatch
    const reports: string[] = []
    const onDeadlock = ({ code }: { readonly code: string }) => void reports.push(code)
    const watch = new DeadlockWatch(session, () => [runtime], eventLoop, onDeadlock)
    onTestFinished(() => watch.stop())
    const pass = () => {
      for (const run of [...timers]) if (timers.delete(run)) run()
    }
    /** What it answers to a query. */
    const isStuck = async (from = 0) => {
      sink.frame(from, Int32Array.of(frameKind.stuck, 0, 0, ask, 1, 0, 0, 0, 0, 0, 0), new Uint8Array(0))
      await turn()
      const last = sent.at(-1)!
      expect(last[3]).toBe(answer)
      return last[5] === 1
    }
    return { runtime, watch, pass, isStuck, reports }
  }

  it('a process that is asked often does not answer sooner that it is stuck', async () => {
    const { runtime, pass, isStuck } = watched(3)
    runtime.waits.block(0, false)
    for (let n = 0; n < 1000; n++) expect(await isStuck(n % 2)).toBe(false)
    for (let n = 0; n < 118; n++) {
      pass()
      expect(await isStuck()).toBe(false)
    }
    pass()
    expect(await isStuck()).toBe(true)
  })

  it('a rank is not stuck while a call loads modules', async () => {
    const { runtime, watch, pass, reports } = watched(1)
    let end = () => {}
    const loaded = whileLoading(() => new Promise<void>((resolve) => (end = resolve)))
    runtime.waits.block(0, false)
    watch.arm()
    for (let n = 0; n < 1000; n++) pass()
    expect(reports).toEqual([])
    end()
    await loaded
    for (let n = 0; n < 1000; n++) pass()
    expect(reports).toEqual(['ERR_DEADLOCK'])
  })

  it('a rank that continues between two queries begins the count anew', async () => {
    const { runtime, pass, isStuck } = watched(2)
    runtime.waits.block(0, false)
    for (let n = 0; n < 400; n++) {
      if (n % 100 === 99) {
        runtime.waits.unblock(0, false)
        runtime.waits.block(0, false)
      }
      expect(await isStuck(), `${n}`).toBe(false)
      pass()
    }
    for (let n = 0; n < 118; n++) {
      expect(await isStuck()).toBe(false)
      pass()
    }
    expect(await isStuck()).toBe(true)
  })

  it('a rank that continues between two checks, without a frame, begins the count anew', () => {
    const { runtime, watch, pass, reports } = watched(1)
    runtime.waits.block(0, false)
    watch.arm()
    for (let n = 0; n < 1000; n++) {
      if (n % 50 === 49) {
        runtime.waits.unblock(0, false)
        runtime.waits.block(0, false)
      }
      pass()
    }
    expect(reports).toEqual([])
    for (let n = 0; n < 1000 && reports.length === 0; n++) pass()
    expect(reports).toEqual(['ERR_DEADLOCK'])
  })
})
