// baselines/pingpong.c and baselines/stream.c by MPI calls from JavaScript through koffi, without this
// library: pingpong SIZE:ITERATIONS:BATCHES ... or stream SIZE:WINDOW:ITERATIONS:BATCHES ...
import { mpi } from '../src/entry/index.js'
import { expectEqual } from './programs/timing.js'

const session = await mpi().open()
const { process: rank } = session.job
const { abi, addressOf, calls, func } = session.job.library
const [a, i, h] = ['address', 'int', 'handle'] as const
const send = func('MPI_Send', a, i, h, i, i, h)
const recv = func('MPI_Recv', a, i, h, i, i, h, a)
const waitall = func('MPI_Waitall', i, a, a)
const barrier = func('MPI_Barrier', h)
const { byte, commWorld, statusIgnore } = abi
const peer = 1 - rank

const [kind, ...words] = process.argv.slice(2)
const measure = { pingpong, stream }[kind]!
const figures: Record<string, number> = {}
for (const word of words) {
  const [sizeBytes, ...plan] = word.split(':').map(Number)
  figures[sizeBytes] = measure(sizeBytes, plan)
}
if (rank === 0) process.stdout.write(`${JSON.stringify(figures)}\n`)
await session.close()

/** Microseconds of half a round trip. */
function pingpong(sizeBytes: number, [iterations, batches]: readonly number[]): number {
  const [out, into] = [memory(sizeBytes), memory(sizeBytes)]
  const roundTrip =
    rank === 0
      ? () => {
          send(out.at, sizeBytes, byte, 1, 0, commWorld)
          recv(into.at, sizeBytes, byte, 1, 0, commWorld, statusIgnore)
        }
      : () => {
          recv(into.at, sizeBytes, byte, 0, 0, commWorld, statusIgnore)
          send(out.at, sizeBytes, byte, 0, 0, commWorld)
        }
  for (let n = 0; n < iterations + 3; n++) {
    out.bytes.fill((rank * 100 + n) & 0xff)
    roundTrip()
    for (const place of [0, sizeBytes >> 1, sizeBytes - 1])
      expectEqual(into.bytes[place], (peer * 100 + n) & 0xff, `ping-pong of ${sizeBytes} bytes`)
  }
  return timed(roundTrip, iterations, batches) / 2
}

/** Microseconds per message. */
function stream(sizeBytes: number, [window, iterations, batches]: readonly number[]): number {
  const slots = Array.from({ length: window }, () => memory(sizeBytes))
  const requests = memory(window * 8)
  const answer = memory(8)
  const begin = rank === 0 ? calls.isend : calls.irecv
  const oneWindow = () => {
    for (let w = 0; w < window; w++)
      begin(slots[w].at, sizeBytes, byte, peer, 0, commWorld, requests.at + w * abi.handleBytes)
    waitall(window, requests.at, statusIgnore)
    if (rank === 0) recv(answer.at, 1, byte, 1, 1, commWorld, statusIgnore)
    else send(answer.at, 1, byte, 0, 1, commWorld)
  }
  for (let n = 0; n < 3; n++) {
    for (const [w, { bytes }] of slots.entries()) bytes.fill(rank === 0 ? (w + n + 1) & 0xff : 0)
    oneWindow()
    for (const [w, { bytes }] of slots.entries())
      for (const place of [0, sizeBytes >> 1, sizeBytes - 1])
        expectEqual(bytes[place], (w + n + 1) & 0xff, `stream of ${sizeBytes} bytes`)
  }
  return timed(oneWindow, iterations, batches) / window
}

/** Median microseconds of one operation over batches, as in bench.h, after as many batches of warm-up. */
function timed(operation: () => void, iterations: number, batches: number): number {
  const samples: number[] = []
  for (let batch = -batches; batch < batches; batch++) {
    barrier(commWorld)
    const begin = performance.now()
    for (let n = 0; n < iterations; n++) operation()
    if (batch >= 0) samples.push(((performance.now() - begin) * 1000) / iterations)
  }
  return samples.sort((x, y) => x - y)[batches >> 1]
}

/** Zeroed bytes at a fixed address. */
function memory(sizeBytes: number): { readonly bytes: Uint8Array; readonly at: number } {
  const bytes = new Uint8Array(new ArrayBuffer(Math.max(64, sizeBytes)), 0, sizeBytes)
  return { bytes, at: addressOf(bytes) }
}
