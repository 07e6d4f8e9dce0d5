import { writeFileSync } from 'node:fs'
import { z } from 'zod'
import { RankweaveError, shown } from '../../errors.js'
import { sorterCounts } from '../bench/paper-table.js'
import { compileSplitPeer } from '../bench/split-peer.js'
import { splitPlot } from '../bench/split-plot.js'
import { measureTable } from '../bench/split-table.js'
import { splitText } from '../bench/split-text.js'
import { type AddCommand, exitCodes } from '../command.js'
import { parseOptions, whole, wholeList } from '../input/options.js'
import type { Reporter } from '../output/reporter.js'

const help = `
Table 2.1 of Sack 2011 by the paper's own method: the sorters run one after another, a phase takes as long as its slowest
sorter, data moves in memory. Beside it a conventional split and one that merges at every stage, ours and in C++, which is
compiled here; without a compiler (c++, or CXX) those figures are missing. 128M entries take 8 GB and minutes.

Examples:
  rankweave bench split --entries 8                            8M entries, 2 to 64 sorters
  rankweave bench split --plot split.svg --json > split.json   all of the table, 8M to 128M entries
  rankweave bench split --entries 1 --sorters 4,64 --runs 1    a first look`

const schema = z.object({
  entries: wholeList(1, 128),
  sorters: wholeList(2, 64),
  runs: whole(1, 99),
  alpha: whole(0, 1_000_000),
  plot: z.string().optional(),
})

/** `rankweave bench split`: what splitting very many entries costs, beside the paper and C++. */
export const benchCommand: AddCommand = (program, act) => {
  program
    .command('bench')
    .description('Measure this machine: what a split by parallel sort costs, beside the paper and C++.')
    .argument('<what>', 'split')
    .option('--entries <list>', 'millions (2^20) of entries', '8,16,32,64,128')
    .option('--sorters <list>', 'numbers of sorters, powers of two', sorterCounts.join(','))
    .option('--runs <number>', 'runs, of which the median counts', '5')
    .option('--alpha <nanoseconds>', 'what a message on the critical path is charged with', '1000')
    .option('--plot <file>', 'totals as an SVG image')
    .option('--json', 'one JSON object on standard output', false)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, what: string, raw: unknown) => {
        if (what !== 'split') {
          throw new RankweaveError('ERR_USAGE', `bench: expected split, got ${shown(what)}`)
        }
        const { entries, sorters, runs, alpha, plot } = parseOptions(schema, raw)
        const odd = sorters.find((count) => !(sorterCounts as readonly number[]).includes(count))
        if (odd !== undefined) {
          const said = `--sorters: expected powers of two from 2 to 64, got ${odd}`
          throw new RankweaveError('ERR_USAGE', said)
        }
        // A file that cannot be written is found out now, not after minutes.
        if (plot !== undefined) writePlot(plot, '', 'a')
        const peer = compileSplitPeer()
        try {
          const options = { millions: entries, sorters, runs, alpha: alpha / 1e9 }
          const table = measureTable(options, peer, report.note)
          if (plot !== undefined) writePlot(plot, splitPlot(table.rows))
          report.result(table, splitText(table))
          return exitCodes.ok
        } finally {
          peer.close()
        }
      }),
    )
}

function writePlot(path: string, svg: string, flag: 'w' | 'a' = 'w'): void {
  try {
    writeFileSync(path, svg, { flag })
  } catch (cause) {
    throw new RankweaveError('ERR_FILE', `--plot ${path}: cannot be written: ${shown(cause)}`, { cause })
  }
}
