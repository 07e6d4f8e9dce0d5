import { bytesOf } from '../../base/bytes.js'
import { sha256 } from '../../base/hash.js'
import { jsonDepth, mostJsonDepth } from '../../base/json-depth.js'
import { concatenate } from '../../base/packing.js'
import { isRankweaveError, RankweaveError, shown } from '../../errors.js'
import type { NeighborSchedule, Parameters } from '../../schedule/ir.js'
import { neighborAllgatherSpecification } from '../../schedule/specification.js'
import { verify } from '../../schedule/verify/verify.js'
import type { Grouping } from '../../topology/grouping/group-friends.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { topologyHash } from '../../topology/topology-hash.js'
import { formatStrategy, type Strategy } from '../strategies/strategies.js'
import type { Plan } from './plan.js'

/** A store that retains plans between programs. A store that rejects counts as empty. */
export interface PlanStore {
  /** Returns the bytes written under a key, or null. */
  read(key: string): Promise<Uint8Array | null>
  /** Writes bytes. A later `read` of the key gets these bytes or none. */
  write(key: string, bytes: Uint8Array): Promise<void>
  /** Receives the reason why a plan that was read is not used, or why the store failed (ERR_PLAN_CACHE). */
  onProblem?(error: Error): void
}

interface StoredPlan {
  readonly plan: Plan
  readonly isFromStore: boolean
}

/**
 * Returns the stored plan of a topology, verified; or one that `make` makes, and stores it.
 *
 * @param nodeOf node of every rank, as for `plan`
 */
export async function storedPlan(
  store: PlanStore,
  topology: ProcessTopology,
  strategy: Strategy,
  nodeOf: Int32Array | null,
  make: () => Plan,
): Promise<StoredPlan> {
  const key = planKey(topology, strategy, nodeOf)
  const bytes = await storedBytes(store, key)
  try {
    if (bytes !== null) return { plan: decodePlan(bytes, key, topology), isFromStore: true }
  } catch (error) {
    if (!isRankweaveError(error)) throw error
    store.onProblem?.(error)
  }
  const made = make()
  await storePlan(store, topology, strategy, nodeOf, made)
  return { plan: made, isFromStore: false }
}

export async function storePlan(
  store: PlanStore,
  topology: ProcessTopology,
  strategy: Strategy,
  nodeOf: Int32Array | null,
  made: Plan,
): Promise<void> {
  const key = planKey(topology, strategy, nodeOf)
  try {
    await store.write(key, encodePlan(key, made))
  } catch (error) {
    failed(store, error)
  }
}

async function storedBytes(store: PlanStore, key: string): Promise<Uint8Array | null> {
  try {
    const bytes: unknown = await store.read(key)
    if (bytes === null || bytes instanceof Uint8Array) return bytes
    throw new Error(`expected a Uint8Array or null of read, got ${shown(bytes)}`)
  } catch (error) {
    failed(store, error)
    return null
  }
}

function failed(store: PlanStore, cause: unknown): void {
  const reason = cause instanceof Error ? cause.message : String(cause)
  store.onProblem?.(new RankweaveError('ERR_PLAN_CACHE', `the store of plans failed: ${reason}`, { cause }))
}

/** The version of the planner. Raise it whenever the layout of the file, or the plan of some strategy, changes. */
const plannerVersion = 2

const magic = 'rankweave-plan'
const scheduleArrays = {
  ...{
    staging: Int32Array,
    opStart: Int32Array,
    opPhase: Int32Array,
    opKind: Uint8Array,
    opPeer: Int32Array,
  },
  ...{
    opTag: Int32Array,
    opAfter: Int32Array,
    entryStart: Int32Array,
    entryBlock: Int32Array,
    entryFrom: Int32Array,
  },
  ...{ entryRight: Int32Array, entryTo: Int32Array },
} as const
const groupArrays = ['step', 'members', 'commonStart', 'common', 'holder', 'directStart', 'direct'] as const

interface Head {
  readonly magic: string
  readonly key: string
  /** The SHA-256 of the other fields and of everything after the line. */
  readonly hash: string
  readonly strategy: string
  readonly parameters: Parameters
  readonly phases: number
  readonly planMs: number
  readonly groups: Readonly<Record<string, unknown>> | null
  /** The number of elements of every array, in the order of the file. */
  readonly lengths: readonly number[]
}

/**
 * Returns a SHA-256 of everything on which a plan depends: the version of the planner, the topology, the strategy and
 * the node of every rank. It also covers the byte order of this machine, in which files are written.
 */
export function planKey(topology: ProcessTopology, strategy: Strategy, nodeOf: Int32Array | null): string {
  const [littleEndian] = new Uint8Array(Int32Array.of(1).buffer)
  const text = [
    plannerVersion,
    littleEndian,
    topologyHash(topology),
    topology.pairing,
    // Cartesian routes follow the dimensions of a grid, which the hash of its lists does not cover.
    topology.cart === null ? '' : JSON.stringify(topology.cart),
    formatStrategy(strategy),
  ]
  const hash = sha256().update(text.join('\n'))
  if (nodeOf !== null) hash.update('\nnodes\n').update(bytesOf(nodeOf))
  return hash.digest()
}

