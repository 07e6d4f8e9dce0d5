import { RankweaveError } from '../errors.js'
import { type ProcessProfile, type Profile, type Traffic, trafficOf } from '../profile/profile.js'
import { mapFromCommunities } from '../topology/mapping/communities.js'
import { topologyFromEdges } from '../topology/topology-builders.js'

/** Messages and bytes between ranks of different nodes. */
export interface Crossing {
  readonly messages: number
  readonly bytes: number
}

/** Another node for ranks, or another package of the one node, by what they sent each other. */
export interface PlacementPlan {
  /** The node of every rank, or its package. Each has as many ranks as today. */
  readonly nodeOf: Int32Array
  /** The numbers of packages that `nodeOf` counts from 0; undefined if it has nodes. */
  readonly packages?: readonly number[]
  readonly today: Crossing
  readonly planned: Crossing
}

/**
 * A message costs about as much as this many bytes: 20 us at 1 GB/s on Ethernet, 1.5 us at 12 GB/s on InfiniBand. It
 * only weighs messages against bytes; runs decide whether a placement is used.
 */
const messageBytes = 2 ** 14

/** A placement that leaves more than this share of the cost between nodes is not worth a trial. */
const mostLeft = 0.97

/**
 * Plans a placement of a program's ranks: between nodes, or between packages of cores if all are on one node and bound
 * to them. Returns in words why there is none.
 *
 * @throws ERR_TOPOLOGY as {@link plannedPlacement}
 */
export function placementOf(
  profile: Profile,
  launcher: PlacingLauncher,
  command: readonly string[],
): PlacementPlan | string {
  const { nodes, processes } = profile
  if (command.includes(':')) return 'the command starts several programs'
  const traffic = trafficOf(profile)
  const none = 'no other order of the ranks sends clearly less between'
  if (nodes.length > 1) {
    const nodeOf = processes.map(({ node }) => node)
    return plannedPlacement(traffic, nodeOf) ?? `${none} nodes`
  }
  const packages = [...new Set(processes.map((process) => process.package))].sort((a, b) => a - b)
  const onOneNode = 'all ranks are on one node'
  if (packages.includes(-1))
    return `${onOneNode}, not bound to packages of cores (bind them, or start it on the nodes of your job)`
  if (packages.length < 2) return `${onOneNode}, in one package of cores (start it on the nodes of your job)`
  if (launcher !== 'Open MPI') return `${onOneNode}, and only Open MPI is told packages of cores`
  const packageOf = processes.map((process) => packages.indexOf(process.package))
  const plan = plannedPlacement(traffic, packageOf)
  return plan === null ? `${none} packages of cores` : { ...plan, packages }
}

/**
 * Plans a placement in which less is sent between nodes. Returns null if there is a single node, or none is found that
 * saves at least 3% of it.
 *
 * @param nodeOf the node of every rank today
 * @throws ERR_TOPOLOGY for more traffic than a topology may have edges
 */
export function plannedPlacement(traffic: Traffic, nodeOf: ArrayLike<number>): PlacementPlan | null {
  const given = Int32Array.from(nodeOf)
  if (given.every((node) => node === given[0])) return null
  const topology = topologyFromEdges(traffic.ranks, {
    sources: traffic.edges.map(({ source }) => source),
    destinations: traffic.edges.map(({ destination }) => destination),
    weights: traffic.edges.map(({ messages, bytes }) => messages * messageBytes + bytes),
  })
  const mapping = mapFromCommunities([{ topology }], { nodeOfSlot: given, objective: 'hop-bytes' })
  if (mapping.cost >= mostLeft * mapping.identityCost) return null
  return {
    nodeOf: mapping.nodeOf,
    today: crossingOf(traffic, given),
    planned: crossingOf(traffic, mapping.nodeOf),
  }
}

/** Writes a rankfile of Open MPI for one node. If each rank is bound to a separate core today, it gets one again. */
export function packagePlacesText(
  { nodeOf, packages = [] }: PlacementPlan,
  host: string,
  processes: readonly Pick<ProcessProfile, 'core' | 'package'>[],
): string {
  const cores = new Set(processes.map((process) => `${process.package} ${process.core}`))
  const hasOwnCores = cores.size === processes.length && processes.every(({ core }) => core >= 0)
  const used = packages.map(() => 0)
  const lines = Array.from(nodeOf, (place, rank) => {
    const core = used[place]++
    return `rank ${rank}=${host} slot=${packages[place]}:${hasOwnCores ? core : '*'}\n`
  })
  return lines.join('')
}

