import type { Command } from 'commander'
import * as z from 'zod'
import { numberOption } from '../../base/option.js'
import { namedStrategy } from '../../client/protocol/plan-words.js'
import { longestBlockBytes } from '../../cost/simulate/block-lengths.js'
import { joined, type Picture, svgOf } from '../../document/picture.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { placesFormats, rankPlacesText } from '../../machine/host-list.js'
import { type Machine, nodeOf } from '../../machine/machine.js'
import { formatMachine } from '../../machine/machine-text.js'
import { hopsBetween, profileOf, profileOrigin, profileRemark } from '../../machine/network.js'
import { parseAuto } from '../../neighborhood/choose/auto.js'
import { mapBySimulatedTime } from '../../neighborhood/choose/map-by-simulated-time.js'
import { formatStrategy, groupingOf } from '../../neighborhood/strategies/strategies.js'
import { packedEnding, packedMapping } from '../../shim/packed-files.js'
import { adjacencyPicture } from '../../topology/files/adjacency-picture.js'
import { prepareEngine } from '../../topology/grouping/exact-round.js'
import { communityStart, mapFromCommunities } from '../../topology/mapping/communities.js'
import type { Mapping } from '../../topology/mapping/map-topology.js'
import { joinedTopology, type RepeatedTopology } from '../../topology/mapping/map-topology.js'
import { mappingText } from '../../topology/mapping/mapping-file.js'
import { placementCosts, summedCosts } from '../../topology/mapping/placement-costs.js'
import { mappingObjectives, type PlacementObjective, simulatedTime } from '../../topology/mapping/problem.js'
import { relabelledTopology } from '../../topology/mapping/relabel.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { edgesDigest } from '../../topology/topology-hash.js'
import { type MachineInput, readHosts, readMachine } from '../input/machine-input.js'
import {
  addOptions,
  json,
  oneOf,
  option,
  readOptions,
  refuseGiven,
  required,
  whole,
} from '../input/options.js'
import { spelledBy } from '../input/plan-options.js'
import { machineHelp, specHelp } from '../input/spec-help.js'
import {
  checkOutputs,
  isStandardOutput,
  type NamedFile,
  reportBeside,
  requireDistinctFiles,
  writeBeside,
  writeOutput,
} from '../output/output-file.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import { type MappedTimes, mappingTable } from '../output/simulation-report.js'
import { builtTopology } from '../source/planned-topology.js'

const help = `${specHelp}
${machineHelp}

Says which rank should be on which node, so that little leaves a node. Objectives:
  pairs         distinct (source rank, destination node): messages, where what goes to one node is sent once
  edges         distinct edges between nodes: messages of direct sends
  hop-bytes     weights of edges times the hops between their nodes
  busiest-node  pairs that leave or enter the node that has most of either
  simulated-time  what a neighbor allgather of --bytes takes by --strategy, on a machine with a profile
The table has the first four, before and after. It is never worse than before by the objective.
simulated-time compares the mappings by all other objectives; of up to 1,024 ranks the fastest is refined by swaps.
Of several topologies, which a program exchanges on the same ranks, costs add up, each as often as --times says.

Formats of --output:
  mapping       JSON: the slot of every rank, and what it costs before and after
  openmpi       a rankfile: mpirun --rankfile FILE, or --map-by rankfile:file=FILE since Open MPI 5
  mpich         a host file with a line for every rank: mpiexec -f FILE
  slurm         a host list with a line for every rank: SLURM_HOSTFILE=FILE srun --distribution=arbitrary
All but mapping need names of hosts: --machine hosts:FILE, slurm, or --hosts FILE for the nodes of another machine.

Examples:
  rankweave map moore:64x64:r=2 --machine cluster:nodes=256,cores=16
  rankweave map mtx:A.mtx:ranks=1072 --machine hosts:hosts.txt --format openmpi -o rankfile
  rankweave map edges:graph.txt edges:graph-2.txt --times 100,1 --machine hosts:hosts.txt --format openmpi -o rankfile
  rankweave map edges:graph.txt --machine torus:dims=8x8x4,cores=16 --objective hop-bytes -o graph.map
  rankweave map er:128:d=0.05 --machine cluster:nodes=16,cores=8,profile=niagara --objective simulated-time --bytes 512`

const formats = ['mapping', ...placesFormats] as const

const objectives = [...mappingObjectives, simulatedTime] as const