/** Encodes a plan of the whole topology as the bytes of a file: one line of JSON, then its arrays. */
export function encodePlan(key: string, { schedule, groups, planMs }: Plan): Uint8Array {
  const arrays: (Int32Array | Uint8Array)[] = []
  for (const name of keysOf(scheduleArrays)) arrays.push(schedule[name])
  let small: Record<string, unknown> | null = null
  if (groups !== null) {
    small = { ...groups }
    for (const name of groupArrays) {
      arrays.push(groups[name])
      delete small[name]
    }
  }
  const { strategy, parameters, phases } = schedule
  const lengths = arrays.map(({ length }) => length)
  const body = concatenate(arrays.map(bytesOf))
  const head = { magic, key, hash: '', strategy, parameters, phases, planMs, groups: small, lengths }
  const line = JSON.stringify({ ...head, hash: hashOf(head, body) } satisfies Head)
  return concatenate([new TextEncoder().encode(`${line}\n`), body])
}

/**
 * Decodes the plan of a file and verifies it.
 *
 * @throws ERR_PLAN_CACHE with the reason why the file is not used: it has another plan, is truncated or altered, or its
 *   plan is wrong
 */
export function decodePlan(bytes: Uint8Array, key: string, topology: ProcessTopology): Plan {
  const end = bytes.indexOf(10)
  const head = headOf(bytes.subarray(0, Math.max(0, end)))
  if (head === null) throw unusable('it does not begin as a plan')
  if (head.key !== key) throw unusable('it is of another topology, strategy or version')
  const body = bytes.subarray(end + 1)
  if (head.hash !== hashOf({ ...head, hash: '' }, body)) throw unusable('it is truncated or altered')
  const arrays = new ArraysOf(body, head.lengths)
  const schedule = {
    ...{ specification: neighborAllgatherSpecification(topology), topology },
    ...{ strategy: head.strategy, parameters: head.parameters, phases: head.phases },
    ...Object.fromEntries(keysOf(scheduleArrays).map((name) => [name, arrays.next(scheduleArrays[name])])),
  } as unknown as NeighborSchedule
  const groups =
    head.groups === null
      ? null
      : ({
          ...head.groups,
          ...Object.fromEntries(groupArrays.map((name) => [name, arrays.next(Int32Array)])),
        } as unknown as Grouping)
  const { ok, violations } = verify(schedule, topology)
  if (!ok) throw unusable(`its plan does not verify: ${violations[0]?.message}`)
  return { schedule: Object.freeze(schedule), groups, planMs: head.planMs }
}

/** Returns a digest of a plan's schedule, for comparison between processes. */
export function planDigest({ schedule }: Plan): string {
  const hash = sha256()
  for (const name of keysOf(scheduleArrays)) {
    hash.update(`${name} ${schedule[name].length}\n`).update(bytesOf(schedule[name].slice()))
  }
  return hash.digest()
}

function unusable(reason: string): RankweaveError {
  return new RankweaveError('ERR_PLAN_CACHE', `a cached plan is not used: ${reason}`)
}

function headOf(line: Uint8Array): Head | null {
  try {
    const text = new TextDecoder().decode(line)
    if (jsonDepth(text, mostJsonDepth) > mostJsonDepth) return null
    const head = JSON.parse(text) as Head | null
    return head?.magic === magic && Array.isArray(head.lengths) ? head : null
  } catch {
    return null
  }
}

function hashOf(head: Head, body: Uint8Array): string {
  const { key, strategy, parameters, phases, planMs, groups, lengths } = head
  const text = JSON.stringify([key, strategy, parameters, phases, planMs, groups, lengths])
  return sha256().update(text).update(body).digest()
}

/** Copies the arrays of a body, in order, to aligned memory. */
class ArraysOf {
  readonly #body: Uint8Array
  readonly #lengths: readonly number[]
  #at = 0
  #index = 0

  constructor(body: Uint8Array, lengths: readonly number[]) {
    // A `slice` of a Buffer would be a view of it.
    this.#body = new Uint8Array(body.buffer, body.byteOffset, body.length)
    this.#lengths = lengths
  }

  next(ArrayOf: typeof Int32Array | typeof Uint8Array): Int32Array | Uint8Array {
    const end = this.#at + (this.#lengths[this.#index++] ?? 0) * ArrayOf.BYTES_PER_ELEMENT
    const bytes = this.#body.slice(this.#at, end)
    this.#at = end
    return ArrayOf === Uint8Array ? bytes : new Int32Array(bytes.buffer, 0, bytes.length >>> 2)
  }
}

function keysOf<O extends object>(object: O): readonly (keyof O)[] {
  return Object.keys(object) as (keyof O)[]
}
