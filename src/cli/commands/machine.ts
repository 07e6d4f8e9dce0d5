import type { Command } from 'commander'
import { rangeAt } from '../../base/search.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { hostListText } from '../../machine/host-list-check.js'
import { levelOf, type Machine } from '../../machine/machine.js'
import { formatMachine } from '../../machine/machine-text.js'
import { interiorOf, linkName, routeBetween } from '../../machine/network.js'
import { portsField, portsOf } from '../../machine/nodes.js'
import { figuresOf, levels, type Profile } from '../../machine/profile.js'
import { readHostList, readMachine } from '../input/machine-input.js'
import { addOptions, flag, json, option, readOptions, refuseGiven } from '../input/options.js'
import { machineHelp } from '../input/spec-help.js'
import { type ExitCode, exitCodes } from '../output/exit-codes.js'
import { checkOutputs, reportRowsBeside, requireDistinctFiles, writeOutput } from '../output/output-file.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import { columns, counted, figure, oddityRows, row, table } from '../output/result-rows.js'
import { isHere, machineHere } from '../program/machine-here.js'

const help = `${machineHelp}

Prints the machine as one line of text, its size, its links and what messages cost, with the source of every figure.
Exit code 2 where the description is malformed.

--check says instead how a host list was read, and line by line what is odd although it was accepted: hosts that occur again,
names that may be of one host, hosts without slots between others, slots unlike those of nine hosts of ten, words without
effect, lines of several forms. It ends with 1 if anything is odd. With -o it writes a line 'HOST slots=N' for each host.

Examples:
  rankweave machine cluster:nodes=16,cores=16,profile=simgrid-fast
  rankweave machine torus:dims=8x8x8,profile=bluegene-p --route 0,511
  lstopo --of xml node.xml && rankweave machine node.xml,nodes=64
  srun -n 1 rankweave machine slurm --json
  rankweave machine here
  rankweave machine hosts FILE
  rankweave machine hosts FILE --check -o hosts.txt`

const optionTable = {
  route: option('--route <ranks>', 'how far apart two ranks are, and the links between them, e.g. 0,17'),
  check: flag('--check', 'of hosts: say how the list was read, and what is odd in it'),
  output: option('-o, --output <file>', 'of --check: the host list to write (-: to standard output)'),
  again: flag('--again', 'of here: measure messages, although their costs are kept'),
  json,
}

export const machineCommand: AddCommand = (command, act) => {
  addOptions(
    command
      .argument('<source>', 'one line of text, here, FILE.xml, slurm, hosts:FILE')
      .argument('[file]', "the host list after 'hosts'"),
    optionTable,
  )
    .addHelpText('after', help)
    .action(
      act(
        async (
          report: Reporter,
          source: string,
          file: string | undefined,
          raw: unknown,
          command: Command,
        ) => {
          const { again, route: ranks, check, output } = readOptions(optionTable, raw)
          if (again && !isHere(source)) throw wrongValue('ERR_USAGE', '--again: expected here', source)
          if (file !== undefined && source !== 'hosts')
            throw new RankweaveError('ERR_USAGE', `expected one description of a machine, got also '${file}'`)
          const described = file === undefined ? source : `hosts:${file}`
          if (check) {
            refuseGiven(command, ['route', 'again'], 'is not for --check')
            return await checkHosts(report, described, output)
          }
          refuseGiven(command, ['output'], 'is for --check')
          const given = isHere(source) ? await machineHere(report.note, source, again) : described
          const { machine, hosts } = readMachine(given)
          const route = ranks === undefined ? null : routeOfRanks(ranks, machine)
          const text = formatMachine(machine)
          const object = {
            machine: text,
            ...machineObject(machine),
            hosts,
            ...(route === null ? {} : { route }),
          }
          report.result(object, `${text}\n${machineText(machine, hosts, route)}`)
          return exitCodes.ok
        },
      ),
    )
}

