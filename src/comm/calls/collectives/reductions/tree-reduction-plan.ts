import { append } from '../../../../base/keyed-queues.js'
import type { Exchange } from '../../exchange.js'
import type { CollectiveContext } from '../plan/collective-context.js'
import { placedTree, type TreePlan, treePlan, treeShape } from '../reduce/reduction-tree.js'

/** Step of the messages of {@link planTogether}, after those of every reduction. */
const planStep = 32

/** How the reductions of a communicator combine, unless its processes have yet to plan it by {@link planTogether}. */
export function reductionPlan(state: CollectiveContext): TreePlan | undefined {
  if (state.reductionPlan === undefined && !state.wasDistributed) {
    state.reductionPlan = treePlan(treeShape(state.size, state.localRanks), {
      processOf: (rank) => state.processOfRank(rank) as number,
      endOfRun: (rank) => state.processes.endOfRun(rank),
    })
  }
  return state.reductionPlan
}

/**
 * The plan of a communicator with a distributed table, made within its first reduction. A process looks up where the
 * values of its own slots go and come from: O(ranks here * lg ranks) addresses, in one batch, not the whole table. Whether
 * a value that comes is a piece or a node only its sender knows, which reports it once.
 */
export function planTogether(state: CollectiveContext, exchange: Exchange): Promise<TreePlan> {
  state.reductionPlanning ??= planned(state, exchange).then((plan) => {
    state.reductionPlan = plan
    state.reductionPlanning = undefined
    return plan
  })
  return state.reductionPlanning
}

async function planned(state: CollectiveContext, exchange: Exchange): Promise<TreePlan> {
  const shape = treeShape(state.size, state.localRanks)
  const { right, owner, sent, pieces } = shape
  const named = new Set<number>()
  for (const half of right) if (half < 0) named.add(~half)
  for (const rank of owner) if (rank >= 0) named.add(rank)
  const ranks = Int32Array.from(named)
  const hosts = await state.processesOfRanks(ranks)
  const hostOf = new Map<number, number>()
  ranks.forEach((rank, i) => {
    hostOf.set(rank, hosts[i]!)
  })

  // Both ends list the values that one sends the other in the same order.
  const reported = new Map<number, number[]>()
  for (const slot of sent) append(reported, hostOf.get(owner[slot]!)!, slot < pieces ? 1 : 0)
  for (const [peer, kinds] of reported) exchange.send(peer, planStep, Uint8Array.from(kinds))
  const awaited = new Map<number, number[]>()
  right.forEach((half, node) => {
    if (half < 0) append(awaited, hostOf.get(~half)!, node)
  })
  const rightIsPiece = new Uint8Array(right.length)
  for (const [peer, nodes] of awaited) {
    const kinds = await exchange.receive(peer, planStep)
    nodes.forEach((node, i) => {
      rightIsPiece[node] = kinds[i]!
    })
  }
  return placedTree(shape, (rank) => hostOf.get(rank)!, rightIsPiece)
}