/** Counts what crosses from node to node. */
function crossingOf({ edges }: Traffic, nodeOf: ArrayLike<number>): Crossing {
  let [messages, bytes] = [0, 0]
  for (const edge of edges) {
    if (nodeOf[edge.source] === nodeOf[edge.destination]) continue
    messages += edge.messages
    bytes += edge.bytes
  }
  return { messages, bytes }
}

/** The words by which a command places ranks, in the forms of Open MPI and MPICH, with how many words follow each. */
const placingWords: Readonly<Record<string, number>> = {
  '--map-by': 1,
  '-map-by': 1,
  '--rank-by': 1,
  '-rank-by': 1,
  '--rankfile': 1,
  '-rankfile': 1,
  '-rf': 1,
  '--npernode': 1,
  '-npernode': 1,
  '-N': 1,
  '--bynode': 0,
  '-bynode': 0,
  '--byslot': 0,
  '-byslot': 0,
  '--pernode': 0,
  '-pernode': 0,
}

/** Other options of launchers that are followed by words. */
const otherWords: Readonly<Record<string, number>> = {
  '-n': 1,
  '-np': 1,
  '--np': 1,
  '--n': 1,
  '-c': 1,
  '-x': 1,
  '--mca': 2,
  '-mca': 2,
  '--gmca': 2,
  '-gmca': 2,
  '-H': 1,
  '--host': 1,
  '-host': 1,
  '-hosts': 1,
  '--hostfile': 1,
  '-hostfile': 1,
  '--machinefile': 1,
  '-machinefile': 1,
  '-f': 1,
  '--bind-to': 1,
  '-bind-to': 1,
  '--wdir': 1,
  '-wdir': 1,
  '--prefix': 1,
  '--output-filename': 1,
  '-genv': 2,
  '-env': 2,
  '-ppn': 1,
  '-launcher': 1,
}

const rankFileWords = new Set(['--rankfile', '-rankfile', '-rf'])
const hostWords = new Set(['-H', '--host', '-host', '-hosts'])
const hostFileWords = new Set(['--hostfile', '-hostfile', '--machinefile', '-machinefile', '-f'])

/** Options of `srun` that no word follows, except in the same word: `--exclusive=user`. All others have a value. */
const slurmFlags =
  /^--(contiguous|disable-status|exact|exclusive|hold|immediate|interactive|kill-on-bad-exit|label|multi-prog|nice|no-allocate|no-kill|overcommit|overlap|oversubscribe|preserve-env|propagate|pty|quiet|quit-on-interrupt|reboot|resv-ports|send-libs|spread-job|test-only|unbuffered|use-min-nodes|verbose|whole)$|^-[OlkKHIQXvsuEZ]+$/

/** Options of `srun` that name nodes or the order of ranks, or differ from a list that has a line for every rank. */
const slurmPlacing = /^(--(distribution|nodelist|nodefile|relative|ntasks-per-node)(=|$)|-[mwFr])/
const slurmTasks = /^(--ntasks(=|$)|-n)/

/** A launcher's own words of a command, option by option, and the rest: the program with its arguments. */
interface LauncherWords {
  readonly options: readonly (readonly string[])[]
  readonly program: readonly string[]
}

/** @param followingOf returns how many words follow an option */
function launcherWords(
  [, ...words]: readonly string[],
  followingOf: (word: string) => number = (word) => placingWords[word] ?? otherWords[word] ?? 0,
): LauncherWords {
  const options: string[][] = []
  let at = 0
  while (at < words.length && words[at].startsWith('-')) {
    const following = followingOf(words[at])
    options.push(words.slice(at, at + 1 + following))
    at += 1 + following
  }
  return { options, program: words.slice(at) }
}

/** Returns how many words follow an option of `srun`: `-n 4` and `--ntasks 4` have one, `-n4` and `--ntasks=4` none. */
function followingOfSlurm(word: string): number {
  const isWhole = word.startsWith('--') ? word.includes('=') : word.length > 2
  return isWhole || slurmFlags.test(word) ? 0 : 1
}

/** The ways in which launchers are told a placement. */
export type PlacingLauncher = 'Open MPI' | 'MPICH' | 'Slurm'

/** A file of places for a program of so many ranks. */
export interface Placing {
  readonly launcher: PlacingLauncher
  readonly file: string
  readonly ranks: number
}

