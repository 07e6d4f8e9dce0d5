import type { Bench } from './bench.js'
import { measureSuites } from './measure-suites.js'
import type { Line } from './size-plot.js'
import { websocketSuites } from './websocket-suites.js'

const lines: readonly Line[] = [
  { name: 'Rankweave', color: '#c2410c', of: { memory: 'ordinary' }, side: 'ours' },
  { name: 'bare ws', color: '#1d4ed8', of: { memory: 'ordinary' }, side: 'peer' },
]

/**
 * Ranks on processes connected by WebSockets compared with bare WebSockets, alternating on the same machine.
 */
export const websocketBench: Bench = {
  name: 'websocket',
  question: 'How do ranks on websocket compare with bare WebSockets, and how soon is a loss known?',
  measure: (options = {}) =>
    measureSuites([null], (built, _, sizes) => websocketSuites(built, sizes), lines, options),
}
