import { type Fabric, type FabricSession, maxHeaderWords } from '../fabric/fabric.js'
import { equalWords, expect, expectBytes, expectRefused, patternBytes } from './frame-checks.js'
import { type ExpectedFabric, misplaced, placeHere } from './process-identity.js'
import { TestPeer } from './test-peer.js'

/** The part of one process in a case. It knows what every process sends, and hence what it must receive. */
export interface ProcessCase {
  readonly name: string
  program(fabric: Fabric, session: FabricSession, context: FabricContext): Promise<void>
}

/** The facts that all processes of a case know. */
export interface FabricContext {
  readonly expected: ExpectedFabric
  readonly seed: number
  readonly rounds: number
  /** The size of the largest transfer. */
  readonly largeBytes: number
}

const framesPerPair = 100

export const processCases: readonly ProcessCase[] = [
  {
    name: 'the session has the expected processes, which run in the expected threads and OS processes',
    async program(fabric, session, { expected }) {
      const me = new TestPeer(fabric, session)
      expect(fabric.kind === expected.kind, `kind ${expected.kind}`, fabric.kind)
      expect(fabric.processes === expected.processes, `${expected.processes} processes`, fabric.processes)
      const here = Int32Array.of(fabric.process, ...placeHere())
      for (let peer = 0; peer < fabric.processes; peer++) fabric.send(peer, here)
      await me.until(() => me.received.length >= fabric.processes, 'the places of all')
      const places: (readonly number[])[] = []
      for (const { src, header } of me.received) {
        expect(header[0] === src, `process ${src}`, header[0])
        places[src] = header.slice(1)
      }
      const wrong = misplaced(places, expected.places)
      if (wrong !== undefined) throw new Error(wrong)
      await me.part()
    },
  },
  {
    name: 'frames of a pair arrive in order, each exactly once, also from a process to itself',
    async program(fabric, session) {
      const me = new TestPeer(fabric, session)
      for (let n = 0; n < framesPerPair; n++) {
        for (let peer = 0; peer < fabric.processes; peer++) {
          me.fabric.send(
            peer,
            Int32Array.of(fabric.process, peer, n),
            patternBytes(fabric.process, peer, n, n % 40),
          )
        }
      }
      await me.until(() => me.received.length >= framesPerPair * fabric.processes, 'all frames')
      await me.part()
      expect(
        me.received.length === framesPerPair * fabric.processes,
        'each frame once',
        `${me.received.length} frames`,
      )
      const next = new Array<number>(fabric.processes).fill(0)
      for (const { src, header, payload } of me.received) {
        const n = next[src]++
        expect(equalWords(header, [src, fabric.process, n]), `frame ${n} of process ${src}`, header)
        expectBytes(payload, patternBytes(src, fabric.process, n, n % 40))
      }
    },
  },
  {
    name: 'the sender may overwrite header and payload as soon as send returns',
    async program(fabric, session) {
      const me = new TestPeer(fabric, session)
      const header = new Int32Array(3)
      const payload = new Uint8Array(33)
      for (let n = 0; n < framesPerPair; n++) {
        for (let peer = 0; peer < fabric.processes; peer++) {
          header.set([fabric.process, peer, n])
          payload.set(patternBytes(fabric.process, peer, n, 33))
          fabric.send(peer, header, payload)
          header.fill(-1)
          payload.fill(0xff)
        }
      }
      await me.until(() => me.received.length >= framesPerPair * fabric.processes, 'all frames')
      for (const {
        src,
        header: [from, to, n],
        payload: got,
      } of me.received) {
        expect(from === src && to === fabric.process, `a frame of ${src} to ${fabric.process}`, [from, to])
        expectBytes(got, patternBytes(src, fabric.process, n, 33))
      }
      await me.part()
    },
  },
  {
    name: 'headers of every length and payloads from nothing to the largest arrive complete',
    async program(fabric, session) {
      const me = new TestPeer(fabric, session)
      const max = fabric.maxPayloadBytes
      const sizes = [0, 1, 2, 3, 4, 5, 7, 8, 9, 1000, max - 1, max]
      const headers = Array.from({ length: maxHeaderWords + 1 }, (_, words) =>
        Int32Array.from({ length: words }, (_, word) =>
          word % 2 === 0 ? -(2 ** 31) + word : 2 ** 31 - 1 - word,
        ),
      )
      for (let peer = 0; peer < fabric.processes; peer++) {
        for (const header of headers) fabric.send(peer, header)
        for (const [n, size] of sizes.entries()) {
          // The payload is a view somewhere inside a larger buffer, unaligned.
          const within = new Uint8Array(size + 6)
          within.set(patternBytes(fabric.process, peer, n, size), 3)
          fabric.send(peer, Int32Array.of(n), within.subarray(3, 3 + size))
        }
      }
      const perPeer = headers.length + sizes.length
      await me.until(() => me.received.length >= perPeer * fabric.processes, 'all frames')
      for (let src = 0; src < fabric.processes; src++) {
        const frames = me.received.filter((frame) => frame.src === src)
        expect(frames.length === perPeer, `${perPeer} frames of process ${src}`, frames.length)
        headers.forEach((header, n) => {
          expect(equalWords(frames[n].header, header), `header ${header}`, frames[n].header)
          expect(frames[n].payload.byteLength === 0, 'no payload', frames[n].payload.byteLength)
        })
        sizes.forEach((size, n) => {
          expectBytes(frames[headers.length + n].payload, patternBytes(src, fabric.process, n, size))
        })
      }
      await me.part()
    },
  },
  {
    name: 'send rejects oversized frames and unknown peers, counting and delivering nothing',
    async program(fabric, session) {
      const me = new TestPeer(fabric, session)
      const header = Int32Array.of(1)
      const before = { ...fabric.counters }
      expectRefused(() => fabric.send(0, new Int32Array(maxHeaderWords + 1)), 'a header too long')
      const oversized = new Uint8Array(fabric.maxPayloadBytes + 1)
      expectRefused(() => fabric.send(0, header, oversized), 'a payload too long')
      for (const peer of [-1, fabric.processes, 0.5, Number.NaN]) {
        expectRefused(() => fabric.send(peer, header), `process ${peer}`)
      }
      expect(fabric.counters.framesSent === before.framesSent, 'no frame counted', fabric.counters.framesSent)
      expect(fabric.counters.bytesSent === before.bytesSent, 'no byte counted', fabric.counters.bytesSent)
      await me.part()
      expect(me.received.length === 0, 'no frame', me.received.length)
    },
  },
  {
    name: 'a sink is never called from inside send, and never re-entered',
    async program(fabric, session) {
      const hops = 50
      let inside = 0
      let deepest = 0
      const me = new TestPeer(fabric, session, (_src, header) => {
        inside++
        deepest = Math.max(deepest, inside)
        const hop = header[0]
        if (hop < hops) {
          fabric.send(fabric.process, Int32Array.of(hop + 1))
          fabric.send((fabric.process + 1) % fabric.processes, Int32Array.of(hops))
          fabric.poll()
        }
        inside--
      })
      let sending = true
      const counted = me.received.length
      fabric.send(fabric.process, Int32Array.of(0))
      expect(me.received.length === counted, 'no delivery inside send', 'one')
      sending = false
      await me.until(() => me.received.length >= 2 * hops + 1, 'all frames')
      expect(!sending && deepest === 1, 'one frame at a time', deepest)
      await me.part()
    },
  },
  {
    name: 'poll delivers what has arrived and returns whether it delivered anything',
    async program(fabric, session) {
      const me = new TestPeer(fabric, session)
      const next = (fabric.process + 1) % fabric.processes
      for (let n = 0; n < 10; n++) fabric.send(next, Int32Array.of(n))
      await me.until(() => {
        const before = me.delivered
        const given = fabric.poll()
        const delivered = me.delivered - before
        expect(given === delivered > 0, `poll to return ${delivered > 0}`, given)
        return me.received.length >= 10
      }, 'all frames')
      await me.part()
      expect(!fabric.poll(), 'nothing left to poll', 'something')
      expect(me.received.length === 10, '10 frames', me.received.length)
      me.received.forEach(({ header }, n) => {
        expect(header[0] === n, `frame ${n}`, header[0])
      })
    },
  },
  {
    name: 'a frame forwarded from inside the sink travels around the ring',
    async program(fabric, session) {
      const rounds = 20
      const last = rounds * fabric.processes
      const next = (fabric.process + 1) % fabric.processes
      const me = new TestPeer(fabric, session, (_src, header, payload) => {
        // This forwards the memory that was lent.
        if (header[0] < last) fabric.send(next, Int32Array.of(header[0] + 1), payload)
      })
      if (fabric.process === 0) fabric.send(next, Int32Array.of(1), patternBytes(0, 0, 0, 100))
      await me.until(() => me.received.length >= rounds, 'the token')
      for (const { payload } of me.received) expectBytes(payload, patternBytes(0, 0, 0, 100))
      await me.part()
      expect(me.received.length === rounds, `the token ${rounds} times`, me.received.length)
    },
  },
  {
    name: 'counters include headers and frames to the process itself',
    async program(fabric, session) {
      const me = new TestPeer(fabric, session)
      const before = { ...fabric.counters }
      expect(
        before.framesSent === 0 && before.bytesReceived === 0,
        'counters that start at 0',
        before.framesSent,
      )
      for (let peer = 0; peer < fabric.processes; peer++) {
        fabric.send(peer, new Int32Array(4), new Uint8Array(10))
        fabric.send(peer, new Int32Array(2))
      }
      const { framesSent, bytesSent } = fabric.counters
      expect(framesSent === 2 * fabric.processes, `${2 * fabric.processes} frames sent`, framesSent)
      expect(bytesSent === 34 * fabric.processes, `${34 * fabric.processes} bytes sent`, bytesSent)
      await me.until(() => me.received.length >= 2 * fabric.processes, 'all frames')
      const { framesReceived, bytesReceived } = me.countersOfCase()
      expect(framesReceived === 2 * fabric.processes, `${2 * fabric.processes} received`, framesReceived)
      expect(
        bytesReceived === 34 * fabric.processes,
        `${34 * fabric.processes} bytes received`,
        bytesReceived,
      )
      await me.part()
    },
  },
]
