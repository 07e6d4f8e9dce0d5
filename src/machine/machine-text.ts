import { requireKnownOptions } from '../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../base/option.js'
import { isRankweaveError, shown } from '../errors.js'
import { topologyLimits } from '../topology/limits.js'
import { builtInProfiles } from './built-in-profiles.js'
import { checkRoom, checkTree } from './clos.js'
import { mostNodesOf } from './interior.js'
import {
  type ClosMachine,
  type ClusterMachine,
  equalPackages,
  type Machine,
  requireMachine,
  type TorusMachine,
} from './machine.js'
import {
  laidOut,
  mostNodePorts,
  mostPackages,
  type NodeOutline,
  type NodeRun,
  type Nodes,
  nodeRuns,
  outlineOf,
  portsField,
} from './nodes.js'
import { networkClauses, withNetwork } from './own-network.js'
import { failMachine, failMachineAt, type Profile } from './profile.js'
import { checkGrid } from './torus.js'

/** The most characters of a text. */
const longestText = 2 ** 20

export interface MachineTextOptions {
  /** The profiles that the text may name. Default: {@link builtInProfiles}. */
  readonly profiles?: readonly Profile[]
}

const knownOptions: OptionTable<MachineTextOptions> = uncheckedOptions('profiles')

type Outlined<M extends Machine> = Omit<M, keyof Nodes> & { readonly outline: NodeOutline }

/** A machine as its text describes it: nodes are counted, not laid out. */
type OutlinedMachine = Outlined<ClusterMachine> | Outlined<TorusMachine> | Outlined<ClosMachine>

/**
 * Returns a machine from its line of text:
 * - `cluster:nodes=103,cores=40`: equal nodes behind one switch
 * - `cluster:cores=40+40+16`: uneven ones; `102x40` stands for 102 nodes of 40 cores: `cluster:cores=102x40+16`
 * - `torus:dims=8x8x16,cores=4`: a node at each router; `mesh:dims=8x8` does not wrap, `torus:dims=8x8x4,wrap=110` in
 *   the first two dimensions only
 * - `clos:radix=40,levels=2,taper=4,nodes=1024,cores=16`: below switches of 40 ports in two levels, where a leaf switch
 *   has four ports down for each port up; `taper=5:3` five for three, without it as many up as down
 *
 * More clauses, of every kind, in any order:
 * - `packages=2`: every node's cores are divided equally among two packages; `cores=20/20+8` gives each package's cores
 * - `ports=6`: a node sends at most six messages into the network at once; without it there is no limit
 * - `profile=simgrid-fast`: the costs of messages; a machine without costs serves only for planning
 * - `latency=25us`, `bandwidth=10Gbit`, `inside=network`: your network instead of the profile's, as {@link withNetwork}
 *
 * The nodes of a torus and of a Clos network have one core unless given. A Clos network has all nodes it has room for
 * unless given.
 *
 * @throws ERR_MACHINE with what was expected and at which character, and beyond 2^20 characters; ERR_ARGUMENT unless
 *   `options` is an object
 */
export function parseMachine(text: string, options: MachineTextOptions = {}): Machine {
  const { outline, ...machine } = outlinedMachine(text, options)
  return { ...machine, ...laidOut(outline) }
}

/**
 * Works as {@link parseMachine} does, but allocates no array with an entry per node. Time: proportional to the text.
 *
 * @throws as {@link parseMachine}
 */
export function outlinedMachine(text: string, options: MachineTextOptions = {}): OutlinedMachine {
  if (typeof text !== 'string') failMachine(`expected a machine's line of text, got ${shown(text)}`)
  if (text.length > longestText)
    failMachine(`expected a machine's text of at most ${longestText} characters, got ${text.length}`)
  requireKnownOptions('parseMachine', options, knownOptions)
  const { profiles = builtInProfiles } = options
  if (!Array.isArray(profiles) || profiles.some((profile) => typeof profile?.name !== 'string'))
    failMachine(`expected a list of profiles, got ${shown(profiles)}`)
  const reader = new ClauseReader(text, ['cluster', 'torus', 'mesh', 'clos'])
  const profile = profileIn(reader, profiles)
  const ports = reader.take('ports')
  const field = portsField({ ports: ports === null ? null : reader.whole(ports, 1, mostNodePorts) })
  const machine = machineIn(reader, profile)
  reader.end()
  return { ...machine, ...field }
}

