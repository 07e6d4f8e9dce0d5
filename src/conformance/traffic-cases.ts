import { seededRandom } from '../base/random.js'
import { maxHeaderWords } from '../fabric/fabric.js'
import { expect, expectBytes, patternBytes, turns } from './frame-checks.js'
import type { ProcessCase } from './process-cases.js'
import { TestPeer } from './test-peer.js'

/** The cases under load: floods, random traffic, large transfers. */
export const trafficCases: readonly ProcessCase[] = [
  {
    name: 'a flood of frames is neither rejected nor lost',
    async program(fabric, session) {
      const flood = 5000
      const me = new TestPeer(fabric, session)
      const next = (fabric.process + 1) % fabric.processes
      for (let n = 0; n < flood; n++)
        fabric.send(next, Int32Array.of(n), patternBytes(fabric.process, next, n, 8))
      await me.until(() => me.received.length >= flood, 'the flood')
      me.received.forEach(({ header, src, payload }, n) => {
        expect(header[0] === n, `frame ${n}`, header[0])
        expectBytes(payload, patternBytes(src, fabric.process, n, 8))
      })
      await me.part()
    },
  },
  {
    name: 'bulk transfers fill the receive buffer, in both directions at once, whichever side comes first',
    async program(fabric, session) {
      const me = new TestPeer(fabric, session)
      const { bulk } = fabric
      if (bulk !== undefined) {
        const sizes = [0, 1, 4097, 3 * fabric.maxPayloadBytes + 5]
        const transfers: Promise<void>[] = []
        const send = (peer: number) => {
          sizes.forEach((size, id) => {
            const buffer = patternBytes(fabric.process, peer, id, size)
            transfers.push(bulk.send(peer, id, buffer).then(() => void buffer.fill(0xee)))
          })
        }
        const receive = (peer: number) => {
          sizes.forEach((size, id) => {
            const into = new Uint8Array(size)
            const whole = () => expectBytes(into, patternBytes(peer, fabric.process, id, size))
            transfers.push(bulk.receive(peer, id, into).then(whole))
          })
        }
        for (let peer = 0; peer < fabric.processes; peer++) {
          const sendFirst = (fabric.process + peer) % 2 === 0
          if (sendFirst) send(peer)
          else receive(peer)
          await turns(1)
          if (sendFirst) receive(peer)
          else send(peer)
        }
        fabric.ref()
        await Promise.all(transfers)
        fabric.unref()
      }
      await me.part()
    },
  },
  {
    name: 'what a process has written to its staging memory is read in place by the peers that it names a location to',
    async program(fabric, session) {
      const { staging, process, processes } = fabric
      const sizeBytes = 5000
      const me = new TestPeer(fabric, session)
      const memory = staging?.memory() ?? new Uint8Array(0)
      expect(
        staging === undefined || memory === staging.memory(),
        'the same staging memory each time',
        memory,
      )
      const bytes = memory.subarray(memory.length - Math.min(memory.length, sizeBytes))
      bytes.set(patternBytes(process, process, 7, bytes.length))
      for (let peer = 0; peer < processes; peer++) {
        if (peer === process) continue
        const location = bytes.length === 0 ? undefined : staging?.locate(peer, bytes)
        const where = location === undefined ? [] : [location.segment, location.byteOffset]
        fabric.send(peer, Int32Array.of(bytes.length), new Uint8Array(Float64Array.from(where).buffer))
      }
      await me.until(() => me.received.length >= processes - 1, 'a location of every peer')
      for (const { src, header, payload } of me.received) {
        if (payload.length === 0) continue
        const [segment, byteOffset] = new Float64Array(payload.slice().buffer)
        const seen = staging!.reach(src, { segment: segment, byteOffset: byteOffset }, header[0])
        expectBytes(seen, patternBytes(src, src, 7, header[0]))
      }
      await me.part()
    },
  },
  {
    name: 'random traffic in bursts, from inside the sink and between polls arrives in order and complete',
    async program(fabric, session, { seed, rounds }) {
      // The plan is drawn per ordered pair, so every process knows what each sends to each.
      const planOf = (src: number, dst: number) => {
        const random = seededRandom((seed * 64 + src) * 64 + dst)
        const max = fabric.maxPayloadBytes
        return Array.from({ length: 150 * rounds }, () => {
          const kind = Math.floor(random() * 12)
          const size =
            kind === 0 ? max - Math.floor(random() * 9) : kind < 3 ? 5000 * random() : 40 * random()
          return {
            payloadBytes: Math.min(max, Math.floor(size)),
            headerWords: 1 + Math.floor(random() * maxHeaderWords),
          }
        })
      }
      const peers = Array.from({ length: fabric.processes }, (_, peer) => peer)
      const outgoing = peers.map((peer) => planOf(fabric.process, peer))
      const next = peers.map(() => 0)
      const send = (peer: number) => {
        const n = next[peer]
        const frame = outgoing[peer][n]
        if (frame === undefined) return false
        next[peer] = n + 1
        const header = new Int32Array(frame.headerWords).fill(n)
        fabric.send(peer, header, patternBytes(fabric.process, peer, n, frame.payloadBytes))
        return true
      }
      const random = seededRandom(seed + 1000 + fabric.process)
      const me = new TestPeer(fabric, session, (src) => {
        if (random() < 0.3) send(src)
      })
      for (;;) {
        let left = false
        for (const peer of peers) {
          for (let burst = random() * 20; burst > 0; burst--) left = send(peer) || left
          if (random() < 0.3) fabric.poll()
        }
        if (random() < 0.5) await turns(1)
        if (!left) break
      }
      const expected = peers.map((peer) => planOf(peer, fabric.process))
      const total = expected.reduce((sum, frames) => sum + frames.length, 0)
      await me.until(() => me.received.length >= total, 'all frames')
      await me.part()
      expect(me.received.length === total, `${total} frames`, me.received.length)
      const seen = peers.map(() => 0)
      for (const { src, header, payload } of me.received) {
        const n = seen[src]++
        const { headerWords, payloadBytes } = expected[src][n]
        const right = header.length === headerWords && header.every((word) => word === n)
        expect(right, `${headerWords} words of ${n} from process ${src}`, header)
        expectBytes(payload, patternBytes(src, fabric.process, n, payloadBytes))
      }
    },
  },
  {
    name: 'frames overtake a large bulk transfer around the ring',
    async program(fabric, session, { largeBytes }) {
      const me = new TestPeer(fabric, session)
      const { bulk, process, processes } = fabric
      if (bulk !== undefined) {
        const [next, before] = [(process + 1) % processes, (process + processes - 1) % processes]
        const words = largeBytes / 4 + 1
        const outgoing = new Uint32Array(words)
        for (let i = 0; i < words; i++) outgoing[i] = Math.imul(i + 1, 0x9e3779b1) ^ process
        const incoming = new Uint32Array(words)
        const frames = 100
        const transfers = [
          bulk.receive(before, 1, new Uint8Array(incoming.buffer)),
          bulk.send(next, 1, new Uint8Array(outgoing.buffer)),
        ]
        for (let n = 0; n < frames; n++) {
          fabric.send(next, Int32Array.of(n))
          if (n % 10 === 0) await turns(1)
        }
        await me.until(() => me.received.length >= frames, 'frames during a transfer')
        fabric.ref()
        await Promise.all(transfers)
        fabric.unref()
        for (let i = 0; i < words; i++) {
          const element = (Math.imul(i + 1, 0x9e3779b1) ^ before) >>> 0
          if (incoming[i] !== element) expect(false, `element ${i} to be ${element}`, incoming[i])
        }
      }
      await me.part()
    },
  },
]
