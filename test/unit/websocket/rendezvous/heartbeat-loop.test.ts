import { describe, expect, it } from 'vitest'
import { heartbeatWorker } from '../../../../src/websocket/rendezvous/heartbeat-worker-nodejs.js'
import { startHeartbeatLoop } from '../../../../src/websocket/rendezvous/heartbeats.js'
import { socketState } from '../../../../src/websocket/socket/socket.js'
import { Network, type PairedSocket } from '../../../support/socket-pair.js'
import { VirtualClock } from '../../../support/virtual-clock.js'

/** A loop and the other ends of the sockets that it dials. */
function started(answers = true) {
  const clock = new VirtualClock()
  const network = new Network()
  const ends: PairedSocket[] = []
  const heard: unknown[] = []
  const silent: string[] = []
  const dial = () => {
    const [client, server] = network.pair()
    ends.push(server)
    network.deliver(client, () => {
      client.readyState = server.readyState = socketState.open
      server.addEventListener('message', ({ data }: { readonly data: unknown }) => {
        heard.push(data)
        if (answers && data !== 'request') server.send('beat')
      })
      client.emit('open')
    })
    return client
  }
  const task = { url: 'memory', request: 'request', heartbeatMs: 100, silenceMs: 1_000 }
  const { stop } = startHeartbeatLoop(task, { dial }, clock, (reason) => silent.push(reason))
  const pass = (durationMs: number) => {
    for (let passed = 0; passed < durationMs; passed += 10) {
      clock.pass(10)
      network.settle()
    }
  }
  network.settle()
  return { clock, ends, heard, silent, stop, pass }
}

describe('heartbeats', () => {
  it('begin with the request, and continue while they are answered', () => {
    const { clock, heard, silent, stop, pass } = started()
    pass(5_000)
    expect(heard.slice(0, 3)).toEqual(['request', '{"kind":"beat"}', '{"kind":"beat"}'])
    expect(heard).toHaveLength(51)
    expect(silent).toEqual([])
    stop()
    pass(5_000)
    expect(heard).toHaveLength(51)
    expect(clock.pending).toBe(0)
  })

  it('that are not answered end after the limit, once', () => {
    const { clock, silent, pass } = started(false)
    pass(990)
    expect(silent).toEqual([])
    pass(2_000)
    expect(silent).toEqual(['the rendezvous has been silent for 1000 ms'])
    expect(clock.pending).toBe(0)
  })

  it('go over a new socket when the old one breaks', () => {
    const { ends, heard, silent, pass } = started()
    pass(500)
    ends[0].terminate()
    pass(5_000)
    expect(ends).toHaveLength(2)
    expect(heard.filter((data) => data === 'request')).toHaveLength(2)
    expect(silent).toEqual([])
  })

  it('end when the rendezvous refuses them, and without a word when it is done', () => {
    const refused = started()
    refused.ends[0].close(4001, 'ERR_TOKEN')
    refused.pass(500)
    expect(refused.silent).toEqual(['the rendezvous refuses heartbeats: ERR_TOKEN'])
    const done = started()
    done.ends[0].close(1000, 'ended')
    done.pass(5_000)
    expect([done.silent, done.clock.pending]).toEqual([[], 0])
  })
})

it('a file for the thread that is not there is ERR_WORKER, before anything is started', () => {
  expect(() => heartbeatWorker({ workerUrl: new URL('./nothing.js', import.meta.url) })).toThrow(
    expect.objectContaining({ code: 'ERR_WORKER' }),
  )
})
