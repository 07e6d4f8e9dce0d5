import { closeSync, openSync, writeFileSync } from 'node:fs'
import { option, readOptions, required, whole, wholeList } from '../../src/cli/input/options.js'
import { RankweaveError } from '../../src/errors.js'
import { sorterCounts } from './paper-table.js'
import { compileSplitBaseline } from './split-baseline.js'
import { splitPlot } from './split-plot.js'
import { measureTable, type SplitTable } from './split-table.js'

/** The words of the command line that shape the table. */
export const tableDefaults = {
  entries: '8,16,32,64,128',
  sorters: sorterCounts.join(','),
  runs: '5',
  alpha: '1000',
}

const optionTable = {
  entries: required('--entries <list>', 'millions (2^20) of entries', wholeList(1, 128)),
  sorters: required('--sorters <list>', 'processes that sort', wholeList(2, 64)),
  runs: required('--runs <number>', 'runs of every row', whole(1, 99)),
  alpha: required(
    '--alpha <number>',
    'nanoseconds charged per message on the critical path',
    whole(0, 1_000_000),
  ),
  plot: option('--plot <file>', 'the picture to write'),
}

/**
 * Table 2.1 of Sack 2011 by the paper's own method, compared with C++: `npm run bench -- split --table`.
 *
 * @throws ERR_USAGE for numbers out of range; ERR_FILE for a plot that cannot be written
 */
export function measureSplitTable(
  words: Readonly<Record<string, unknown>>,
  onRow: (line: string) => void,
): SplitTable {
  const { entries, sorters, runs, alpha, plot } = readOptions(optionTable, { ...tableDefaults, ...words })
  const odd = sorters.find((count) => !(sorterCounts as readonly number[]).includes(count))
  if (odd !== undefined) {
    throw new RankweaveError('ERR_USAGE', `--sorters: expected powers of two from 2 to 64, got ${odd}`)
  }
  // A plot that cannot be written fails now, not after minutes.
  if (plot !== undefined) requireWritable(plot)
  const baseline = compileSplitBaseline()
  try {
    const table = measureTable({ millions: entries, sorters, runs, alpha: alpha / 1e9 }, baseline, onRow)
    if (plot !== undefined) writeFileSync(plot, splitPlot(table.rows))
    return table
  } finally {
    baseline.close()
  }
}

function requireWritable(path: string): void {
  try {
    closeSync(openSync(path, 'a'))
  } catch (cause) {
    throw new RankweaveError('ERR_FILE', `--plot ${path}: cannot be written: ${(cause as Error).message}`, {
      cause,
    })
  }
}
