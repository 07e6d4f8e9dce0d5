// One process of a world. Argument: the program and its world, as JSON. The process that calls `run`, or
// process 0 of an MPI job, prints the figures of rank 0 as one JSON object.
import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isRankweaveError, type Main, mpi, run, threads, websocket } from '../src/entry/index.js'

const { program, ranks, fabric, processes, bindTo, execArgv, args } = JSON.parse(process.argv[2]) as {
  readonly program: string
  readonly ranks: number
  readonly fabric: 'local' | 'threads' | 'websocket' | 'mpi'
  readonly processes: number
  /** On threads. */
  readonly bindTo?: 'core'
  /** Of processes that are connected by WebSockets. */
  readonly execArgv?: readonly string[]
  readonly args: unknown
}
const url = new URL(`programs/${program}.js`, import.meta.url)

if (fabric === 'mpi') await onMpi()
else if (program === 'kill') print(await kills())
else print(program === 'loss' ? await loss() : await inOneProcess())

function print(figures: object): void {
  process.stdout.write(`${JSON.stringify(figures)}\n`)
}

/** Worker threads, processes connected by WebSockets, or logical processes. */
async function inOneProcess(): Promise<object> {
  const rssBefore = process.memoryUsage.rss()
  const begin = performance.now()
  const of = fabricOf()
  const [first] = await run<object | null, unknown>(url, { ranks, processes, fabric: of, args })
  const seconds = (performance.now() - begin) / 1000
  const peakRss = process.resourceUsage().maxRSS * 1024 - rssBefore
  return { seconds, rssBytesPerRank: peakRss / ranks, ...first }
}

function fabricOf() {
  if (execArgv !== undefined) return websocket({ processes, execArgv })
  return bindTo === undefined ? fabric : threads({ processes, bindTo })
}

async function onMpi(): Promise<void> {
  const factory = mpi()
  const session = await factory.open()
  const { default: main } = (await import(url.href)) as { readonly default: Main<object, unknown> }
  const [first] = await run(main, { ranks, fabric: factory, args })
  if (session.job.process === 0) print(first)
  await session.close()
}

/**
 * Milliseconds from the end of a worker until a rank that waited for it was notified, and until the world had
 * ended.
 */
async function loss(): Promise<object> {
  const clock = new SharedArrayBuffer(16)
  const at = new Float64Array(clock)
  try {
    await run(url, { ranks, processes, fabric: 'threads', args: { clock } })
  } catch (error) {
    if (!isRankweaveError(error) || error.code !== 'ERR_PEER_LOST') throw error
    const endedAt = performance.timeOrigin + performance.now()
    if (at[1] === 0) throw new Error('no rank was notified of the loss')
    return { known: at[1] - at[0], ended: endedAt - at[0] }
  }
  throw new Error('expected the world to fail with ERR_PEER_LOST')
}

/**
 * Seconds from when a process was killed until every other one was notified: median and worst of several
 * worlds.
 */
async function kills(): Promise<object> {
  const { worlds } = args as { readonly worlds: number }
  const seconds: number[] = []
  for (let world = 0; world < worlds; world++) {
    const file = `${tmpdir()}/rankweave-kill-${process.pid}-${world}`
    try {
      await run(url, { ranks, processes, fabric, args: { file } })
      throw new Error('expected the world to fail with ERR_PEER_LOST')
    } catch (error) {
      if (!isRankweaveError(error) || error.code !== 'ERR_PEER_LOST') throw error
      seconds.push(lastKnown(readFileSync(file, 'utf8')))
    } finally {
      rmSync(file, { force: true })
    }
  }
  seconds.sort((a, b) => a - b)
  return { median: seconds[worlds >> 1], worst: seconds[worlds - 1] }
}

/** Seconds until the last of all survivors was notified. */
function lastKnown(lines: string): number {
  const events = lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly killed?: number; readonly known?: number })
  const known = events.flatMap((event) => event.known ?? [])
  if (known.length !== ranks - 1) throw new Error(`${known.length} of ${ranks - 1} survivors were notified`)
  return (Math.max(...known) - events.find((event) => event.killed !== undefined)!.killed!) / 1000
}
