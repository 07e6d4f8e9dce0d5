import { Option } from 'commander'
import { z } from 'zod'
import { RankweaveError } from '../../errors.js'
import { type TopologyFormat, topologyFormats, topologyText } from '../../topology/format-topology.js'
import { countHyperedges } from '../../topology/hyperedges.js'
import { formatMachine, nodeOf, parseMachine } from '../../topology/machine.js'
import { defaultTheta } from '../../topology/matching-options.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { buildTopology } from '../../topology/spec.js'
import { topologyStatistics } from '../../topology/topology-statistics.js'
import { writeWholeFile } from '../../topology/whole-file.js'
import { type AddCommand, type ExitCode, exitCodes } from '../command.js'
import { oneOf, parseOptions, wholeList } from '../options.js'
import { figure, type Reporter, readProgress, table } from '../reporter.js'
import { machineHelp, specHelp } from '../spec-help.js'

const help = `${specHelp}
${machineHelp}

A hyperedge of k is a set of k ranks (friends) with more than theta out-neighbors in common: those whose messages can be
combined. Without a machine any ranks can be friends and theta is k(k-1); with one, friends share a node and theta
is k. The figure is how many hyperedges contain a rank, averaged over all ranks: exact, or none when counting
them would take too long.

Examples:
  rankweave topology moore:64x64:r=2
  rankweave topology moore:64x64:r=4 --k 2,4,8 --machine cluster:nodes=103,cores=40
  rankweave topology mtx:A.mtx:ranks=64 --json
  rankweave topology rgg:100000:r=0.01 --format metis -o mesh.graph`

const schema = z.object({
  machine: z.string().transform(parseMachine).optional(),
  k: wholeList(2, 2 ** 20),
  format: oneOf(...topologyFormats).optional(),
  output: z.string().optional(),
})

/** `rankweave topology`: a topology in figures. */
export const topologyCommand: AddCommand = (program, act) => {
  program
    .command('topology')
    .description('Describe a process topology: size, degrees, density, and how often ranks are friends.')
    .argument('<spec>', 'the topology, e.g. moore:64x64:r=4')
    .option('--machine <text>', 'where ranks live, e.g. cluster:nodes=4,cores=32')
    .addOption(new Option('--k <list>', 'friends per hyperedge').default('2,4'))
    .option('--format <format>', `write the topology instead: ${topologyFormats.join(', ')}`)
    .option('-o, --output <file>', 'the file to write')
    .option('--json', 'one JSON object on standard output', false)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, spec: string, raw: unknown) => {
        const { machine, k: ks, format, output } = parseOptions(schema, raw)
        if ((format === undefined) !== (output === undefined))
          throw new RankweaveError('ERR_USAGE', '--format and --output: expected both or neither')
        report.note(`building ${spec}`)
        const topology = buildTopology(spec, { onRead: readProgress(report, spec) })
        if (format !== undefined && output !== undefined)
          return await convert(report, spec, topology, format, output)
        const nodes = machine === undefined ? null : nodeOf(machine, topology.ranks)
        const hyperedges = Object.fromEntries(
          ks.map((k) => [String(k), meanHyperedges(report, topology, k, nodes)]),
        )
        const statistics = topologyStatistics(topology)
        const object = {
          topology: spec,
          machine: machine === undefined ? null : formatMachine(machine),
          ...statistics,
          hyperedges,
        }
        const { degree } = statistics
        report.result(
          object,
          [
            spec,
            table([
              ['ranks', figure(statistics.ranks)],
              ['edges', figure(statistics.edges)],
              ['degree', `${figure(degree.min)} to ${figure(degree.max)}, mean ${figure(degree.mean)}`],
              ['density', `${figure(100 * statistics.density)} % of all pairs`],
              ...ks.map(
                (k) => [`hyperedges of ${k}`, hyperedgeText(hyperedges[String(k)], nodes !== null)] as const,
              ),
            ]),
          ].join('\n'),
        )
        return exitCodes.ok
      }),
    )
}

async function convert(
  report: Reporter,
  spec: string,
  topology: ProcessTopology,
  format: TopologyFormat,
  file: string,
): Promise<ExitCode> {
  report.note(`writing ${file}`)
  await writeWholeFile(file, topologyText(topology, format))
  const object = { topology: spec, ranks: topology.ranks, edges: topology.outRank.length, format, file }
  report.result(
    object,
    `${spec}: ${figure(object.ranks)} ranks, ${figure(object.edges)} edges: wrote ${file} as ${format}`,
  )
  return exitCodes.ok
}

/** Null, with the reason on standard error, when there are too many to count. */
function meanHyperedges(
  report: Reporter,
  topology: ProcessTopology,
  k: number,
  nodes: Int32Array | null,
): number | null {
  report.note(`counting hyperedges of ${k}`)
  const theta = defaultTheta(k, nodes === null ? 'agnostic' : 'aware')
  const counted = countHyperedges(topology, {
    k,
    theta,
    nodeOf: nodes,
    onRank: (done, all) =>
      report.progress(() => `counting hyperedges of ${k}: ${figure(done)} of ${figure(all)} ranks`),
  })
  if (counted.kind === 'counted') return counted.meanPerRank
  report.note(`hyperedges of ${k} not counted: ${counted.reason}`)
  return null
}

function hyperedgeText(mean: number | null, sharedNode: boolean): string {
  if (mean === null) return 'too many to count'
  return `${figure(mean)} per rank${sharedNode ? ', within nodes' : ''}`
}
