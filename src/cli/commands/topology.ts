import type { Command } from 'commander'
import { RankweaveError, wrongValue } from '../../errors.js'
import { nodeOf } from '../../machine/machine.js'
import { formatMachine } from '../../machine/machine-text.js'
import { adjacencySvg } from '../../topology/files/adjacency-picture.js'
import { delimiterNames } from '../../topology/files/csv.js'
import { FileNotes, withoutDuplicates } from '../../topology/files/file-notes.js'
import { type TopologyFormat, topologyFormats, topologyText } from '../../topology/files/format-topology.js'
import { formatTopologySpec, parseTopologySpec, translationSpec } from '../../topology/files/spec-text.js'
import { buildTopology, type FileSpec, readTopologyFile } from '../../topology/files/topology-from-spec.js'
import { type CommonNeighbors, commonNeighbors } from '../../topology/friends/common-neighbors.js'
import { defaultTheta } from '../../topology/friends/grouping-options.js'
import { countHyperedges } from '../../topology/friends/hyperedges.js'
import { findTranslations, type TranslationFinding } from '../../topology/generate/translations.js'
import {
  type CombiningForecast,
  forecastCombining,
  pairsAbove,
} from '../../topology/grouping/combining-forecast.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { type TopologyStatistics, topologyStatistics } from '../../topology/topology-statistics.js'
import { machineCheck } from '../input/machine-input.js'
import { openInput } from '../input/open-input.js'
import {
  addOptions,
  flag,
  json,
  oneOf,
  option,
  readOptions,
  refuseGiven,
  wholeList,
} from '../input/options.js'
import { machineHelp, specHelp } from '../input/spec-help.js'
import { type ExitCode, exitCodes } from '../output/exit-codes.js'
import {
  checkOutputs,
  isStandardOutput,
  reportBeside,
  reportRowsBeside,
  requireDistinctFiles,
  writeOutput,
} from '../output/output-file.js'
import type { AddCommand } from '../output/reporter.js'
import { groupProgress, type Reporter, readProgress } from '../output/reporter.js'
import {
  change,
  counted,
  figure,
  held,
  oddityRows,
  type ResultRow,
  rangeText,
  row,
  shown,
} from '../output/result-rows.js'

const help = `${specHelp}
${machineHelp}

A candidate group of k (a hyperedge) is a set of k ranks with more than theta common out-neighbors: friends, whose messages
can be combined. Without a machine any ranks can be friends and theta is k(k-1); with one, friends share a node and theta is
k. Candidate groups per rank are those that contain it, averaged over all ranks. Messages are those of the plan for k; the
best k has the fewest. Every figure is exact; what would take too long to count is left out.

A topology is a grid if every rank, in row-major order, has the same offsets to its neighbors: Cartesian grids and Moore
neighborhoods are recognized in any topology.

--check says instead how FILE was read, and line by line what is odd although it was accepted: repeated edges, self loops,
ranks without edges or that no line names, numbers that seem to count from 1 (nodes of graphology: other numbers than their
ranks), an edge in one direction where nine of ten have both, fields that are ignored, returns at line ends, a byte-order
mark. METIS and Matrix Market count from 1 and refuse 0. It lists 20 of each kind, and ends with 1 if anything is odd.
With -o it writes the edges, with the senders' weights and sorted by source and destination, without those that repeat
another with the same weight.

--format writes a file for other tools instead: graphology JSON, METIS, Matrix Market (mtx), CSV or plain edges.
With '-' as output, the file goes to standard output and the report to standard error.

Examples:
  rankweave topology moore:64x64:r=2
  rankweave topology moore:64x64:r=4 --k 2,4,8 --machine cluster:nodes=103,cores=40
  rankweave topology mtx:A.mtx:ranks=64 --json
  rankweave topology er:256:d=0.2:seed=1 --svg er.svg
  rankweave topology rgg:100000:r=0.01 --format metis -o mesh.graph
  rankweave topology csv:mesh.csv --check -o mesh.edges`