const optionTable = {
  machine: required(
    '--machine <text>',
    'nodes and cores of the ranks, e.g. cluster:nodes=256,cores=16',
    z.string().transform((text) => readMachine(text)),
  ),
  objective: option(
    '--objective <name>',
    `what is made small: ${objectives.join(', ')}`,
    oneOf(...objectives),
    'pairs',
  ),
  strategy: option('--strategy <text>', `of ${simulatedTime}: a strategy with its options (default: auto)`),
  bytes: option(
    '--bytes <number>',
    `of ${simulatedTime}: the length of a block`,
    whole(0, longestBlockBytes),
  ),
  times: option(
    '--times <list>',
    'how often each of several topologies is exchanged, e.g. 10,1 (default: 1 each)',
  ),
  seed: option('--seed <number>', 'equal seeds give equal mappings', whole(0, 2 ** 32 - 1), '1'),
  format: option('--format <name>', `of --output: ${formats.join(', ')}`, oneOf(...formats), 'mapping'),
  hosts: option('--hosts <file>', 'a host list that names the nodes of --machine, in their order'),
  output: option('-o, --output <file>', 'where to write who goes where (-: to standard output)'),
  svg: option('--svg <file>', 'draw the adjacency matrix in the order of nodes, before and after'),
  json,
}

export const mapCommand: AddCommand = (command, act) => {
  addOptions(
    command.argument('<spec...>', 'the topology, e.g. moore:64x64:r=2, or several of one program'),
    optionTable,
  )
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, specs: readonly string[], raw: unknown, command: Command) => {
        const {
          machine: given,
          objective,
          strategy,
          bytes,
          times: factors,
          seed,
          format,
          hosts: list,
          output,
          svg,
        } = readOptions(optionTable, raw)
        const { machine } = given
        if (output === undefined) refuseGiven(command, ['format', 'hosts'], 'is for --output')
        if (format === 'mapping')
          refuseGiven(command, ['hosts'], `is for --format ${placesFormats.join(', ')}, not for mapping`)
        requireDistinctFiles(
          [...namedFile('-o', output), ...namedFile('--svg', svg)],
          namedFile('--hosts', list),
        )
        const hosts = list === undefined ? given.hosts : readHosts(list, machine)
        await checkOutputs(report, output, svg)
        requireHosts(format, hosts)
        const times = timesOf(factors, specs.length)
        const mapped = mapperOf(command, { machine, objective, seed, strategy, bytes }, specs.length)
        if (output !== undefined && format === 'mapping' && specs.length > 1)
          throw new RankweaveError('ERR_USAGE', 'a mapping file is of one topology: name another --format')
        const graphs = specs.map((each, i) => ({ topology: builtTopology(report, each), times: times[i] }))
        const spec = specs.map((each, i) => (times[i] === 1 ? each : `${times[i]} x ${each}`)).join(' + ')
        const topology = specs.length === 1 ? graphs[0].topology : joinedTopology(graphs)
        const before = nodeOf(machine, topology.ranks)
        const distance = hopsBetween(machine)
        report.step(`mapping ${spec}`)
        const begin = performance.now()
        const mapping = await mapped(graphs)
        const seconds = (performance.now() - begin) / 1000
        const [costsBefore, costsAfter] = [before, mapping.nodeOf].map((nodes) =>
          summedCosts(
            graphs.map((each) => placementCosts(each.topology, nodes, distance)),
            times,
          ),
        )
        if (output !== undefined) {
          const places = { coreOf: mapping.slotOf, machine, hosts }
          const text =
            format === 'mapping' ? mappingText(topology, mapping, objective) : rankPlacesText(format, places)
          await writeOutput(report, output, text)
          if (format === 'mapping')
            await writeBeside(output, packedEnding, packedMapping(edgesDigest(topology), mapping.slotOf))
          if (!isStandardOutput(output)) report.note(`wrote ${output}`)
        }
        if (svg !== undefined) {
          report.step(`drawing ${svg}`)
          await writeOutput(report, svg, svgOf(mappingPicture(topology, mapping.slotOf, spec)))
        }
        const { start, simulated } = mapping
        const result = {
          ...{ objective, start, before: costsBefore, after: costsAfter, seconds },
          ...(simulated === undefined ? {} : { simulated }),
        }
        const object = {
          ...{ topology: spec, machine: formatMachine(machine), ranks: topology.ranks },
          ...{ ...result, file: output ?? null },
          ...(svg === undefined ? {} : { svg }),
        }
        reportBeside(report, output ?? svg, object, `${spec}\n${mappingTable(result)}`)
      }),
    )
}

function namedFile(option: string, file: string | undefined): readonly NamedFile[] {
  return file === undefined ? [] : [{ option, file }]
}

