import type { Communicator } from 'rankweave'

// The loop of examples/mandelbrot.ts, which `bare-piscina.ts` runs without this library.

const width = 800
const height = 600
const mostSteps = 400

/** A share of the rows: the first, and the distance to the next. */
export interface Rows {
  readonly first: number
  readonly stride: number
}

const all: Rows = { first: 0, stride: 1 }

/** Computes the steps of every point of some rows. */
export function rowsOf({ first, stride }: Rows): Uint16Array {
  const rows = new Uint16Array(Math.ceil((height - first) / stride) * width)
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
      rows[pixel++] = steps
    }
  }
  return rows
}

/** Assembles the picture from the shares of all workers, in their order. */
export function pictureOf(shares: readonly Uint16Array[]): Uint16Array {
  const picture = new Uint16Array(width * height)
  for (const [first, share] of shares.entries())
    for (let i = 0, row = first; row < height; i++, row += shares.length)
      picture.set(share.subarray(i * width, (i + 1) * width), row * width)
  return picture
}

/** Returns the median milliseconds of a loop, after two that are not timed; checks the first picture. */
export async function timedLoops(
  loops: number,
  loop: () => Promise<Uint16Array | null>,
): Promise<{ readonly loopMs: number }> {
  const picture = await loop()
  const expected = rowsOf(all)
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
    const gathered = await world.gatherv(rowsOf({ first: world.rank, stride: world.size }))
    if (gathered === null) return null
    const { data, counts, displs } = gathered
    return pictureOf(Array.from(counts, (count, rank) => data.subarray(displs[rank], displs[rank] + count)))
  })
}
