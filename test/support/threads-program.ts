import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { type Communicator, RankweaveError } from 'rankweave'

/** What a test wants every rank to do; `process` is where it happens. */
export type Part =
  | {
      readonly kind: 'throw' | 'uncaught' | 'exit' | 'memory' | 'abort' | 'stray' | 'not awaited'
      readonly rank: number
    }
  | { readonly kind: 'wait for the signal'; readonly channel: string }
  | { readonly kind: 'throw while another is stuck'; readonly word: Int32Array }
  | { readonly kind: 'never settles'; readonly rank: number }
  | {
      readonly kind:
        | 'deadlock'
        | 'flag of V8'
        | 'function result'
        | 'linger'
        | 'pids'
        | 'print'
        | 'processors'
        | 'values'
        | 'thread'
    }

/** Fails on purpose in many ways, or returns where it ran. */
export default async function main(world: Communicator, part: Part): Promise<unknown> {
  switch (part.kind) {
    case 'throw':
      if (world.rank === part.rank)
        throw new RankweaveError('ERR_TOPOLOGY', 'on purpose', { details: { rank: part.rank } })
      await world.recv(world.rank, 3)
      return
    case 'abort':
      if (world.rank === part.rank) world.abort(new Error('enough'))
      await world.recv(world.rank, 3)
      return
    case 'throw while another is stuck':
      if (world.rank === 2) {
        Atomics.store(part.word, 0, 1)
        Atomics.wait(part.word, 0, 1)
      }
      while (world.rank === 0 && Atomics.load(part.word, 0) === 0) await new Promise((go) => setImmediate(go))
      if (world.rank === 0) throw new RankweaveError('ERR_TOPOLOGY', 'on purpose', { details: { rank: 0 } })
      await world.recv(world.rank, 3)
      return
    case 'never settles':
      if (world.rank === part.rank) await new Promise(() => {})
      await world.recv(part.rank, 3)
      return
    case 'uncaught':
      await world.barrier()
      if (world.rank === part.rank) {
        setImmediate(() => {
          throw new TypeError('nobody catches this')
        })
      }
      return survive(world, part.rank)
    case 'stray':
      await world.barrier()
      if (world.rank === part.rank) void Promise.reject(new TypeError('nobody awaits this'))
      return survive(world, part.rank)
    case 'not awaited': {
      await world.barrier()
      const request = world.barrierInit()
      for (let i = 0; i < 2 && world.rank === part.rank; i++) void request.start()
      await world.recv(part.rank, 9)
      return
    }
    case 'exit':
      await world.barrier()
      if (world.rank === part.rank) process.exit(7)
      return survive(world, part.rank)
    case 'memory':
      await world.barrier()
      if (world.rank === part.rank) {
        const hoard: unknown[] = []
        for (;;) hoard.push(new Array(1000).fill(hoard.length))
      }
      return survive(world, part.rank)
    case 'deadlock':
      await world.recv((world.rank + 1) % world.size, 5)
      return
    case 'flag of V8':
      setFlagsFromString('--heap-growing-percent=70')
      return
    case 'function result':
      return world.rank === 2 ? () => 2 : world.rank
    case 'linger':
      setInterval(() => {}, 1000)
      return world.rank
    case 'pids':
      console.log(`pid ${process.pid}`)
      // One of them computes without end.
      while (world.rank === 1) Math.sqrt(2)
      await new Promise((resolve) => setTimeout(resolve, 2 ** 31 - 1))
      return
    case 'print':
      console.log(`rank ${world.rank} says so`)
      console.error(`rank ${world.rank} warns`)
      return
    case 'wait for the signal': {
      const channel = new BroadcastChannel(part.channel)
      channel.postMessage(world.rank)
      channel.close()
      await world.recv((world.rank + 1) % world.size, 5)
      return
    }
    case 'values':
      return {
        rank: world.rank,
        map: new Map([[1, Float64Array.of(world.rank)]]),
        none: undefined,
        big: 2n ** 70n,
      }
    case 'processors':
      return /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/thread-self/status', 'utf8'))![1]
    case 'thread':
      return (await import('node:worker_threads')).threadId
  }
}

/**
 * What involves the lost process fails, what does not continues: the others say so on standard output, since
 * `run` rejects in the end. The last rank of a world is never the lost one's neighbor on its process.
 */
async function survive(world: Communicator, lostRank: number): Promise<void> {
  const codes: string[] = []
  const codeOf = (error: unknown) => (error instanceof RankweaveError ? error.code : String(error))
  await world.recv(lostRank, 9).catch((error) => codes.push(codeOf(error)))
  await world.send(Float64Array.of(1), lostRank, 9).catch((error) => codes.push(codeOf(error)))
  // Ranks 0 and 1 live on process 0, which is never the lost one here.
  const got = await world.sendrecv(Float64Array.of(world.rank), 1 - world.rank, 1 - world.rank)
  console.log(`rank ${world.rank}: ${codes.join(' ')}, then ${String((got.data as Float64Array)[0])}`)
}