function machineIn(reader: ClauseReader, profile: Profile | null): OutlinedMachine {
  if (reader.kind === 'cluster') return clusterIn(reader, profile)
  return reader.kind === 'clos' ? closIn(reader, profile) : torusIn(reader, profile)
}

function clusterIn(reader: ClauseReader, profile: Profile | null): Outlined<ClusterMachine> {
  const nodes = reader.take('nodes')
  if (reader.peek('cores') === null) reader.fail("'nodes=N,cores=C' or 'cores=C+C+...'")
  const count = nodes === null ? null : reader.whole(nodes, 1, topologyLimits.ranks)
  return { kind: 'cluster', outline: readNodes(reader, count), profile }
}

function torusIn(reader: ClauseReader, profile: Profile | null): Outlined<TorusMachine> {
  const extents = reader.take('dims') ?? reader.fail("'dims=8x8x8'")
  if (!/^\d+(x\d+)*$/.test(extents.value)) reader.fail("extents such as '8x8x8'", extents.at)
  const dims = extents.value.split('x').map(Number)
  const wrap = reader.kind === 'torus' ? reader.take('wrap') : null
  const wraps = wrap === null ? dims.map(() => reader.kind === 'torus') : wrapsOf(reader, wrap, dims.length)
  const nodes = reader.located(extents, () => checkGrid({ dims, wraps }))
  return { kind: 'torus', outline: readNodes(reader, nodes), dims, wraps, profile }
}

function wrapsOf(reader: ClauseReader, { value, at }: Clause, dimensions: number): boolean[] {
  if (!/^[01]+$/.test(value) || value.length !== dimensions)
    reader.fail(`${dimensions} digits, 1 for a dimension that wraps and 0 for one that does not`, at)
  return Array.from(value, (digit) => digit === '1')
}

function closIn(reader: ClauseReader, profile: Profile | null): Outlined<ClosMachine> {
  const radixClause = reader.take('radix') ?? reader.fail("'radix=R,levels=L'")
  const radix = reader.whole(radixClause, 2, 2 ** 16)
  const levels = reader.whole(reader.take('levels') ?? reader.fail("'levels=L'"), 1, 16)
  const taper = reader.take('taper')
  const tree = { radix, levels, nodesPerLeaf: nodesPerLeafOf(reader, taper, radix, levels) }
  reader.located(radixClause, () => checkTree(tree))
  const count = reader.take('nodes')
  const nodes = count === null ? mostNodesOf(tree) : reader.whole(count, 1, topologyLimits.ranks)
  reader.located(count ?? radixClause, () => checkRoom(tree, nodes))
  return { kind: 'clos', outline: readNodes(reader, nodes), ...tree, profile }
}

/** Returns the ports of a leaf switch that lead to nodes, by a taper such as `4` or `5:3`. */
function nodesPerLeafOf(reader: ClauseReader, taper: Clause | null, radix: number, levels: number): number {
  if (levels === 1) return taper === null ? radix : reader.fail('no taper where there is one level', taper.at)
  const match = /^([1-9]\d{0,5})(?::([1-9]\d{0,5}))?$/.exec(taper?.value ?? '1')
  if (match === null) return reader.fail("ports down for each port up, such as '4' or '5:3'", taper?.at)
  const [down, up] = [Number(match[1]), Number(match[2] ?? 1)]
  const nodes = (radix * down) / (down + up)
  if (!Number.isInteger(nodes)) reader.fail(`a taper that divides ${radix} ports`, taper?.at)
  return nodes
}

function profileIn(reader: ClauseReader, profiles: readonly Profile[]): Profile | null {
  const clause = reader.take('profile')
  const [latency, bandwidth, inside] = networkClauses.map((key) => reader.take(key))
  const own = latency ?? bandwidth ?? inside
  if (clause === null) return own === null ? null : reader.fail("'profile=NAME' beside it", own.at)
  const names = profiles.map((profile) => profile.name).join(', ')
  const profile =
    profiles.find((profile) => profile.name === clause.value) ??
    reader.fail(`one of the profiles ${names}`, clause.at)
  if (own === null) return profile
  const textOf = (of: Clause | null) => of?.value ?? null
  const values = { latency: textOf(latency), bandwidth: textOf(bandwidth), inside: textOf(inside) }
  return reader.located(own, () => withNetwork(profile, values))
}

/** Reads and counts the nodes that {@link readNodeRuns} returns. @throws ERR_MACHINE */
function readNodes(reader: ClauseReader, nodes: number | null): NodeOutline {
  const clause = reader.peek('cores')
  const runs = readNodeRuns(reader, nodes)
  return clause === null ? outlineOf(runs) : reader.located(clause, () => outlineOf(runs))
}

