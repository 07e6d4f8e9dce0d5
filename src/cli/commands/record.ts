import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, extname, join, resolve } from 'node:path'
import * as z from 'zod'
import { RankweaveError } from '../../errors.js'
import { graphLines, type RecordedGraph, recordedGraphs } from '../../shim/recorded-graphs.js'
import { shellWord } from '../../text/printable.js'
import { parseOptions, whole } from '../input/options.js'
import { checkOutputs, isStandardOutput, writeOutput } from '../output/output-file.js'
import { counted, type Reporter, table } from '../output/reporter.js'
import type { AddCommand } from './command.js'
import { requireReadable, runWithLibrary, temporaryRecordFolder } from './preloaded-program.js'
import { recordMatching } from './record-matching.js'

const help = `
COMMAND starts an MPI program with mpirun or mpiexec of Open MPI or MPICH, or with srun. The program runs unmodified, with
the library of rankweave shim preloaded, which leaves all calls to MPI and records the graph of every communicator with a
topology. The graph with most calls of neighborhood collectives of any form is written to the output, others to files with a
number in their names (graph-2.txt). Files of these names are replaced. Nothing is written if the program fails.

The library is compiled with the mpicc that belongs to the launcher, in a temporary folder; with srun --mpicc names it where
there are several. Where processes run on other machines, compile it with rankweave shim in a folder that all have, and pass
it with --library; the output must be in one, too.

With --matching each process records its sends, receives and probes, and the output is a folder with a trace per rank
(rank-0.jsonl), for rankweave match. Files of such names in it are replaced. Without COMMAND traces are made of what
processes have recorded in the folder before, for instance with another launcher and RANKWEAVE_SHIM=matching:FOLDER.

Examples:
  rankweave record --matching -o matching -- mpirun -n 4 ./program
  rankweave record -o graph.txt -- mpirun -n 64 ./program
  rankweave study edges:graph.txt --machine cluster:nodes=4,cores=16,profile=simgrid-fast -o study
  rankweave plan edges:graph.txt --strategy auto --machine cluster:nodes=4,cores=16,profile=simgrid-fast --bytes 4 -o plan.jsonl
  rankweave shim -o shim --plan plan.jsonl`

const schema = z.object({
  matching: z.boolean(),
  operations: whole(1, 1e9).optional(),
  output: z
    .string()
    .min(1)
    .refine((file) => !isStandardOutput(file), 'expected a file, got -: a program may have several graphs')
    .optional(),
  mpicc: z.string().min(1).optional(),
  library: z.string().min(1).optional(),
})

export const recordCommand: AddCommand = (command, act) => {
  command
    .argument('[command...]', 'what starts the program, after --')
    .option(
      '-o, --output <file>',
      'the graph with most calls (default: graph.txt), or the folder of --matching (matching)',
    )
    .option('--matching', 'record how messages are matched, for rankweave match FOLDER', false)
    .option('--operations <n>', 'of --matching: operations that a process records at most (default: 1000000)')
    .option('--mpicc <command>', "the compiler of the program's MPI (default: that of the launcher)")
    .option('--library <file>', 'a library that rankweave shim has compiled')
    .option('--json', "one JSON object on standard output; the program's output on standard error", false)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, command: readonly string[], raw: unknown) => {
        const { library, matching, mpicc, operations, output } = parseOptions(schema, raw)
        if (library !== undefined) requireReadable(library)
        if (matching) {
          const folder = output ?? 'matching'
          return await recordMatching(report, { ...{ command, folder, library, mpicc, operations } })
        }
        if (operations !== undefined)
          throw new RankweaveError('ERR_USAGE', '--operations: expected --matching as well')
        if (command.length === 0)
          throw new RankweaveError('ERR_USAGE', 'expected a command that starts the program, after --')
        await recordGraphs(report, command, { library, mpicc, output: output ?? 'graph.txt' })
      }),
    )
}

interface GraphRecording {
  readonly library: string | undefined
  readonly mpicc: string | undefined
  readonly output: string
}

async function recordGraphs(
  report: Reporter,
  command: readonly string[],
  { library, mpicc, output }: GraphRecording,
): Promise<void> {
  await checkOutputs(report, output)
  const folder = temporaryRecordFolder(dirname(resolve(output)))
  try {
    const variables = { RANKWEAVE_SHIM: `record:${join(folder, 'graph')}` }
    await runWithLibrary(report, command, {
      ...{ library, mpicc, folder, variables },
      ifItFails: () => 'so nothing is recorded',
    })
    const graphs = graphsIn(folder)
    const files = graphs.map((_, i) => (i === 0 ? output : numbered(output, i + 1)))
    for (const [i, graph] of graphs.entries()) await writeOutput(report, files[i], piecesOf(graph))
    finish(report, graphs, files)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function graphsIn(folder: string): readonly RecordedGraph[] {
  const files = readdirSync(folder).filter((name) => /^graph(\.\d+\.\d+)?$/.test(name))
  const inOrder = files.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  const graphs = recordedGraphs(
    inOrder.map((name) => join(folder, name)),
    (file) => readFileSync(file, 'utf8'),
  )
  if (graphs.length > 0) return graphs
  throw new RankweaveError(
    'ERR_SHIM',
    'expected a program that creates communicators with a topology, got none: it creates no such communicator, or it is compiled ' +
      'with another MPI than the library (--mpicc)',
  )
}

function* piecesOf({ comments, file }: RecordedGraph): Generator<string> {
  for (const line of comments) yield `${line}\n`
  yield graphLines(readFileSync(file, 'utf8'))
}

/** Returns a numbered name: `graph-2.txt` from `graph.txt`. */
function numbered(file: string, number: number): string {
  const ending = extname(file)
  return `${file.slice(0, file.length - ending.length)}-${number}${ending}`
}

function finish(report: Reporter, graphs: readonly RecordedGraph[], files: readonly string[]): void {
  const written = graphs.map(({ functions, communicators, edges, ranks, nodes }, i) => ({
    ...{ file: files[i], ranks, edges, communicators, nodes, functions },
  }))
  const rows = written.map(({ file, ranks, edges, communicators, functions }): [string, string] => [
    file,
    [
      counted(ranks, 'rank', 'ranks'),
      counted(edges, 'edge', 'edges'),
      counted(communicators, 'communicator', 'communicators'),
      ...Object.entries(functions).map(
        ([name, { calls, blocks }]) => `${callsText(calls)} of ${name}${blocksText(blocks)}`,
      ),
    ].join(', '),
  ])
  report.result({ graphs: written }, table([...rows, ['next', nextLine(files[0], graphs[0])]]))
}

/**
 * Returns a command line that runs unmodified: with the nodes that the program had, and the costs of a profile that
 * stands for those of its network. Without nodes, it is a command that needs no machine.
 */
function nextLine(file: string, { nodes }: RecordedGraph): string {
  const graph = shellWord(`edges:${file}`)
  if (nodes === null) return `rankweave topology ${graph}`
  const [, count, cores] = /^(\d+)x(\d+)$/.exec(nodes) ?? []
  const machine = count === undefined ? `cores=${nodes}` : `nodes=${count},cores=${cores}`
  return `rankweave study ${graph} --machine cluster:${machine},profile=simgrid-fast -o study`
}

const callsText = (calls: number): string => counted(calls, 'call', 'calls')

function blocksText(blocks: readonly [number, number] | null): string {
  if (blocks === null) return ''
  const [shortest, longest] = blocks
  return shortest === longest
    ? ` with blocks of ${longest} bytes`
    : ` with blocks of ${shortest} to ${longest} bytes`
}
