import { expect, it } from 'vitest'
import { SilenceMonitor } from '../../../../src/websocket/rendezvous/silence-monitor.js'
import { VirtualClock } from '../../../support/virtual-clock.js'

function monitored() {
  const clock = new VirtualClock()
  const silent: (readonly [string, number])[] = []
  const monitor = new SilenceMonitor<string>({ heartbeatMs: 100, silenceMs: 1_000 }, clock, (peer) =>
    silent.push([peer, clock.now]),
  )
  return { clock, silent, monitor }
}

it.each([0, 1, 50, 99])(
  'silence is noticed after the limit and at most one tick later: heard %i ms after a tick',
  (after) => {
    const { clock, silent, monitor } = monitored()
    monitor.heard('first')
    clock.pass(300 + after)
    monitor.heard('first')
    const heardAt = clock.now
    clock.pass(5_000)
    expect(silent).toHaveLength(1)
    expect(silent[0][1] - heardAt).toBeGreaterThanOrEqual(1_000)
    expect(silent[0][1] - heardAt).toBeLessThanOrEqual(1_100)
  },
)

it('who is heard in time, or forgotten, is not reported, and nothing runs when none is watched', () => {
  const { clock, silent, monitor } = monitored()
  monitor.heard('a')
  monitor.heard('b')
  for (let n = 0; n < 30; n++) {
    clock.pass(500)
    monitor.heard('a')
    if (n === 0) monitor.forget('b')
  }
  expect(silent).toEqual([])
  monitor.forget('a')
  expect(clock.pending).toBe(0)
})

it('an observer that could not run for long blames no peer', () => {
  // The one tick that was due meanwhile comes late, then what peers sent meanwhile.
  const late: (() => void)[] = []
  const silent: string[] = []
  const stopped = {
    later: (_: number, run: () => void) => {
      late.push(run)
      return () => {}
    },
  }
  const monitor = new SilenceMonitor<string>({ heartbeatMs: 100, silenceMs: 300 }, stopped, (peer) =>
    silent.push(peer),
  )
  monitor.heard('peer')
  for (let hours = 0; hours < 3; hours++) {
    late.pop()!()
    monitor.heard('peer')
  }
  expect(silent).toEqual([])
})
