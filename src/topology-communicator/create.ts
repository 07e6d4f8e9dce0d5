import type { WaitOptions } from '../base/abort.js'
import { hashText } from '../base/hash.js'
import { requireOptions } from '../base/known-options.js'
import { indexIn, inversePermutation } from '../base/search.js'
import { whileLoading } from '../base/turn.js'
import type { Exchange } from '../calls/exchange/exchange.js'
import { type CollectiveCall, failAllRanks } from '../calls/matching/collective-call.js'
import type { topologyCalls } from '../calls/signature.js'
import type { CommHandle, CommState } from '../comm/comm-state.js'
import { contextLike, contextOver } from '../comm/create.js'
import { rankTable, worldRanksOf } from '../comm/table/rank-table.js'
import { isRankweaveError, RankweaveError, wrongValue } from '../errors.js'
import { isMachine, type Machine, nodeOf } from '../machine/machine.js'
import { formatMachine, machineFacts } from '../machine/machine-text.js'
import { profileOf } from '../machine/network.js'
import { requireCores } from '../machine/nodes.js'
import { CallSite, calledAt } from '../messages/process/call-sites.js'
import { type AutoStrategy, checkAuto, formatAuto, isAuto } from '../neighborhood/choose/auto.js'
import type { PlanStore } from '../neighborhood/plan/plan-store.js'
import {
  checkedKind,
  formatStrategy,
  groupingOf,
  type Strategy,
} from '../neighborhood/strategies/strategies.js'
import { refuseSimulation } from '../topology/friends/grouping-options.js'
import {
  checkPlanStore,
  type PlanFrom,
  type ReorderOptions,
  reorderOptions,
  reorderText,
} from './arguments.js'
import type { Neighborhood, TopologyOrPlan } from './plan/neighborhood.js'

/** Options for the neighborhood collectives of a communicator. All ranks pass the same. */
export interface TopologyOptions extends WaitOptions {
  /**
   * The strategy of the collectives. With `auto` the library chooses one per class of block lengths, by the times that
   * the simulator predicts for the machine. Default: `{ kind: 'auto' }` with a machine that has a profile, also that of
   * the world, else `{ kind: 'direct' }`.
   */
  readonly strategy?: Strategy | AutoStrategy
  /**
   * Nodes and cores of the ranks, for strategies that know nodes: rank r of this communicator is on core r. Default: that
   * of the world, whose core r has rank r of the world; without one, the nodes of the world's processes.
   */
  readonly machine?: Machine
  /**
   * The store that retains plans of neighbor allgathers between programs, such as {@link planDirectory} returns. All
   * ranks or none pass one. The plan is then made or read, verified and compared between processes when the
   * communicator is created. Plans from neighbors, and those that `auto` chooses at the calls, are not stored.
   */
  readonly planCache?: PlanStore
  /**
   * Renumbers the ranks so that less data leaves their nodes. Vertex v of the topology becomes rank v of the new
   * communicator, in the process that a mapping chose, so a caller's rank may change. Its neighbors are those of its
   * new rank. Default false. Costs: each process gathers the topology and all wait for the mapping. If ranks plan from
   * their neighbors, process 0 gathers a smaller graph (docs/placement.md).
   */
  readonly reorder?: boolean | ReorderOptions
}

/** Returns the strategy of some options, or its default in their world. */
export function strategyOf(
  comm: CommHandle,
  options: TopologyOptions & { readonly planFrom?: PlanFrom },
): Strategy | AutoStrategy {
  const { strategy, machine = machineOfWorld(comm), planFrom } = options
  if (strategy !== undefined) return strategy
  // The library cannot choose without the whole graph.
  if (planFrom === 'neighbors') return { kind: 'direct' }
  // The profile is undefined in machines from JSON that leaves it out.
  return (machine?.profile ?? null) === null ? { kind: 'direct' } : { kind: 'auto' }
}

/** Returns the machine of a communicator's world; undefined if its world has none. */
export const machineOfWorld = (comm: CommHandle): Machine | undefined =>
  comm.seat().state.runtime.options.machine

