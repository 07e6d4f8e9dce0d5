/**
 * A loop in parallel: the Mandelbrot set by a thread for each core, compared with the plain loop.
 *
 *   npx tsx examples/mandelbrot.ts
 *   rankweave run examples/mandelbrot.ts -n 2 --fabric threads --processes 2
 *
 * The first command starts a thread for each core itself. Both check the picture, time both loops 9 times in turn, and end
 * with the speedup. With `-- 0` the second computes the picture once, and times nothing.
 */
import { availableParallelism, loadavg } from 'node:os'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import type { Communicator } from 'rankweave'

/** Any number of ranks works; these are tested. */
export const rankCounts = [1, 2, 5]

const width = 800
const height = 600
const mostSteps = 400

/** The default export runs on every rank; rank 0 prints the times of both loops. */
export default async function main(world: Communicator, [turns = '9', ...others]: readonly string[] = []) {
  if (others.length > 0 || !['0', '9'].includes(turns))
    throw new Error(`expected 9 or 0, how often both loops are timed, got ${[turns, ...others].join(' ')}`)
  const result = await computed(world, Number(turns))
  if (result?.times === undefined) return result
  console.log(reportOf(world.size, result.pointsDiffering, result.times))
  if (result.pointsDiffering > 0) throw new Error(`${result.pointsDiffering} points differ`)
  return null
}

/** Computes the picture, then times both loops in turn, so often. */
export async function computed(world: Communicator, most: number): Promise<Result | null> {
  const picture = await rowsOfAll(world)
  const turns: Turn[] = []
  while (turns.length < most) {
    const begin = performance.now()
    if (world.rank === 0) rowsFrom(0, 1)
    const plainMs = performance.now() - begin
    await world.barrier() // The other ranks wait for the plain loop.
    const middle = performance.now()
    await world.barrier() // No rank computes before the clock runs.
    await rowsOfAll(world)
    turns.push({ plainMs, parallelMs: performance.now() - middle })
  }
  if (picture === null) return null
  const plain = rowsFrom(0, 1)
  const pointsDiffering = plain.filter((steps, pixel) => steps !== picture[pixel]).length
  const pointsInside = plain.filter((steps) => steps === mostSteps).length
  return { pointsInside, pointsDiffering, ...(turns.length === 0 ? {} : { times: timesOf(turns) }) }
}

/** The parallel loop: all ranks compute their rows, and rank 0 receives the picture. */
export async function rowsOfAll(world: Communicator): Promise<Uint16Array | null> {
  const gathered = await world.gatherv(rowsFrom(world.rank, world.size))
  if (gathered === null) return null
  const { data, counts, displs } = gathered
  return pictureOf(Array.from(counts, (count, rank) => data.subarray(displs[rank], displs[rank] + count)))
}

/** Assembles the picture from the rows of every rank. */
export function pictureOf(shares: readonly Uint16Array[]): Uint16Array {
  const picture = new Uint16Array(width * height)
  for (const [first, share] of shares.entries())
    for (let i = 0, row = first; row < height; i++, row += shares.length)
      picture.set(share.subarray(i * width, (i + 1) * width), row * width)
  return picture
}

/** The plain loop is `rowsFrom(0, 1)`. A rank takes every size-th row, because rows in the middle take longer. */
export function rowsFrom(first: number, stride: number): Uint16Array {
  const picture = new Uint16Array(Math.ceil((height - first) / stride) * width)
  let pixel = 0
  for (let row = first; row < height; row += stride) {
    const b = (2.4 * row) / height - 1.2
    for (let column = 0; column < width; column++) {
      const a = (3 * column) / width - 2.2
      let steps = 0
      for (let x = 0, y = 0; steps < mostSteps && x * x + y * y < 4; steps++) {
        const next = x * x - y * y + a
        y = 2 * x * y + b
        x = next
      }
      picture[pixel++] = steps
    }
  }
  return picture
}

/** Rank 0 returns how many points never leave the circle, and how many differ from the plain loop's. */
interface Result {
  readonly pointsInside: number
  readonly pointsDiffering: number
  readonly times?: Times
}

/** The milliseconds of both loops, one after the other, so that both share the load of other programs. */
interface Turn {
  readonly plainMs: number
  readonly parallelMs: number
}

/** Medians of the turns, and of their speedups, plainMs / parallelMs: above 1 the ranks are faster. */
interface Times {
  readonly turns: number
  readonly plainMs: number
  readonly parallelMs: number
  readonly speedup: number
  /** The 95% interval of the speedup. */
  readonly interval: readonly [low: number, high: number]
}

/** The second least and the second greatest speedup of nine turns are a 95% interval of the median. */
export function timesOf(turns: readonly Turn[]): Times {
  const ascending = (values: readonly number[]) => values.toSorted((a, b) => a - b)
  const medianOf = (values: readonly number[]) => ascending(values)[values.length >> 1]
  const speedups = turns.map(({ plainMs, parallelMs }) => Number((plainMs / parallelMs).toFixed(2)))
  return {
    turns: turns.length,
    plainMs: Math.round(medianOf(turns.map(({ plainMs }) => plainMs))),
    parallelMs: Math.round(medianOf(turns.map(({ parallelMs }) => parallelMs))),
    speedup: medianOf(speedups),
    interval: [ascending(speedups).at(1)!, ascending(speedups).at(-2)!],
  }
}

export function reportOf(ranks: number, differing: number, times: Times): string {
  const [speedup, low, high] = [times.speedup, ...times.interval].map((each) => each.toFixed(2))
  const seen =
    times.interval[0] > 1 || times.interval[1] < 1
      ? `${ranks} ranks were ${speedup} times as fast as the plain loop (95% interval ${low} to ${high}).`
      : `no difference in time was seen between ${ranks} ranks and the plain loop (95% interval ${low} to ${high}).`
  // The load of the last minute has this program's threads, too.
  const [load] = loadavg()
  const isBusy = load > availableParallelism() + 1
  return [
    `Mandelbrot set, ${width} x ${height} points, at most ${mostSteps} steps each, by ${ranks} ranks`,
    '',
    `  check       ${differing === 0 ? 'passed, all points equal' : `FAILED, ${differing} points differ`}`,
    `  plain loop  ${times.plainMs} ms, median of 9 turns`,
    `  ${`${ranks} ranks`.padEnd(10)}  ${times.parallelMs} ms, median of 9 turns`,
    `  load        ${load.toFixed(1)} on ${availableParallelism()} cores${isBusy ? ', so other programs keep them busy; an idle machine shows more' : ''}`,
    '',
    `In this run ${seen}`,
  ].join('\n')
}

if (isMainThread && argv[1] === fileURLToPath(import.meta.url)) {
  // The program that starts the threads needs this, the threads do not.
  const { run } = await import('rankweave')
  const ranks = Math.max(2, availableParallelism())
  await run(new URL(import.meta.url), { ranks, processes: ranks, fabric: 'threads' })
  console.log()
}
