import type { Bench } from './bench.js'
import type { BuiltPrograms } from './build-programs.js'
import type { Case, Suite } from './comparison.js'
import { measureSuites } from './measure-suites.js'

/** A parallel loop of ranks compared with the plain loop, and with a pool of workers, in turns. */
export const peersBench: Bench = {
  name: 'peers',
  question: 'How fast is a loop on two threads, compared with the plain loop and with piscina?',
  measure: (options = {}) => measureSuites([null], (built) => [mandelbrot(built)], [], options),
}

const loops = 9

function mandelbrot(built: BuiltPrograms): Suite {
  const against = (baseline: 'plain' | 'piscina'): Case => ({
    case: `Mandelbrot loop, 2 threads, vs ${baseline === 'plain' ? 'the plain loop' : 'piscina'}`,
    unit: 'ms',
    ...{ ours: 'ours', key: 'loopMs', baselines: [baseline], isPaired: true },
  })
  return {
    name: 'mandelbrot',
    implementations: [
      built.onThreads('ours', { program: 'mandelbrot', ranks: 2, args: { loops } }, 120),
      built.withoutRanks('plain', ['plain', String(loops)], 120),
      built.withoutRanks('piscina', ['piscina', String(loops)], 120),
    ],
    cases: [against('plain'), against('piscina')],
  }
}