/** Makes the handle of the rank with this local index on a communicator with a topology. */
type MakeTopologyHandle<H> = (state: CommState, localIndex: number, neighborhood: Neighborhood) => H

/** Loads what makes handles on graphs and on grids. */
export type LoadHandles<G, C> = () => Promise<{
  readonly graphHandle: MakeTopologyHandle<G>
  readonly cartHandle: MakeTopologyHandle<C>
}>

/** The modules that only creations and their communicators need. */
type CreationModules = typeof import('./creation.js')
let loaded: CreationModules | undefined
const creationModules = async () => (loaded ??= await import('./creation.js'))

interface Creation<C, H> {
  readonly name: (typeof topologyCalls)[number]
  /** The number of ranks of the topology as far as this rank knows: those of the communicator, or fewer. */
  readonly ranks: number
  readonly contribution: C
  /**
   * Makes the topology, the same on every process, or the plan of this process's ranks; null for a topology without
   * ranks. A RankweaveError that it throws is the same on all processes, and every rank gets it.
   *
   * @param hosted what each rank of this process contributed
   * @param reorder how ranks are renumbered if no process has the whole topology; otherwise the caller renumbers them
   */
  make(
    modules: CreationModules,
    state: CommState,
    exchange: Exchange,
    hosted: readonly C[],
    reorder: ReorderOptions | null,
  ): TopologyOrPlan | null | Promise<TopologyOrPlan | null>
  /** Whether every process has the whole topology, and so needs the whole rank table; otherwise ranks may plan alone. */
  readonly isWhole: boolean
  readonly agreed: readonly (string | number)[]
  /** Loads what makes the handles. */
  handle(): Promise<MakeTopologyHandle<H>>
}

/**
 * Makes a communicator over the first ranks of `comm`, as many as the topology has; returns null on the others.
 *
 * @throws ERR_STRATEGY, ERR_MACHINE before anything is sent
 */
export function createWith<C, H>(
  comm: CommHandle,
  options: TopologyOptions,
  creation: Creation<C, H>,
): Promise<H | null> {
  requireOptions('topology', options)
  const { machine, planCache } = options
  const reorder = reorderOptions(options.reorder, machine)
  const strategy = strategyOf(comm, options)
  checkPlanStore(planCache)
  const { state, localIndex } = comm.seat()
  checkStrategy(strategy, machine, creation.ranks)
  if (isAuto(strategy)) requireProfile(machine ?? machineOfWorld(comm))
  if (reorder?.machine !== undefined) {
    const { firstRank, cores } = reorder.machine
    requireCores(creation.ranks, firstRank[cores.length])
  }
  if (creation.isWhole) refuseSimulation(creation.name, groupingOf(strategy)?.engine)
  const { callSites } = state.runtime
  const site = callSites === undefined ? undefined : new CallSite()
  const refused = ({ code, message, details, cause }: RankweaveError) =>
    new RankweaveError(code, `${creation.name}: ${message}${calledAt(callSites, site)}`, { details, cause })
  const call: CollectiveCall<C, H | null> = {
    signature: {
      name: creation.name,
      ...agreementOf(strategy, machine, [
        ...creation.agreed,
        planCache === undefined ? '' : 'stored',
        reorderText(reorder),
      ]),
    },
    unplaced: !creation.isWhole,
    run: async (hosted, exchange) => {
      // The first creation loads them inside its collective call, so that calls keep their order.
      const [modules, handle] = await whileLoading(() => Promise.all([creationModules(), creation.handle()]))
      await modules.prepareEngine(groupingOf(strategy)?.engine)
      let given: TopologyOrPlan | null
      let slotOf: Int32Array | null = null
      try {
        given = await creation.make(modules, state, exchange, hosted, reorder)
        if (reorder !== null && given !== null && !('plan' in given))
          slotOf = await modules.reorderedSlots(state, exchange, given.topology, reorder)
      } catch (error) {
        if (!isRankweaveError(error)) throw error
        const isNamed = error.message.startsWith(`${creation.name}: `)
        return failAllRanks(hosted.length, isNamed ? error : refused(error))
      }
      if (given === null) return hosted.map(() => null)
      const { ranks } = 'plan' in given ? given.plan : given.topology
      const moved = 'plan' in given ? given.moved : undefined
      const made = moved?.state ?? (await contextOfFirst(state, exchange, ranks, slotOf))
      const choice = isAuto(strategy)
        ? { strategy: { kind: 'direct' } as const, auto: strategy, machine, slotOf }
        : { strategy, machine, slotOf }
      const neighborhood = made && new modules.Neighborhood(made, given, choice)
      // Some ranks choose at their calls; the lengths of blocks do not change this preparation.
      await neighborhood?.prepareChoices()
      if (planCache !== undefined && !('plan' in given) && !isAuto(strategy)) {
        try {
          await modules.planByStore(exchange, neighborhood, planCache)
        } catch (error) {
          if (!isRankweaveError(error)) throw error
          return failAllRanks(hosted.length, error)
        }
      }
      if (made === null || neighborhood === null) return hosted.map(() => null)
      const rankOf = slotOf === null ? null : inversePermutation(slotOf)
      return hosted.map((_, index) => {
        const slot = state.localRanks[index]
        if (slot >= ranks) return null
        const rank = moved === undefined ? rankOf?.[slot] : moved.vertexAt[index]
        // Ranks that are not reordered keep their numbers, and so their local indices.
        const local = rank === undefined ? index : indexIn(made.localRanks, rank)
        return handle(made, local, neighborhood)
      })
    },
  }
  return state.collectives.call(localIndex, call, creation.contribution, options)
}