/**
 * Reads the nodes that the clauses `cores` and `packages` describe. One number of cores is that of every node.
 *
 * @throws ERR_MACHINE, also if their number is not `nodes`; null accepts as many as are listed
 */
function readNodeRuns(reader: ClauseReader, nodes: number | null): NodeRun[] {
  const cores = reader.take('cores')
  const packages = reader.take('packages')
  if (cores === null) {
    if (packages !== null) reader.fail("'cores=C' with packages", packages.at)
    return [{ nodes: nodes ?? 1, packages: [1] }]
  }
  const runs =
    nodes !== null && !/[+x]/.test(cores.value)
      ? [{ nodes, packages: packagesOf(reader, cores) }]
      : listedRuns(reader, cores)
  const listed = runs.reduce((sum, run) => sum + run.nodes, 0)
  if (nodes !== null && listed !== nodes) reader.fail(`cores of ${nodes} nodes`, cores.at)
  if (packages === null) return runs
  const count = reader.whole(packages, 1, mostPackages)
  // The packages by the number of cores. A line of text may list a thousand nodes of a thousand packages each, so equal
  // ones are shared.
  const divided = new Map<number, readonly number[]>()
  return runs.map((run) => {
    const [cores] = run.packages
    if (run.packages.length > 1) reader.fail("packages either here or as '/' in cores", packages.at)
    if (cores % count !== 0) reader.fail(`a divisor of ${cores} cores`, packages.at)
    const equal = divided.get(cores) ?? equalPackages(cores, count)
    divided.set(cores, equal)
    return { nodes: run.nodes, packages: equal }
  })
}

function listedRuns(reader: ClauseReader, { value, at: start }: Clause): NodeRun[] {
  const runs: NodeRun[] = []
  let [at, nodes] = [start, 0]
  for (const part of value.split('+')) {
    const times = /^\d+x/.exec(part)?.[0] ?? ''
    const count = times === '' ? 1 : Number(times.slice(0, -1))
    if (count < 1) reader.fail('at least 1 node', at)
    nodes += count
    if (nodes > topologyLimits.ranks) reader.fail(`at most ${topologyLimits.ranks} nodes in all`, at)
    const packages = packagesOf(reader, { value: part.slice(times.length), at: at + times.length })
    runs.push({ nodes: count, packages })
    at += part.length + 1
  }
  return runs
}

/** Reads the cores of one node's packages: `40`, `20/20`. */
function packagesOf(reader: ClauseReader, { value, at }: Clause): number[] {
  if (!/^\d+(\/\d+)*$/.test(value))
    reader.fail("a number of cores such as '40', of packages '20/20', or nodes and cores such as '3x40'", at)
  return value.split('/').map((part) => {
    const cores = Number(part)
    if (cores > topologyLimits.ranks) reader.fail(`at most ${topologyLimits.ranks} cores in all`, at)
    return cores
  })
}

/** The value of a clause `key=value`, and its position. */
interface Clause {
  readonly value: string
  readonly at: number
}

/**
 * A reader of `kind:key=value,key=value`, clauses in any order, each at most once.
 *
 * @throws ERR_MACHINE with the character
 */
class ClauseReader {
  readonly kind: string
  readonly #text: string
  readonly #clauses = new Map<string, Clause>()

