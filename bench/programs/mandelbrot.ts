import type { Communicator } from 'rankweave'
import { rowsFrom, rowsOfAll } from '../../examples/mandelbrot.js'

// The loop of the example, timed as `bare-piscina.ts` times it without this library.

/** A share of the rows: the first, and the distance to the next. */
export interface Rows {
  readonly first: number
  readonly stride: number
}

/** Computes the steps of every point of some rows. A pool calls it with one argument. */
export function rowsOf({ first, stride }: Rows): Uint16Array {
  return rowsFrom(first, stride)
}

/** Returns the median milliseconds of a loop, after two that are not timed; checks the first picture. */
export async function timedLoops(
  loops: number,
  loop: () => Promise<Uint16Array | null>,
): Promise<{ readonly loopMs: number }> {
  const picture = await loop()
  const expected = rowsFrom(0, 1)
  if (picture?.some((steps, pixel) => steps !== expected[pixel])) throw new Error('a wrong point')
  await loop()
  const ms: number[] = []
  while (ms.length < loops) {
    const begin = performance.now()
    await loop()
    ms.push(performance.now() - begin)
  }
  return { loopMs: ms.sort((a, b) => a - b)[loops >> 1] }
}

/** Every rank computes its rows, and rank 0 gathers the picture. */
export default async function main(world: Communicator, { loops }: { readonly loops: number }) {
  return timedLoops(loops, async () => {
    await world.barrier() // Every rank has finished the loop before, and its check.
    return rowsOfAll(world)
  })
}