/** Reports how a host list was read and what is odd in it, and writes it with a line for each host. */
async function checkHosts(report: Reporter, text: string, output: string | undefined): Promise<ExitCode> {
  const file = /^hosts:([^,]+)$/.exec(text)?.[1]
  if (file === undefined) throw wrongValue('ERR_USAGE', '--check: expected hosts and a file', text)
  await checkOutputs(report, output)
  if (output !== undefined)
    requireDistinctFiles([{ option: '-o', file: output }], [{ option: 'the hosts', file }])
  const { slots, forms, oddities } = readHostList(file)
  if (output !== undefined) await writeOutput(report, output, [hostListText(slots)])
  const rows = [
    row('hosts', slots.size),
    row(
      'slots',
      [...slots.values()].reduce((sum, count) => sum + count, 0),
    ),
    row('lines', forms, 'lines', `as '${forms.join("', '")}'`),
    ...oddityRows(oddities),
    ...(output === undefined ? [] : [row('written', output)]),
  ]
  reportRowsBeside(report, output, rows, file)
  return oddities.length === 0 ? exitCodes.ok : exitCodes.checkFailed
}

function routeOfRanks(text: string, machine: Machine): RouteReport {
  const last = machine.firstRank[machine.cores.length] - 1
  const match = /^(\d{1,9}),(\d{1,9})$/.exec(text)
  const [from, to] = [Number(match?.[1]), Number(match?.[2])]
  if (!(from <= last && to <= last)) {
    const message = `--route: expected two ranks from 0 to ${last} such as 0,${last}, got '${text}'`
    throw new RankweaveError('ERR_USAGE', message)
  }
  return routeReport(machine, from, to)
}

/** The distance between two ranks, and the links between them. */
interface RouteReport {
  readonly from: number
  readonly to: number
  readonly level: string
  /** The links; empty inside a node. */
  readonly links: readonly string[]
}

function routeReport(machine: Machine, from: number, to: number): RouteReport {
  const links = routeBetween(machine, rangeAt(machine.firstRank, from), rangeAt(machine.firstRank, to))
  const names = Array.from(links, (link) => linkName(machine, link))
  return { from, to, level: levelOf(machine, from, to), links: names }
}

/** Returns machine and profile as `--json` prints them. */
function machineObject(machine: Machine) {
  const { cores, packageFirstRank, profile } = machine
  const interior = interiorOf(machine)
  return {
    kind: machine.kind,
    nodes: cores.length,
    packages: packageFirstRank.length - 1,
    cores: machine.firstRank[cores.length],
    ...shapeOf(machine),
    ...portsField(machine),
    links: { nodes: 2 * cores.length, interior: interior.links },
    longestRoute: cores.length === 1 ? 0 : 2 + interior.longestPath,
    profile:
      profile === null
        ? null
        : {
            name: profile.name,
            provenance: profile.provenance,
            source: profile.source,
            figures: figuresOf(profile),
          },
  }
}

function shapeOf(machine: Machine): object {
  if (machine.kind === 'torus') return { dims: machine.dims, wraps: machine.wraps }
  if (machine.kind === 'cluster') return {}
  const { radix, levels, nodesPerLeaf } = machine
  return { radix, levels, nodesPerLeaf }
}

function machineText(machine: Machine, hosts: readonly string[] | null, route: RouteReport | null): string {
  const { links, longestRoute, nodes, cores, packages } = machineObject(machine)
  const interior = machine.kind === 'torus' ? 'between routers' : 'between switches'
  const summary = table([
    ['nodes', figure(nodes)],
    ['cores', `${figure(cores)}, ${perNode(machine.cores)}`],
    ['packages', `${figure(packages)}, ${figure(packages / nodes)} per node`],
    ['hosts', hosts === null ? null : listed(hosts)],
    [
      'links',
      `${figure(links.nodes)} of nodes${links.interior === 0 ? '' : `, ${figure(links.interior)} ${interior}`}`,
    ],
    ['ports', portsText(portsOf(machine))],
    ['longest route', counted(longestRoute, 'link', 'links')],
    [
      'profile',
      machine.profile === null
        ? 'none: messages have no cost'
        : `${machine.profile.name}, ${machine.profile.provenance}: ${machine.profile.source}`,
    ],
    ['route', route === null ? null : routeText(route)],
  ])
  return machine.profile === null ? summary : `${summary}\n\n${profileText(machine.profile)}`
}

