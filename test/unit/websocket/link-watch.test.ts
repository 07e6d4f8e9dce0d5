import { describe, expect, it } from 'vitest'
import { LinkWatch, type WatchedConnection } from '../../../src/websocket/link-watch.js'
import { VirtualClock } from '../../support/virtual-clock.js'

class Connection implements WatchedConnection {
  receivedBytes: number | undefined
  takenBytes = 0
  bufferedBytes = 0
  pings = 0

  constructor(receivedBytes: number | undefined) {
    this.receivedBytes = receivedBytes
  }

  ping(): void {
    this.pings++
  }
}

/** A connection of process 7, watched with silence of a second, in heartbeats of 100 ms. */
function watched({ isBrowser } = { isBrowser: false }) {
  const clock = new VirtualClock()
  const told: string[] = []
  const limits = { heartbeatMs: 100, silenceMs: 1_000 }
  const watch = new LinkWatch(limits, clock, {
    probe: (peer) => told.push(`probe ${peer}`),
    silent: (peer) => told.push(`silent ${peer}`),
  })
  const connection = new Connection(isBrowser ? undefined : 0)
  watch.add(7, connection)
  return { clock, told, watch, connection }
}

describe('a connection on which nothing comes', () => {
  it('is silent when its peer has answered on another way, and nothing has come since', () => {
    const { clock, told, watch, connection } = watched()
    clock.pass(1_050)
    expect([told, connection.pings]).toEqual([[], 10])
    clock.pass(100)
    expect(told).toEqual(['probe 7'])
    clock.pass(60_000)
    expect(told).toEqual(['probe 7'])
    watch.present(7)
    clock.pass(100)
    expect(told).toEqual(['probe 7'])
    clock.pass(100)
    expect(told).toEqual(['probe 7', 'silent 7'])
    expect(clock.pending).toBe(0)
  })

  it('is not when a ping has come with the answer, however long the peer computed before', () => {
    const { clock, told, watch, connection } = watched()
    for (let n = 0; n < 3; n++) {
      clock.pass(40_000)
      connection.receivedBytes! += 2
      watch.present(7)
      clock.pass(500)
    }
    expect(told).toEqual(['probe 7', 'probe 7', 'probe 7'])
    watch.forget(7)
    expect(clock.pending).toBe(0)
  })

  it('is not while the network takes bytes that had to wait; bytes that fill the own buffer are no sign', () => {
    const { clock, told, connection } = watched()
    connection.bufferedBytes = 1_000
    for (let n = 0; n < 50; n++) {
      clock.pass(100)
      connection.takenBytes += 10
    }
    expect(told).toEqual([])
    connection.bufferedBytes = 0
    for (let n = 0; n < 15; n++) {
      clock.pass(100)
      connection.takenBytes += 10
    }
    expect(told).toEqual(['probe 7'])
  })

  it('an answer that was not asked for does not shorten the time', () => {
    const { clock, told, watch } = watched()
    watch.present(7)
    watch.present(8)
    clock.pass(1_000)
    expect(told).toEqual([])
  })

  it('a process that asks gets a ping', () => {
    const { watch, connection } = watched()
    watch.probed(7)
    watch.probed(8)
    expect(connection.pings).toBe(1)
    watch.stop()
  })
})

it('in a browser a connection is suspect only while bytes wait that the network does not take', () => {
  const { clock, told, connection } = watched({ isBrowser: true })
  clock.pass(60_000)
  connection.bufferedBytes = 100
  clock.pass(900)
  connection.takenBytes = 10
  clock.pass(1_000)
  expect(told).toEqual([])
  clock.pass(200)
  expect(told).toEqual(['probe 7'])
})