/**
 * Creates a context over the first ranks, in the order of `slotOf` if there is one; null if no such rank is hosted. All
 * ranks in their order need no placed table.
 */
async function contextOfFirst(
  state: CommState,
  exchange: Exchange,
  ranks: number,
  slotOf: Int32Array | null,
): Promise<CommState | null> {
  if (ranks === state.size && slotOf === null) return contextLike(state, exchange)
  const worldRanks = worldRanksOf(state.wholeTable)
  const table = slotOf === null ? worldRanks.slice(0, ranks) : slotOf.map((slot) => worldRanks[slot])
  return contextOver(state, exchange, rankTable(table))
}

/** Raises the errors of planning before anything is sent. */
function checkStrategy(strategy: Strategy | AutoStrategy, machine: Machine | undefined, ranks: number): void {
  const auto = isAuto(strategy) ? strategy : null
  if (auto === null) checkedKind(strategy as Strategy, ranks)
  else checkAuto(auto)
  if (machine !== undefined && !isMachine(machine))
    throw wrongValue('ERR_MACHINE', 'expected a machine', machine)
  // This runs only if it will throw: every rank checks its arguments, and the result has an entry per rank.
  if (machine !== undefined && machine.firstRank[machine.cores.length] < ranks) nodeOf(machine, ranks)
}

/** @throws ERR_MACHINE */
function requireProfile(machine: Machine | undefined): void {
  if (machine === undefined)
    throw new RankweaveError('ERR_MACHINE', 'strategy auto: expected a machine with a profile, got none')
  profileOf(machine)
}

/**
 * Returns what ranks agree on besides the name of the call: the strategy as text, which errors show, and a hash. The
 * hash differs almost surely when ranks pass different machines or other arguments.
 *
 * @param machine of the options; undefined stands for the machine of the world, which all processes have, or for its
 *   nodes
 */
function agreementOf(
  strategy: Strategy | AutoStrategy,
  machine: Machine | undefined,
  others: readonly (string | number)[],
): { readonly op: string; readonly extra: number } {
  const text = [
    machine === undefined ? 'of the world' : formatMachine(machine),
    // The costs of the machine decide what `auto` chooses.
    isAuto(strategy) && machine !== undefined ? machineFacts(machine) : '',
    ...others,
  ].join(' ')
  return { op: isAuto(strategy) ? formatAuto(strategy) : formatStrategy(strategy), extra: hashText(text) }
}
