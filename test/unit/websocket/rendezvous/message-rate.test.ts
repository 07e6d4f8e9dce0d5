import { expect, it } from 'vitest'
import { MessageRate } from '../../../../src/websocket/rendezvous/hosted-member.js'
import { VirtualClock } from '../../../support/virtual-clock.js'

it('messages are counted per second', () => {
  const clock = new VirtualClock()
  const rate = new MessageRate(clock)
  const three = () => [rate.exceeds(2), rate.exceeds(2), rate.exceeds(2)]
  expect(three()).toEqual([false, false, true])
  clock.pass(1_000)
  expect(three()).toEqual([false, false, true])
  rate.stop()
  expect(clock.pending).toBe(0)
})