const optionTable = {
  machine: option(
    '--machine <text>',
    'nodes and cores of the ranks, e.g. cluster:nodes=4,cores=32',
    machineCheck,
  ),
  k: option('--k <list>', 'friends per group', wholeList(2, 2 ** 20), '2,4'),
  format: option(
    '--format <format>',
    `write the topology instead: ${topologyFormats.join(', ')}`,
    oneOf(...topologyFormats),
  ),
  output: option('-o, --output <file>', 'the file to write (.gz: compressed, -: standard output)'),
  check: flag('--check', 'say how the file was read, and what is odd in it'),
  svg: option('--svg <file>', 'draw the adjacency matrix, friend groups of the best k in color'),
  json,
}

export const topologyCommand: AddCommand = (command, act) => {
  addOptions(command.argument('<spec>', 'the topology, e.g. moore:64x64:r=4'), optionTable)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, spec: string, raw: unknown, command: Command) => {
        const { machine, k: ks, format, output, svg, check } = readOptions(optionTable, raw)
        await checkOutputs(report, output, svg)
        if (check) {
          refuseGiven(command, ['machine', 'k', 'format', 'svg'], 'is not for --check')
          return await checkFile(report, spec, output)
        }
        if ((format === undefined) !== (output === undefined))
          throw new RankweaveError('ERR_USAGE', '--format and --output: expected both or neither')
        report.step(`building ${spec}`)
        const topology = buildTopology(spec, { open: openInput, onProgress: readProgress(report, spec) })
        if (format !== undefined && output !== undefined) {
          await convert(report, spec, topology, format, output)
          return exitCodes.ok
        }
        const nodes = machine === undefined ? null : nodeOf(machine, topology.ranks)
        const described = describeTopology(report, topology, ks, nodes)
        if (svg !== undefined) {
          report.step(`drawing ${svg}`)
          const { groups } = described.forecast
          await writeOutput(report, svg, [adjacencySvg(topology, { groups, title: spec })])
        }
        const rows = [
          held({ topology: spec, machine: machine === undefined ? null : formatMachine(machine) }),
          ...topologyRows(described, nodes !== null),
          held(svg === undefined ? {} : { svg }),
        ]
        reportRowsBeside(report, svg, rows, spec)
        return exitCodes.ok
      }),
    )
}

/** Reports how a file was read and what is odd in it, and writes its edges without duplicates. */
async function checkFile(report: Reporter, text: string, output: string | undefined): Promise<ExitCode> {
  const spec = parseTopologySpec(text)
  if (!('file' in spec)) throw wrongValue('ERR_USAGE', '--check: expected a topology in a file', text)
  if (output !== undefined)
    requireDistinctFiles([{ option: '-o', file: output }], [{ option: 'the topology', file: spec.file }])
  report.step(`reading ${text}`)
  const notes = new FileNotes()
  const topology = readTopologyFile(spec, notes, { open: openInput, onProgress: readProgress(report, text) })
  report.step('searching for what is odd')
  const oddities = notes.oddities(topology)
  const rows = [held({ topology: text }), ...readingRows(spec, notes, topology), ...oddityRows(oddities)]
  if (output !== undefined) {
    const { topology: corrected, removed, differing } = withoutDuplicates(topology)
    await writeOutput(report, output, topologyText(corrected, 'edges'))
    const counts = { removed, differing, edges: corrected.outRank.length }
    rows.push(
      row('corrected', { file: output, ...counts }, 'corrected', `${output}: ${correctionText(counts)}`),
    )
  }
  reportRowsBeside(report, output, rows, text)
  return oddities.length === 0 ? exitCodes.ok : exitCodes.checkFailed
}

