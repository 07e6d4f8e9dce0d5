import { bytesOf } from '../../../../base/bytes.js'
import type { Exchange } from '../../exchange.js'
import type { Combiner } from './combiner.js'
import { nothing, type TreePlan } from './reduction-tree.js'
import { streamSteps, ValueStreams } from './value-stream.js'

/** Steps of the streams; later steps of the same exchange start at `afterTree`. */
const step = { pieceUp: 0, nodeUp: 1, pieceDown: 2, nodeDown: 3 } as const
export const afterTree = streamSteps

/** A value, and whether the tree may overwrite it. */
interface Operand<V> {
  readonly value: V
  readonly owned: boolean
}

/** Values of leaves, by local index; `owned` if they may be overwritten. */
export interface Leaves<V> {
  readonly values: readonly V[]
  readonly owned: boolean
}

/**
 * Reduces up the tree: `done` gets the total on process index 0, undefined elsewhere; at once if no frame is awaited,
 * else while the last frame is delivered. Without a promise, because most reductions have few elements.
 */
export function reduceTree<V>(
  plan: TreePlan,
  combiner: Combiner<V>,
  leaves: Leaves<V>,
  exchange: Exchange,
  done: (total: Operand<V> | undefined) => void,
): void {
  if (plan.nodes === 0 && exchange.count === 1) {
    done(foldPiece(plan, 0, combiner, leaves))
    return
  }
  const streams = new ValueStreams(exchange, combiner.sizeBytes)
  upPhase(plan, combiner, leaves, streams, foldPiece, (slots) =>
    done(exchange.me === 0 ? slots[slots.length - 1] : undefined),
  )
}

/**
 * For every leaf the combination of all leaves before it; undefined for rank 0. The values are not owned: leaves share
 * them, and they may be leaves themselves.
 */
export async function prefixTree<V>(
  plan: TreePlan,
  combiner: Combiner<V>,
  leaves: Leaves<V>,
  exchange: Exchange,
): Promise<(V | undefined)[]> {
  const leafValues: Leaves<V> = { values: leaves.values, owned: false }
  const levels = new Map<number, V[][]>()
  const pieceValue = (_: TreePlan, piece: number): Operand<V> => {
    const built = pieceLevels(plan, piece, combiner, leafValues)
    levels.set(piece, built)
    return { value: built[built.length - 1]![0]!, owned: false }
  }
  const streams = new ValueStreams(exchange, combiner.sizeBytes)
  const slots = await new Promise<Operand<V>[]>((resolve) =>
    upPhase(plan, preserving(combiner), leafValues, streams, pieceValue, resolve),
  )
  const prefixes = await downPhase(plan, combiner, slots, streams)
  const result = new Array<V | undefined>(leaves.values.length)
  for (let piece = 0; piece < plan.pieces; piece++) {
    const before = plan.isFirst[piece] === 1 ? null : { value: prefixes[piece] as V }
    spread(combiner, levels.get(piece)!, plan.pieceLocal[piece]!, before, result)
  }
  return result
}

/** Up: `done` gets the values of all my slots; right halves are sent to the owner of the node above them. */
function upPhase<V>(
  plan: TreePlan,
  combiner: Combiner<V>,
  leaves: Leaves<V>,
  streams: ValueStreams,
  valueOfPiece: (plan: TreePlan, piece: number, combiner: Combiner<V>, leaves: Leaves<V>) => Operand<V>,
  done: (slots: Operand<V>[]) => void,
): void {
  const { pieces, nodes, left, right, rightIsPiece, owner } = plan
  const slots: Operand<V>[] = []
  for (let piece = 0; piece < pieces; piece++) {
    const operand = valueOfPiece(plan, piece, combiner, leaves)
    slots.push(operand)
    if (owner[piece]! >= 0) streams.put(owner[piece]!, step.pieceUp, bytesOf(combiner.toData(operand.value)))
  }
  const resume = (): void => {
    for (let node = slots.length - pieces; node < nodes; node++) {
      const from = right[node]!
      let operand = slots[left[node]!]!
      if (from !== nothing) {
        let other: Operand<V>
        if (from >= 0) other = slots[from]!
        else {
          const fromStep = rightIsPiece[node] === 1 ? step.pieceUp : step.nodeUp
          const bytes = streams.next(~from, fromStep)
          if (bytes === undefined) {
            if (!streams.fill(~from, fromStep, resume)) return
            node--
            continue
          }
          other = { value: combiner.fromBytes(bytes), owned: true }
        }
        operand = {
          value: combiner.combine(operand.value, operand.owned, other.value, other.owned),
          owned: true,
        }
      }
      slots.push(operand)
      const above = owner[pieces + node]!
      if (above >= 0) streams.put(above, step.nodeUp, bytesOf(combiner.toData(operand.value)))
    }
    streams.flush()
    done(slots)
  }
  resume()
}

/**
 * Down: the prefix of each of my slots. Nodes are visited in descending (level, position), parents before halves, on
 * every process, for sends as for receives, so there is no circular wait.
 */
