// One world on `threads` in a process of its own. Argument: what to run, as JSON. Prints its figures as one JSON object.
import { isRankweaveError, run } from '../src/index.js'

const { program, ranks, processes, args } = JSON.parse(process.argv[2]) as {
  readonly program: string
  readonly ranks: number
  readonly processes: number
  readonly args: unknown
}
const url = new URL(`programs/${program}.js`, import.meta.url)
const options = { ranks, processes, fabric: 'threads' } as const

const figures = program === 'loss' ? await loss() : await world()
process.stdout.write(`${JSON.stringify(figures)}\n`)

async function world(): Promise<object> {
  const rssBefore = process.memoryUsage.rss()
  const begin = performance.now()
  const [first] = await run<object | null, unknown>(url, { ...options, args })
  const seconds = (performance.now() - begin) / 1000
  const peakRss = process.resourceUsage().maxRSS * 1024 - rssBefore
  return { seconds, rssBytesPerRank: peakRss / ranks, ...first }
}

/** Milliseconds from when a worker ended until a rank that waited for it knew, and until the world had ended. */
async function loss(): Promise<object> {
  const clock = new SharedArrayBuffer(16)
  const at = new Float64Array(clock)
  try {
    await run(url, { ...options, args: { clock } })
  } catch (error) {
    if (!isRankweaveError(error) || error.code !== 'ERR_PEER_LOST') throw error
    const endedAt = performance.timeOrigin + performance.now()
    if (at[1] === 0) throw new Error('nobody was told of the loss')
    return { known: at[1] - at[0], ended: endedAt - at[0] }
  }
  throw new Error('expected the world to fail with ERR_PEER_LOST')
}
