// programs/pingpong.ts, programs/stream.ts and programs/slow.ts between two processes by bare WebSockets of
// the package `ws`, without this library: pingpong SIZE:ITERATIONS:BATCHES ..., stream
// SIZE:WINDOW:ITERATIONS:BATCHES ... or exchange SIZE:CALLS ... The other process is this file with `serve`.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'
import { expectEqual, longestBatchMs } from './programs/timing.js'

const options = { perMessageDeflate: false, maxPayload: 2 ** 26 } as const
/** As websocket-suites.ts has it: compiled once, with the first size. */
const [firstWarmUpMs, laterWarmUpMs] = [4000, 1000]
let isWarm = false
type Measure = (socket: WebSocket, sizeBytes: number, plan: readonly number[]) => Promise<number>
const measures: Readonly<Record<string, Measure>> = { pingpong, stream, exchange }
const [kind, ...words] = process.argv.slice(2)

if (kind === 'serve') await serve()
else {
  const server = fork(new URL(import.meta.url), ['serve'])
  const [port] = (await once(server, 'message')) as [number]
  const figures: Record<string, number> = {}
  for (const word of words) {
    const [sizeBytes, ...plan] = word.split(':').map(Number)
    const socket = new WebSocket(
      `ws://127.0.0.1:${port}/${kind}/${kind === 'exchange' ? sizeBytes : plan[0]}`,
      options,
    )
    await once(socket, 'open')
    socket.binaryType = 'nodebuffer'
    figures[sizeBytes] = await measures[kind](socket, sizeBytes, plan)
    socket.terminate()
  }
  process.stdout.write(`${JSON.stringify(figures)}\n`)
  server.kill()
}

/** Returns every message, answers a window of them by one byte, or sends as many messages as come. */
async function serve(): Promise<void> {
  const http = createServer().listen(0, '127.0.0.1')
  const server = new WebSocketServer({ ...options, server: http })
  server.on('connection', (socket, { url = '' }) => {
    const [, path, window] = url.split('/')
    let arrived = 0
    const block = path === 'exchange' ? Buffer.alloc(Number(window), 7) : undefined
    if (block !== undefined) socket.send(block)
    socket.on('message', (data: Buffer) => {
      if (block !== undefined) socket.send(block)
      else if (path === 'pingpong') socket.send(data)
      else if (++arrived % Number(window) === 0) socket.send(data.subarray(0, 1))
    })
  })
  await once(http, 'listening')
  process.send!((http.address() as AddressInfo).port)
}

/** Microseconds of half a round trip. */
async function pingpong(
  socket: WebSocket,
  sizeBytes: number,
  [iterations, batches]: readonly number[],
): Promise<number> {
  const out = Buffer.alloc(sizeBytes)
  const roundTrip = async () => {
    const answer = new Promise<Buffer>((resolve) => socket.once('message', resolve))
    socket.send(out)
    return await answer
  }
  for (let n = 0; n < iterations + 3; n++) {
    out.fill(n & 0xff)
    const back = await roundTrip()
    for (const place of [0, sizeBytes >> 1, sizeBytes - 1])
      expectEqual(back[place], n & 0xff, `ping-pong of ${sizeBytes} bytes`)
  }
  return (await timed(roundTrip, iterations, batches)) / 2
}

/** Microseconds per message. */
async function stream(
  socket: WebSocket,
  sizeBytes: number,
  [window, iterations, batches]: readonly number[],
): Promise<number> {
  const out = Buffer.alloc(sizeBytes, 7)
  const oneWindow = async () => {
    const answer = new Promise<Buffer>((resolve) => socket.once('message', resolve))
    for (let w = 0; w < window; w++) socket.send(out)
    expectEqual((await answer)[0], 7, `stream of ${sizeBytes} bytes`)
  }
  for (let n = 0; n < 3; n++) await oneWindow()
  return (await timed(oneWindow, iterations, batches)) / window
}

/**
 * Milliseconds in which each of two processes sends the other a message, the median of all; no process waits
 * to send the next one.
 */
async function exchange(socket: WebSocket, sizeBytes: number, [calls]: readonly number[]): Promise<number> {
  const out = Buffer.alloc(sizeBytes, 7)
  const arrived: Buffer[] = []
  let awaited: ((message: Buffer) => void) | undefined
  socket.on('message', (message: Buffer) => {
    if (awaited === undefined) arrived.push(message)
    else awaited(message)
    awaited = undefined
  })
  const samples: number[] = []
  for (let call = 0; call < calls + 3; call++) {
    const begin = performance.now()
    socket.send(out)
    const message =
      arrived.shift() ??
      (await new Promise<Buffer>((resolve) => {
        awaited = resolve
      }))
    if (call >= 3) samples.push(performance.now() - begin)
    expectEqual(message[sizeBytes - 1], 7, `exchange of ${sizeBytes} bytes`)
  }
  samples.sort((a, b) => a - b)
  return samples[samples.length >> 1]
}

/**
 * Median microseconds of one operation over batches; their times are limited as those of programs/timing.ts:
 * where each core halts between two messages, a message takes several times longer than on a busy machine.
 */
async function timed(
  operation: () => Promise<unknown>,
  iterations: number,
  batches: number,
): Promise<number> {
  let onceMs = Number.POSITIVE_INFINITY
  const until = performance.now() + (isWarm ? laterWarmUpMs : firstWarmUpMs)
  isWarm = true
  do onceMs = Math.min(onceMs, await millisecondsOf(operation, Math.ceil(iterations / 10)))
  while (performance.now() < until)
  const perBatch = Math.max(1, Math.min(iterations, Math.floor(longestBatchMs / onceMs)))
  const samples: number[] = []
  for (let batch = 0; batch < batches; batch++)
    samples.push((await millisecondsOf(operation, perBatch)) * 1000)
  return samples.sort((x, y) => x - y)[batches >> 1]
}

/** Milliseconds of one operation. */
async function millisecondsOf(operation: () => Promise<unknown>, iterations: number): Promise<number> {
  const begin = performance.now()
  for (let n = 0; n < iterations; n++) await operation()
  return (performance.now() - begin) / iterations
}