function readingRows(spec: FileSpec, notes: FileNotes, topology: ProcessTopology): readonly ResultRow[] {
  const { isCompressed, delimiter, headerLine, lineEnds, leftOut } = notes
  const named = Object.entries(delimiterNames).find(([, character]) => character === delimiter)?.[0] ?? null
  return [
    row('format', spec.kind),
    row('compressed', isCompressed, 'compressed', isCompressed ? 'by gzip' : null),
    row('delimiter', named, 'delimiter', named),
    row('headerLine', headerLine, 'header', headerLine === null ? null : `line ${headerLine}`),
    row('lineEnds', lineEnds, 'line ends', lineEnds),
    row('leftOut', leftOut, 'not used', leftOut),
    row('ranks', topology.ranks),
    row('edges', topology.outRank.length),
  ]
}

function correctionText({
  removed,
  differing,
}: {
  readonly removed: number
  readonly differing: number
}): string {
  const duplicates = counted(removed, 'duplicate', 'duplicates')
  const left =
    differing === 0
      ? ''
      : `; ${counted(differing, 'edge repeats', 'edges repeat')} another with a different weight, and ${differing === 1 ? 'stays' : 'stay'}`
  return `${duplicates} removed, sorted by source and destination${left}`
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

/** The figures of a topology. A figure that takes too long is null; standard error has the reason. */
interface TopologyReport {
  readonly statistics: TopologyStatistics
  readonly translations: TranslationFinding
  readonly common: CommonNeighbors
  /** The mean number per rank, by k. */
  readonly hyperedges: Readonly<Record<string, number | null>>
  readonly forecast: CombiningForecast
}

/** Counts, and reports progress. */
function describeTopology(
  report: Reporter,
  topology: ProcessTopology,
  ks: readonly number[],
  nodes: Int32Array | null,
): TopologyReport {
  const statistics = topologyStatistics(topology)
  report.step('searching for a grid')
  const translations = findTranslations(topology)
  if (translations.kind === 'undecided')
    report.note(`the search for a grid was stopped: ${translations.reason}`)
  report.step('counting common neighbors')
  const common = commonNeighbors(topology, {
    nodeOf: nodes,
    onRank: (done, all) =>
      report.progress(() => `counting common neighbors: ${figure(done)} of ${figure(all)} ranks`),
  })
  if (common.kind !== 'counted') report.note(`common neighbors not counted: ${common.reason}`)
  const hyperedges = Object.fromEntries(
    ks.map((k) => [String(k), meanHyperedges(report, topology, k, nodes)]),
  )
  report.step('grouping friends')
  const forecast = forecastCombining(topology, {
    ks,
    nodeOf: nodes,
    common,
    onProgress: (k, progress) => groupProgress(report, `grouping friends, k=${k}`)(progress),
  })
  for (const { k, reason } of forecast.forecasts)
    if (reason !== null) report.note(`messages, k=${k}, not counted: ${reason}`)
  return { statistics, translations, common, hyperedges, forecast }
}

/** Returns null, with the reason on standard error, when there are too many to count. */
function meanHyperedges(
  report: Reporter,
  topology: ProcessTopology,
  k: number,
  nodes: Int32Array | null,
): number | null {
  report.step(`counting candidate groups, k=${k}`)
  const theta = defaultTheta(k, nodes === null ? 'agnostic' : 'aware')
  const counted = countHyperedges(topology, {
    k,
    theta,
    nodeOf: nodes,
    onRank: (done, all) =>
      report.progress(() => `counting candidate groups, k=${k}: ${figure(done)} of ${figure(all)} ranks`),
  })
  if (counted.kind === 'counted') return counted.meanPerRank
  report.note(`candidate groups, k=${k}, not counted: ${counted.reason}`)
  return null
}

function topologyRows(
  { statistics, translations, common, hyperedges, forecast }: TopologyReport,
  sharedNode: boolean,
): readonly ResultRow[] {
  const { ranks, edges, selfLoops, parallelEdges, degree, inDegree, density, reciprocity } = statistics
  const sameBothWays = degree.min === inDegree.min && degree.max === inDegree.max
  const { direct, bestK, forecasts } = forecast
  const ofCommon = common.kind === 'counted' ? common : null
  const grid =
    translations.kind === 'invariant'
      ? {
          dims: translations.dims,
          periods: translations.periods,
          offsets: translations.offsets,
          stencil: translations.stencil,
          spec: gridSpec(translations),
        }
      : null
  const pairs =
    ofCommon === null
      ? null
      : {
          ...{ pairs: ofCommon.pairs, mean: ofCommon.mean, max: ofCommon.max },
          histogram: Array.from(ofCommon.histogram),
        }
  const combined = Object.fromEntries(forecasts.map(({ k, messages }) => [String(k), messages]))
  const symmetry =
    reciprocity === 1 ? 'symmetric' : `${figure(100 * reciprocity)}% of edges have a reverse edge`
  return [
    row('ranks', ranks),
    row('edges', edges),
    row('selfLoops', selfLoops, 'self loops', selfLoops === 0 ? null : figure(selfLoops)),
    row('parallelEdges', parallelEdges, 'parallel edges', parallelEdges === 0 ? null : figure(parallelEdges)),
    row('degree', degree, 'degree', rangeText(degree)),
    row('inDegree', inDegree, 'in-degree', sameBothWays ? null : rangeText(inDegree)),
    row('density', density, 'density', `${figure(100 * density)}% of all pairs`),
    row('reciprocity', reciprocity, 'symmetry', symmetry),
    row('grid', grid, 'grid', gridText(translations)),
    held({ gridDecided: translations.kind !== 'undecided' }),
    row('commonNeighbors', pairs, 'common neighbors', commonText(common, sharedNode)),
    held({ hyperedges, messages: { direct, combined, bestK } }),
    ...forecasts.flatMap(({ k, theta, messages }) => [
      shown(`candidate groups, k=${k}`, hyperedgeText(hyperedges[String(k)])),
      shown(
        `friend pairs, k=${k}`,
        ofCommon === null
          ? null
          : `${figure(pairsAbove(ofCommon, theta))} (more than ${theta} common neighbors)`,
      ),
      shown(
        `messages, k=${k}`,
        messages === null ? 'not counted, too many friend pairs' : messagesText(messages, direct),
      ),
    ]),
    shown('best k', bestK === null ? 'none, no messages saved' : String(bestK)),
  ]
}

function gridText(translations: TranslationFinding): string {
  if (translations.kind === 'undecided') return 'undecided'
  if (translations.kind === 'none') return 'none, neighborhoods differ'
  const { offsets, stencil, periods } = translations
  const name =
    stencil === null
      ? ''
      : stencil.shape === 'box'
        ? `, Moore neighborhood of radius ${stencil.radius}`
        : stencil.shape === 'star' && stencil.radius === 1
          ? ', Cartesian'
          : ''
  // Over two ranks or one, an edge that wraps is also one that does not.
  const known = periods.filter((_, dimension) => translations.dims[dimension] > 2)
  const wrap = !known.some(Boolean) ? '' : known.every(Boolean) ? ', periodic' : ', partly periodic'
  return `${translations.dims.join(' x ')}, ${figure(offsets.length)} offsets${name}${wrap}`
}

/** Returns null if there are no offsets, or too many for a line. */
function gridSpec(translations: TranslationFinding & { kind: 'invariant' }): string | null {
  if (
    translations.stencil === null &&
    (translations.offsets.length === 0 || translations.offsets.length > 100)
  )
    return null
  return formatTopologySpec(translationSpec(translations))
}

function commonText(common: CommonNeighbors, sharedNode: boolean): string {
  if (common.kind !== 'counted') return 'not counted, too many pairs'
  return `mean ${figure(common.mean)}, max ${figure(common.max)} per pair${sharedNode ? ' on the same node' : ''}`
}

function hyperedgeText(mean: number | null): string {
  return mean === null ? 'not counted, too many' : `${figure(mean)} per rank`
}

function messagesText(messages: number, direct: number): string {
  return `${figure(messages)} instead of ${figure(direct)} (${change(messages, direct)})`
}
