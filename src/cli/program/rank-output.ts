import { AsyncLocalStorage } from 'node:async_hooks'
import { StringDecoder } from 'node:string_decoder'
import type { Communicator } from '../../comm/communicator.js'
import { algorithmReport } from './algorithm-report.js'

/** How a program's writes to standard output and error reach the terminal while its ranks run. */
export interface RankOutput {
  /** Runs a rank's main; output of it and of everything it awaits is attributed to that rank. */
  asRank<T>(rank: number, main: () => T): T
  /** Writes unfinished lines and restores the streams. */
  restore(): void
}

type Write = typeof process.stdout.write

/**
 * Ranks share one event loop and one standard output; the asynchronous context identifies the writing rank.
 * With `tag`, lines are held until complete and start with `[rank] `.
 */
export function captureRankOutput({ tag }: { readonly tag: boolean }): RankOutput {
  if (!tag) return { asRank: (_, main) => main(), restore: () => {} }
  const current = new AsyncLocalStorage<number>()
  const restores = [process.stdout, process.stderr].map((stream) => {
    const own = Object.getOwnPropertyDescriptor(stream, 'write')
    const target = stream.write.bind(stream) as (...args: unknown[]) => boolean
    const tagger = new LineTagger(target)
    stream.write = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
      const rank = current.getStore()
      if (rank === undefined) return target(chunk, ...rest)
      tagger.write(rank, chunk)
      const done = rest.find((argument) => typeof argument === 'function') as (() => void) | undefined
      if (done !== undefined) process.nextTick(done)
      return true
    }) as Write
    return () => {
      tagger.flush()
      if (own === undefined) Reflect.deleteProperty(stream, 'write')
      else Object.defineProperty(stream, 'write', own)
    }
  })
  return {
    asRank: (rank, main) => current.run(rank, main),
    restore: () => {
      for (const restore of restores) restore()
    },
  }
}

/** Collects each rank's text into lines, so that lines of different ranks never mix. */
class LineTagger {
  readonly #write: (text: string) => unknown
  /** Bytes of a rank that may end within a character, and text that may end within a line. */
  readonly #unfinished = new Map<number, { readonly decoder: StringDecoder; text: string }>()

  constructor(write: (text: string) => unknown) {
    this.#write = write
  }

  write(rank: number, chunk: string | Uint8Array): void {
    const rest = this.#unfinished.get(rank) ?? { decoder: new StringDecoder('utf8'), text: '' }
    this.#unfinished.set(rank, rest)
    const text = typeof chunk === 'string' ? chunk : rest.decoder.write(Buffer.from(chunk))
    const lines = (rest.text + text).split('\n')
    rest.text = lines.pop()!
    if (lines.length > 0) this.#write(lines.map((line) => `[${rank}] ${line}\n`).join(''))
  }

  flush(): void {
    for (const [rank, { decoder, text }] of this.#unfinished) {
      const last = text + decoder.end()
      if (last !== '') this.#write(`[${rank}] ${last}\n`)
    }
    this.#unfinished.clear()
  }
}

/** Runs rank 0's part of a program, then writes which algorithms its collectives used to standard error. */
export async function thenReport<A>(
  main: (world: Communicator, args: A) => unknown,
  world: Communicator,
  args: A,
): Promise<unknown> {
  const result = await main(world, args)
  process.stderr.write(`${algorithmReport(world)}\n`)
  return result
}