/** Returns `6 per node, for messages at once`; null without a limit. */
function portsText(ports: number): string | null {
  return Number.isFinite(ports) ? `${figure(ports)} per node, for messages at once` : null
}

function perNode(cores: Int32Array): string {
  const [least, most] = [cores.reduce((a, b) => Math.min(a, b)), cores.reduce((a, b) => Math.max(a, b))]
  return least === most ? `${figure(most)} per node` : `${figure(least)} to ${figure(most)} per node`
}

const mostListed = 8

function listed(hosts: readonly string[]): string {
  const more = hosts.length > mostListed ? `, and ${figure(hosts.length - mostListed)} more` : ''
  return hosts.slice(0, mostListed).join(', ') + more
}

function routeText({ from, to, level, links }: RouteReport): string {
  const where = `rank ${from} to rank ${to}: level ${level}`
  return links.length === 0
    ? where
    : `${where}, ${counted(links.length, 'link', 'links')}: ${links.join(', ')}`
}

/** Returns costs per level, then further costs, then the figures with another origin. */
function profileText(profile: Profile): string {
  type Costs = Partial<Profile['levels']['network']>
  const ofLevels = levels.map((level): readonly [string, Costs] => [level, profile.levels[level]])
  const cost = (costOf: (costs: Costs) => number | undefined) => (ofLevel: readonly [string, Costs]) => {
    const ns = costOf(ofLevel[1])
    return ns === undefined ? '' : nanoseconds(ns)
  }
  const costs = columns(
    [...ofLevels, ['hop', profile.hop] as const],
    [
      ['level', ([level]) => level],
      ['latency', cost(({ latencyNs }) => latencyNs)],
      ['send', cost(({ sendOverheadNs }) => sendOverheadNs)],
      ['receive', cost(({ receiveOverheadNs }) => receiveOverheadNs)],
      ['gap', cost(({ gapNs }) => gapNs)],
      ['per byte', cost(({ nsPerByte }) => nsPerByte)],
    ],
  )
  const { copyNsPerByte, copyBlockNs, reduceNsPerByte } = profile.memory
  const headers = levels.flatMap((level): string[] => {
    const { headerBytes = 0 } = profile.levels[level]
    return headerBytes === 0 ? [] : [`${level} ${counted(headerBytes, 'byte', 'bytes')}`]
  })
  const rest = table([
    ...(headers.length === 0 ? [] : [['headers', headers.join(', ')] as const]),
    ['copy', `${nanoseconds(copyNsPerByte)} per byte, ${nanoseconds(copyBlockNs)} per block`],
    ['combination', `${nanoseconds(reduceNsPerByte)} per byte`],
    [
      'eager limit',
      Number.isFinite(profile.eagerLimitBytes) ? counted(profile.eagerLimitBytes, 'byte', 'bytes') : 'none',
    ],
    ...(profile.matchNsPerEntry === undefined
      ? []
      : [['matching', `${nanoseconds(profile.matchNsPerEntry)} per entry passed`] as const]),
  ])
  const exceptions = Object.entries(profile.exceptions).map(
    ([path, { provenance, source }]): [string, string] => [path, `${provenance}: ${source}`],
  )
  return [costs, rest, ...(exceptions.length === 0 ? [] : [table(exceptions)])].join('\n\n')
}

/** Prints three digits, since costs per byte are fractions of a nanosecond. */
function nanoseconds(ns: number): string {
  return `${ns >= 100 ? figure(Math.round(ns)) : Number(ns.toPrecision(3))} ns`
}
