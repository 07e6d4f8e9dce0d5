import { largestOf } from '../../src/base/search.js'
import { type Cell, numberText, type Section, type Table } from '../../src/document/document.js'
import type { PaperFigures } from './paper-figures.js'
import { entryCosts, type QueueRow } from './queue-speedups.js'

/** The most that chapter 7 prints for combining. */
const printedMost = 8

/** What searches of matching queues explain of the printed speedups: simulated, then the time per entry, measured. */
export function queueSections({ queues, listCosts }: Pick<PaperFigures, 'queues' | 'listCosts'>): Section[] {
  if (queues.length === 0) return []
  const speedups: Table = {
    kind: 'table',
    title: 'Direct sends / combined, blocks of 4 B, with searches',
    origin: 'simulated',
    source: 'time per entry passed in the titles; entries are means of all ranks',
    columns: [
      ...['graph', 'direct: entries', 'at most', 'combined: entries', 'no cost'],
      ...entryCosts.map(({ nsPerEntry }) => `${nsPerEntry} ns`),
    ].map((title) => ({ title })),
    rows: queues.map((row): Cell[] => [
      ...[row.graph, row.directPassed, row.mostPassed, row.combinedPassed, row.speedup],
      ...row.withSearches,
    ]),
  }
  const costs: Table = {
    kind: 'table',
    title: 'Time per entry passed, nanoseconds',
    origin: 'measured',
    source: 'the linked list of the matching designs on the computer that made this study, 7 runs each',
    columns: ['entries', 'median', 'least', 'most'].map((title) => ({ title })),
    rows: listCosts.map(({ entries, medianNs, leastNs, mostNs }): Cell[] => [
      ...[entries, medianNs, leastNs, mostNs],
    ]),
  }
  return [
    {
      title: 'Matching queues: what they explain',
      text: [
        'Here each process has a list of posted receives and one of unexpected messages, as in MPICH and MVAPICH. A search takes a time per entry that it passes. Receives are posted by sender at the start, and messages arrive in the order of the simulation. Of each graph, direct sends and the two fastest combinations are simulated again.',
        'The figures per entry: ' +
          entryCosts.map(({ nsPerEntry, source }) => `${nsPerEntry} ns (${source})`).join(', ') +
          '. "At most" is what direct sends pass where every message arrives in the reverse order of the receives.',
        explained(queues),
      ],
      parts: [speedups],
    },
    {
      title: 'Matching queues: time per entry',
      text: ['Unexpected messages are received in reverse, so that each search passes all that are left.'],
      parts: [costs],
    },
  ]
}

/** How far each figure takes the largest speedup towards the printed one. */
function explained(queues: readonly QueueRow[]): string {
  const without = largestOf(queues.map(({ speedup }) => speedup))
  const parts = entryCosts.map(({ nsPerEntry }, i) => {
    const most = largestOf(queues.map(({ withSearches }) => withSearches[i]))
    const share = Math.round((100 * (most - without)) / (printedMost - without))
    const amount = share >= 100 ? 'all' : `${share}%`
    return `${numberText(most)} with ${nsPerEntry} ns, ${amount} of the difference`
  })
  return `The most that combining gains is ${numberText(without)} without costs of searches; chapter 7 prints up to ${printedMost}. It is ${parts.join('; ')}. At the measured figures queues do not explain the rest.`
}
