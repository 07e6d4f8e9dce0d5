import { expect, it, vi } from 'vitest'
import { realClock } from '../../../src/base/clock.js'
import type { CommRuntime } from '../../../src/comm/comm-state.js'
import type { FabricSession } from '../../../src/fabric/fabric.js'
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
  const runtime = { waits: { awake: 0, waits: 1, withSignal: 0 }, processCounters } as unknown as CommRuntime
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