/** Returns a command that starts the same program with the ranks of a file of places. */
export function placedCommand(command: readonly string[], { launcher, file, ranks }: Placing): string[] {
  if (launcher === 'Slurm') return placedBySlurm(command, file, ranks)
  const { options, program } = launcherWords(command)
  const isReplaced = ([word]: readonly string[]) =>
    placingWords[word] !== undefined ||
    (launcher === 'MPICH' && (hostWords.has(word) || hostFileWords.has(word) || word === '-ppn'))
  const kept = options.filter((each) => !isReplaced(each)).flat()
  const placing = launcher === 'Open MPI' ? ['--rankfile', file] : ['-f', file]
  return [command[0], ...placing, ...kept, ...program]
}

/** Only a slash tells a file from the name of a node, and only the number of ranks is taken from no list. */
function placedBySlurm(command: readonly string[], file: string, ranks: number): string[] {
  const { options, program } = launcherWords(command, followingOfSlurm)
  const kept = options.filter(([word]) => !slurmPlacing.test(word))
  const tasks = kept.some(([word]) => slurmTasks.test(word)) ? [] : ['-n', String(ranks)]
  const list = file.includes('/') ? file : `./${file}`
  const placing = ['--distribution=arbitrary', `--nodelist=${list}`]
  return [command[0], ...placing, ...tasks, ...kept.flat(), ...program]
}

/**
 * Returns the names of nodes as the command has them, those of a rankfile by node, others in their order there; null if
 * it names none. Launchers may know a node by an address where its processes have a name.
 *
 * @param contents reads a host file or rankfile
 * @param nodeOf the node of every rank today
 */
export function hostsOfCommand(
  command: readonly string[],
  contents: (file: string) => string,
  nodeOf: ArrayLike<number>,
): readonly string[] | null {
  const { options } = launcherWords(command)
  const ranks = options.filter(([word]) => rankFileWords.has(word)).at(-1)
  if (ranks !== undefined) return hostsOfRanks(contents(ranks[1] ?? ''), nodeOf)
  const names = options.flatMap(([word, value = '']) => {
    if (hostWords.has(word)) return value.split(',').map((host) => host.replace(/:\d+$/, ''))
    if (!hostFileWords.has(word)) return []
    const lines = contents(value).split('\n')
    return lines.map((line) => line.replace(/#.*/, '').trim().split(/\s+/)[0].replace(/:\d+$/, ''))
  })
  const hosts = [...new Set(names.filter((name) => name !== ''))]
  return hosts.length === 0 ? null : hosts
}

/** Returns the host of every node by a rankfile; null if it does not name all. */
function hostsOfRanks(rankfile: string, nodeOf: ArrayLike<number>): readonly string[] | null {
  const hosts: string[] = []
  for (const [, rank, host] of rankfile.matchAll(/^\s*rank\s+(\d+)\s*=\s*(\S+)/gm)) {
    const node = nodeOf[Number(rank)]
    if (node !== undefined) hosts[node] = host
  }
  return Array.from(nodeOf).every((node) => hosts[node] !== undefined) && hosts.length > 0 ? hosts : null
}

/** A file of places, which rank is on which node. */
export interface PlacesFile {
  readonly launcher: PlacingLauncher
  readonly nodeOf: ArrayLike<number>
  /** The names of nodes, as the launcher knows them. */
  readonly hosts: readonly string[]
  /** The cores of a node. Ranks get one each if there are enough, otherwise they share all. */
  readonly cores: number
}

/**
 * Writes a file of places. Slurm names nodes without their domain.
 *
 * @throws ERR_SHIM for a node without a name
 */
export function placesText({ launcher, nodeOf, hosts, cores }: PlacesFile): string {
  const onNode = new Array<number>(hosts.length).fill(0)
  const lines = Array.from(nodeOf, (node, rank) => {
    if (hosts[node] === undefined)
      throw new RankweaveError(
        'ERR_SHIM',
        `expected names of all nodes, got ${hosts.length}: ${hosts.join(', ')}`,
      )
    const place = onNode[node]++
    return { rank, node, place }
  })
  const isCrowded = onNode.some((count) => count > cores)
  return lines
    .map(({ rank, node, place }) => {
      if (launcher === 'MPICH') return `${hosts[node]}:1\n`
      if (launcher === 'Slurm') return `${hosts[node].replace(/\..*/, '')}\n`
      const slot = isCrowded && cores > 1 ? `0-${cores - 1}` : String(isCrowded ? 0 : place)
      return `rank ${rank}=${hosts[node]} slot=${slot}\n`
    })
    .join('')
}