  constructor(text: string, kinds: readonly string[]) {
    this.#text = text
    const kind = kinds.find((name) => text.startsWith(`${name}:`))
    this.kind = kind ?? this.fail(kinds.map((name) => `'${name}:'`).join(', '), 0)
    let at = this.start
    if (at === text.length) return
    for (const clause of text.slice(at).split(',')) {
      const equals = clause.indexOf('=')
      if (equals <= 0) this.fail("a clause such as 'cores=40'", at)
      const key = clause.slice(0, equals)
      if (this.#clauses.has(key)) this.fail(`'${key}' once`, at)
      this.#clauses.set(key, { value: clause.slice(equals + 1), at: at + equals + 1 })
      at += clause.length + 1
    }
  }

  /** The position of the first clause. */
  get start(): number {
    return this.kind.length + 1
  }

  fail(expected: string, at = this.start): never {
    const got = at < this.#text.length ? shown(this.#text.slice(at)) : 'the end'
    return this.#failAt(`expected ${expected}, got ${got}`, at)
  }

  #failAt(reason: string, at: number): never {
    return failMachineAt(this.#text, at, reason)
  }

  /** Returns the clause of that key and marks it as read. */
  take(key: string): Clause | null {
    const clause = this.peek(key)
    this.#clauses.delete(key)
    return clause
  }

  /** Returns the clause of that key without marking it as read. */
  peek(key: string): Clause | null {
    return this.#clauses.get(key) ?? null
  }

  /** Returns the result of `call`, whose errors are reported at that clause. */
  located<T>({ at }: Clause, call: () => T): T {
    try {
      return call()
    } catch (error) {
      if (!isRankweaveError(error, 'ERR_MACHINE')) throw error
      return this.#failAt(error.message, at)
    }
  }

  whole({ value, at }: Clause, min: number, max: number): number {
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN
    if (!(number >= min && number <= max)) this.fail(`an integer from ${min} to ${max}`, at)
    return number
  }

  /** Fails at the first clause that was not taken. */
  end(): void {
    for (const [key, { at }] of this.#clauses) this.fail(`no clause '${key}'`, at - key.length - 1)
  }
}

/**
 * Returns the line of text that `parseMachine` reads; it contains only the name of the profile. `parseMachine` refuses
 * it if nodes differ so often that it exceeds 2^20 characters, or if some have no cores.
 *
 * @throws ERR_MACHINE unless it has the fields of a machine
 */
export function formatMachine(machine: Machine): string {
  requireMachine(machine)
  const { isEven, clauses: inNodes } = nodeClauses(machine)
  const nodes = `nodes=${machine.cores.length}`
  const clauses = [...inNodes, ...commonClauses(machine)]
  switch (machine.kind) {
    case 'cluster':
      return `cluster:${[...(isEven ? [nodes] : []), ...clauses].join(',')}`
    case 'torus':
      return `${gridText(machine)},${clauses.join(',')}`
    case 'clos':
      return `clos:${treeText(machine)},${nodes},${clauses.join(',')}`
  }
}

/**
 * Returns as text everything of a machine that plans and times depend on; the texts of equal machines are equal. It
 * contains the figures, because two profiles of one name may differ.
 */
export function machineFacts(machine: Machine): string {
  return JSON.stringify(machine, (_key, value: unknown) => {
    if (ArrayBuffer.isView(value)) return (value as Int32Array).join()
    // JSON has no Infinity, so numbers become strings.
    return typeof value === 'number' ? String(value) : value
  })
}

/** Returns the clauses that every kind of machine has apart from those of its nodes. */
function commonClauses({ profile, ports = null }: Machine): string[] {
  return [
    ...(ports === null ? [] : [`ports=${ports}`]),
    ...(profile === null ? [] : [`profile=${profile.name}`]),
  ]
}

function gridText({ dims, wraps }: TorusMachine): string {
  const extents = `dims=${dims.join('x')}`
  if (wraps.every((wrap) => wrap)) return `torus:${extents}`
  if (!wraps.some((wrap) => wrap)) return `mesh:${extents}`
  return `torus:${extents},wrap=${wraps.map(Number).join('')}`
}

function treeText({ radix, levels, nodesPerLeaf }: ClosMachine): string {
  const size = `radix=${radix},levels=${levels}`
  if (levels === 1 || 2 * nodesPerLeaf === radix) return size
  const up = radix - nodesPerLeaf
  const divisor = greatestDivisor(nodesPerLeaf, up)
  return `${size},taper=${nodesPerLeaf / divisor}${up === divisor ? '' : `:${up / divisor}`}`
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b)
}

/** Returns whether all nodes are equal, and the clauses `cores` and `packages` that `parseMachine` reads. */
function nodeClauses(nodes: Nodes): { isEven: boolean; clauses: string[] } {
  const runs = nodeRuns(nodes)
  const packages = runs[0].packages.length
  const isDivided = packages > 1 && runs.every((run) => isDividedBy(run, packages))
  const cores = runs.map((run) => {
    const ofOne = isDivided ? String(packages * run.packages[0]) : run.packages.join('/')
    return runs.length === 1 || run.nodes === 1 ? ofOne : `${run.nodes}x${ofOne}`
  })
  const clauses = [`cores=${cores.join('+')}`]
  if (isDivided) clauses.push(`packages=${packages}`)
  return { isEven: runs.length === 1, clauses }
}

function isDividedBy(run: NodeRun, packages: number): boolean {
  return run.packages.length === packages && run.packages.every((cores) => cores === run.packages[0])
}
