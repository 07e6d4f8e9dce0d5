import { expect, it } from 'vitest'
import { connectThreads, resolveThreads } from '../../../../src/fabric/threads/threads-connect.js'
import { ThreadsInbox } from '../../../../src/fabric/threads/threads-inbox.js'
import { ThreadsOutbox } from '../../../../src/fabric/threads/threads-outbox.js'
import { recordKind } from '../../../../src/fabric/threads/threads-ring.js'

it('a writer that waits for space is woken before a batch is read to its end', () => {
  const connections = connectThreads(resolveThreads({ processes: 2, ringBytes: 4096 }))
  const outbox = new ThreadsOutbox(connections[0], new Int32Array(connections[0].states))
  const events: string[] = []
  const counters = { framesSent: 0, bytesSent: 0, framesReceived: 0, bytesReceived: 0 }
  const inbox = new ThreadsInbox(connections[1], {
    counters,
    control: () => {},
    wake: (peer) => events.push(`wake ${peer}`),
  })
  inbox.sink = { frame: () => events.push('frame'), peerLost: () => {} }
  const payload = new Uint8Array(500)
  while (outbox.write(1, recordKind.frame, Int32Array.of(1), payload, 0, payload.length));
  outbox.requestSpace(1)
  inbox.receive()
  const woken = events.indexOf('wake 0')
  expect(woken).toBeGreaterThan(0)
  expect(woken).toBeLessThan(events.lastIndexOf('frame'))
  for (const { ports } of connections) for (const port of ports) port?.close()
})