async function downPhase<V>(
  plan: TreePlan,
  combiner: Combiner<V>,
  slots: readonly Operand<V>[],
  streams: ValueStreams,
): Promise<(V | undefined)[]> {
  const { pieces, nodes, left, right, rightIsPiece, owner, isFirst } = plan
  const prefixes = new Array<V | undefined>(pieces + nodes)
  for (let node = nodes - 1; node >= 0; node--) {
    const slot = pieces + node
    if (owner[slot]! >= 0)
      prefixes[slot] = combiner.fromBytes(await streams.take(owner[slot]!, step.nodeDown))
    const before = prefixes[slot]
    prefixes[left[node]!] = before
    const to = right[node]!
    if (to === nothing) continue
    const leftValue = slots[left[node]!]!.value
    const beforeRight =
      isFirst[slot] === 1 ? leftValue : combiner.combine(before as V, false, leftValue, false)
    if (to >= 0) prefixes[to] = beforeRight
    else {
      streams.put(
        ~to,
        rightIsPiece[node] === 1 ? step.pieceDown : step.nodeDown,
        bytesOf(combiner.toData(beforeRight)),
      )
    }
  }
  streams.flush()
  for (let piece = pieces - 1; piece >= 0; piece--) {
    if (owner[piece]! >= 0) {
      prefixes[piece] = combiner.fromBytes(await streams.take(owner[piece]!, step.pieceDown))
    }
  }
  return prefixes
}

/** The value of a piece with O(lg ranks) live values: equal subtrees merge like the digits of a binary counter. */
export function foldPiece<V>(
  plan: Pick<TreePlan, 'pieceLocal' | 'pieceRanks'>,
  piece: number,
  combiner: Combiner<V>,
  leaves: Leaves<V>,
): Operand<V> {
  const first = plan.pieceLocal[piece]!
  const ranks = plan.pieceRanks[piece]!
  const { values } = leaves
  const stack: V[] = []
  const owned: boolean[] = []
  const mergeTop = () => {
    const right = stack.pop() as V
    const rightOwned = owned.pop()!
    const top = stack.length - 1
    stack[top] = combiner.combine(stack[top]!, owned[top]!, right, rightOwned)
    owned[top] = true
  }
  for (let leaf = 0; leaf < ranks; leaf++) {
    stack.push(values[first + leaf]!)
    owned.push(leaves.owned)
    for (let full = leaf + 1; full % 2 === 0; full /= 2) mergeTop()
  }
  while (stack.length > 1) mergeTop()
  return { value: stack[0]!, owned: owned[0]! }
}

/**
 * For each of `ranks` leaves from `first` on the combination of all leaves before it, of which `before` is the one before
 * the first; undefined for the first if nothing is before it. Appended to `result`.
 */
export function piecePrefixes<V>(
  combiner: Combiner<V>,
  leaves: Leaves<V>,
  first: number,
  ranks: number,
  before: { readonly value: V } | null,
  result: (V | undefined)[],
): void {
  const piece = { pieceLocal: Int32Array.of(first), pieceRanks: Int32Array.of(ranks) }
  spread(combiner, pieceLevels(piece, 0, combiner, leaves), first, before, result)
}

/** All values of a piece, by level from its leaves to its root. */
function pieceLevels<V>(
  plan: Pick<TreePlan, 'pieceLocal' | 'pieceRanks'>,
  piece: number,
  combiner: Combiner<V>,
  leaves: Leaves<V>,
): V[][] {
  const first = plan.pieceLocal[piece]!
  const levels: V[][] = [leaves.values.slice(first, first + plan.pieceRanks[piece]!)]
  for (let below = levels[0]!; below.length > 1; below = levels[levels.length - 1]!) {
    const level: V[] = []
    for (let i = 0; i < below.length; i += 2) {
      level.push(i + 1 < below.length ? combiner.combine(below[i]!, false, below[i + 1]!, false) : below[i]!)
    }
    levels.push(level)
  }
  return levels
}

/** From the prefix of a piece to the prefixes of its leaves. */
function spread<V>(
  combiner: Combiner<V>,
  levels: readonly V[][],
  first: number,
  before: { readonly value: V } | null,
  result: (V | undefined)[],
): void {
  let prefixes: (V | undefined)[] = [before?.value]
  for (let level = levels.length - 2; level >= 0; level--) {
    const values = levels[level]!
    const next = new Array<V | undefined>(values.length)
    for (let i = 0; i < values.length; i += 2) {
      const prefix = prefixes[i / 2]
      next[i] = prefix
      if (i + 1 === values.length) continue
      // Only the leftmost branch of the whole tree has no prefix.
      const isFirst = i === 0 && before === null
      next[i + 1] = isFirst ? values[i] : combiner.combine(prefix as V, false, values[i]!, false)
    }
    prefixes = next
  }
  prefixes.forEach((prefix, leaf) => {
    result[first + leaf] = prefix
  })
}

/** A combiner that overwrites nothing: the way down needs the values of the way up. */
function preserving<V>(combiner: Combiner<V>): Combiner<V> {
  return {
    sizeBytes: combiner.sizeBytes,
    combine: (left, _leftOwned, right, _rightOwned) => combiner.combine(left, false, right, false),
    toData: (value) => combiner.toData(value),
    fromBytes: (bytes) => combiner.fromBytes(bytes),
  }
}