const oneTime = numberOption({ least: Number.MIN_VALUE, most: 1e9 })

/** @throws ERR_USAGE unless there is a number above 0 for each topology */
function timesOf(text: string | undefined, count: number): readonly number[] {
  if (text === undefined) return new Array<number>(count).fill(1)
  if (count === 1) throw new RankweaveError('ERR_USAGE', '--times: expected several topologies, got one')
  const times = text.split(',').map((each) => oneTime.parse(each) ?? Number.NaN)
  if (times.length === count && !times.some(Number.isNaN)) return times
  throw wrongValue(
    'ERR_USAGE',
    `--times: expected ${count} numbers above 0, at most 1e9, with commas between`,
    text,
  )
}

/** @throws ERR_USAGE before anything is computed */
function requireHosts(format: (typeof formats)[number], hosts: MachineInput['hosts']): void {
  if (hosts !== null || format === 'mapping') return
  const message = `--format ${format}: expected names of hosts, by --machine hosts:FILE or slurm, or by --hosts FILE`
  throw new RankweaveError('ERR_USAGE', message)
}

/** The words of a `rankweave map` command. */
interface MapWords {
  readonly machine: Machine
  readonly objective: PlacementObjective
  readonly seed: number
  readonly strategy?: string | undefined
  readonly bytes?: number | undefined
}

/** A mapping, with its times if it was chosen by simulated times. */
interface MadeMapping extends Mapping {
  readonly simulated?: MappedTimes
}

/**
 * Returns the mapper for graphs of one program. It checks the words before any graph is built.
 *
 * @param count of graphs
 * @throws ERR_USAGE for words that are missing, or would have no effect; ERR_MACHINE for times without a profile;
 *   ERR_STRATEGY
 */
function mapperOf(
  command: Command,
  words: MapWords,
  count: number,
): (graphs: readonly RepeatedTopology[]) => Promise<MadeMapping> {
  const { machine, objective, seed } = words
  if (objective === simulatedTime) return mapperByTime(command, words, count)
  refuseGiven(command, ['strategy', 'bytes'], `is for --objective ${simulatedTime}`)
  return async (graphs) => {
    const nodeOfSlot = nodeOf(machine, graphs[0].topology.ranks)
    return mapFromCommunities(graphs, { nodeOfSlot, objective, distance: hopsBetween(machine), seed })
  }
}

function mapperByTime(
  command: Command,
  { machine, seed, strategy: text = 'auto', bytes }: MapWords,
  count: number,
): ReturnType<typeof mapperOf> {
  if (count > 1) throw usageError(`expected one topology, got ${count}`)
  if (bytes === undefined) throw usageError('expected --bytes, the length of a block')
  const profile = profileOf(machine)
  const auto = parseAuto(text)
  if (auto?.bytes !== undefined)
    throw usageError('expected the length of a block as --bytes, not in --strategy')
  const asked = auto ?? namedStrategy({ strategy: text, machine }, spelledBy(command))
  return async ([{ topology }]) => {
    await prepareEngine(groupingOf(asked)?.engine)
    const communities = communityStart(topology, nodeOf(machine, topology.ranks))
    const starts = communities === null ? [] : [communities]
    const mapping = mapBySimulatedTime(topology, machine, { bytes, strategy: asked, seed, starts })
    const { timeUs, identityUs, strategy, identityStrategy, swaps } = mapping
    return {
      ...{ slotOf: mapping.slotOf, nodeOf: mapping.nodeOf, start: mapping.start },
      ...{ cost: timeUs, identityCost: identityUs },
      simulated: {
        origin: 'simulated',
        bytesPerBlock: bytes,
        before: { strategy: formatStrategy(identityStrategy), timeUs: identityUs },
        after: { strategy: formatStrategy(strategy), timeUs },
        swaps,
        profile: profileOrigin(profile),
        remark: profileRemark(machine),
      },
    }
  }
}

function usageError(message: string): RankweaveError {
  return new RankweaveError('ERR_USAGE', `--objective ${simulatedTime}: ${message}`)
}

/** Draws the adjacency matrix by rank, and next to it by slot: edges near the diagonal are on one node. */
function mappingPicture(topology: ProcessTopology, slotOf: Int32Array, title: string): Picture {
  const pictures = [
    adjacencyPicture(topology, { title: `${title}, by rank` }),
    adjacencyPicture(relabelledTopology(topology, slotOf), { title: `${title}, by slot` }),
  ]
  return joined(pictures, 'across', 16)
}
