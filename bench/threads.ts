import { writeFileSync } from 'node:fs'
import type { Bench, Figure } from './bench.js'
import { plotSizes } from './threads-plot.js'
import { Workshop } from './threads-sides.js'
import { compete, figureOf } from './threads-suite.js'
import { messageSizes, threadsSuites } from './threads-suites.js'

const fullRuns = 9
const quickRuns = 3

/** Ranks on worker threads next to C on Open MPI, in turn, on the same machine. */
export const threadsBench: Bench = {
  name: 'threads',
  question: 'How do ranks on threads compare with C on Open MPI?',
  async *measure({ quick = false, only, sizes, plot } = {}) {
    const shop = new Workshop()
    const figures: Figure[] = []
    try {
      const { peer } = shop
      const said = 'missing' in peer ? `no peer: ${peer.missing}` : peer.version
      const runs = quick ? quickRuns : fullRuns
      console.error(`${said}; ${runs} runs in turn${quick ? ' (quick: figures are rough)' : ''}`)
      const suites = threadsSuites(
        shop,
        quick,
        sizes === undefined ? messageSizes(quick) : wholeSizes(sizes),
      ).filter(({ name }) => only === undefined || name.startsWith(only))
      for (const suite of suites) {
        const tallies = await compete(suite, suite.runs ?? runs)
        for (const entry of suite.cases) {
          const figure = {
            ...figureOf(entry, tallies),
            peerVersion: 'missing' in peer ? null : peer.version,
            quick,
          }
          figures.push(figure)
          yield figure
        }
      }
    } finally {
      shop.close()
    }
    if (plot !== undefined) writeFileSync(plot, plotSizes(figures))
  },
}

function wholeSizes(text: string): number[] {
  const sizes = text.split(',').map(Number)
  for (const size of sizes) {
    if (!Number.isInteger(size) || size < 1) throw new Error(`--sizes: expected bytes from 1, got '${text}'`)
  }
  return sizes
}
