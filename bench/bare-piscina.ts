// The loop of examples/mandelbrot.ts without this library: `plain`, in one thread, or `piscina`, by two workers of that package. The
// second argument is how many loops are timed.
import { pictureOf, rowsFrom } from '../examples/mandelbrot.js'
import { type Rows, timedLoops } from './programs/mandelbrot.js'

/** As far as this program calls it. */
interface Pool {
  run(rows: Rows): Promise<Uint16Array>
  destroy(): Promise<void>
}

const threads = 2
/** Not a literal below: checkouts whose packages are older pass the compiler without it. */
const pools: string = 'piscina'
const [kind, loops] = process.argv.slice(2)
const figures = kind === 'piscina' ? await inPool() : await timedLoops(Number(loops), plain)
process.stdout.write(`${JSON.stringify(figures)}\n`)

async function plain(): Promise<Uint16Array> {
  return rowsFrom(0, 1)
}

async function inPool() {
  const { Piscina } = (await import(pools)) as { readonly Piscina: new (of: object) => Pool }
  const filename = new URL('programs/mandelbrot.js', import.meta.url).href
  const pool = new Piscina({ filename, name: 'rowsOf', minThreads: threads, maxThreads: threads })
  const shares = Array.from({ length: threads }, (_, first) => ({ first, stride: threads }))
  try {
    return await timedLoops(Number(loops), async () =>
      pictureOf(await Promise.all(shares.map((rows) => pool.run(rows)))),
    )
  } finally {
    await pool.destroy()
  }
}
