import { Option } from 'commander'
import * as z from 'zod'
import { RankweaveError } from '../../errors.js'
import { formatMachine } from '../../machine/format-machine.js'
import { nodeOf } from '../../machine/machine.js'
import { adjacencySvg } from '../../topology/files/adjacency-picture.js'
import { type TopologyFormat, topologyFormats, topologyText } from '../../topology/files/format-topology.js'
import { buildTopology } from '../../topology/files/topology-from-spec.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { readMachine } from '../input/machine-input.js'
import { openInput } from '../input/open-input.js'
import { oneOf, parseOptions, wholeList } from '../input/options.js'
import { machineHelp, specHelp } from '../input/spec-help.js'
import { checkOutputs, isStandardOutput, reportBeside, writeOutput } from '../output/output-file.js'
import { figure, type Reporter, readProgress } from '../output/reporter.js'
import { describeTopology, topologyObject, topologyTable } from '../output/topology-report.js'
import type { AddCommand } from './command.js'

const help = `${specHelp}
${machineHelp}

A candidate group of k (a hyperedge) is a set of k ranks with more than theta common out-neighbors: friends, whose messages
can be combined. Without a machine any ranks can be friends and theta is k(k-1); with one, friends share a node and theta is
k. Candidate groups per rank are those that contain it, averaged over all ranks. Messages are those of the plan for k; the
best k has the fewest. Every figure is exact; what would take too long to count is left out.

A topology is a grid if every rank, in row-major order, has the same offsets to its neighbors: Cartesian grids and Moore
neighborhoods are recognized in any topology.

--format writes a file for other tools instead: graphology JSON, METIS, Matrix Market (mtx), CSV or plain edges.
With '-' as output, the file goes to standard output and the report to standard error.

Examples:
  rankweave topology moore:64x64:r=2
  rankweave topology moore:64x64:r=4 --k 2,4,8 --machine cluster:nodes=103,cores=40
  rankweave topology mtx:A.mtx:ranks=64 --json
  rankweave topology er:256:d=0.2:seed=1 --svg er.svg
  rankweave topology rgg:100000:r=0.01 --format metis -o mesh.graph`

const schema = z.object({
  machine: z
    .string()
    .transform((text) => readMachine(text).machine)
    .optional(),
  k: wholeList(2, 2 ** 20),
  format: oneOf(...topologyFormats).optional(),
  output: z.string().optional(),
  svg: z.string().optional(),
})

export const topologyCommand: AddCommand = (command, act) => {
  command
    .argument('<spec>', 'the topology, e.g. moore:64x64:r=4')
    .option('--machine <text>', 'nodes and cores of the ranks, e.g. cluster:nodes=4,cores=32')
    .addOption(new Option('--k <list>', 'friends per group').default('2,4'))
    .option('--format <format>', `write the topology instead: ${topologyFormats.join(', ')}`)
    .option('-o, --output <file>', 'the file to write (.gz: compressed, -: standard output)')
    .option('--svg <file>', 'draw the adjacency matrix, friend groups of the best k in color')
    .option('--json', 'one JSON object on standard output', false)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, spec: string, raw: unknown) => {
        const { machine, k: ks, format, output, svg } = parseOptions(schema, raw)
        await checkOutputs(report, output, svg)
        if ((format === undefined) !== (output === undefined))
          throw new RankweaveError('ERR_USAGE', '--format and --output: expected both or neither')
        report.step(`building ${spec}`)
        const topology = buildTopology(spec, { open: openInput, onProgress: readProgress(report, spec) })
        if (format !== undefined && output !== undefined)
          return await convert(report, spec, topology, format, output)
        const nodes = machine === undefined ? null : nodeOf(machine, topology.ranks)
        const described = describeTopology(report, topology, ks, nodes)
        if (svg !== undefined) {
          report.step(`drawing ${svg}`)
          const { groups } = described.forecast
          await writeOutput(report, svg, [adjacencySvg(topology, { groups, title: spec })])
        }
        const object = {
          topology: spec,
          machine: machine === undefined ? null : formatMachine(machine),
          ...topologyObject(described),
          ...(svg === undefined ? {} : { svg }),
        }
        reportBeside(report, svg, object, `${spec}\n${topologyTable(described, nodes !== null)}`)
      }),
    )
}

async function convert(
  report: Reporter,
  spec: string,
  topology: ProcessTopology,
  format: TopologyFormat,
  file: string,
): Promise<void> {
  report.step(`writing ${file}`)
  await writeOutput(report, file, topologyText(topology, format))
  const object = { topology: spec, ranks: topology.ranks, edges: topology.outRank.length, format, file }
  const wrote = isStandardOutput(file) ? `wrote ${format}` : `wrote ${file} as ${format}`
  const text = `${spec}: ${figure(object.ranks)} ranks, ${figure(object.edges)} edges: ${wrote}`
  reportBeside(report, file, object, text)
}
