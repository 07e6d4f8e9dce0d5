import { ceilLg } from '../../cost/models/modelled-algorithm.js'
import type { Collective } from '../../schedule/specification.js'

/**
 * A collective that others can stand for: it need not take longer than they take one after the other.
 *
 * @see Träff, Gropp, Thakur 2010, Self-consistent MPI performance guidelines, §3
 */
export interface CompositionGuideline {
  readonly collective: Collective
  readonly parts: readonly GuidelinePart[]
}

export interface GuidelinePart {
  readonly collective: Collective
  /** Returns the bytes of the part for a call of `bytes` on P processes. */
  bytes(bytes: number, P: number): number
}

const part = (collective: Collective, bytes: GuidelinePart['bytes'] = (n) => n): GuidelinePart => ({
  collective,
  bytes,
})
const times = (n: number, P: number) => n * P
const over = (m: number, P: number) => Math.ceil(m / P)
const nothing = () => 0

export const compositionGuidelines: readonly CompositionGuideline[] = [
  { collective: 'allgather', parts: [part('gather'), part('bcast', times)] },
  { collective: 'allgather', parts: [part('alltoall')] },
  { collective: 'bcast', parts: [part('scatter', over), part('allgather', over)] },
  { collective: 'gather', parts: [part('allgather')] },
  { collective: 'scatter', parts: [part('bcast', times)] },
  { collective: 'reduce', parts: [part('allreduce')] },
  { collective: 'reduce', parts: [part('reduce-scatter', over), part('gather', over)] },
  { collective: 'allreduce', parts: [part('reduce'), part('bcast')] },
  { collective: 'allreduce', parts: [part('reduce-scatter', over), part('allgather', over)] },
  { collective: 'reduce-scatter', parts: [part('reduce', times), part('scatter')] },
  { collective: 'reduce-scatter', parts: [part('allreduce', times)] },
  { collective: 'barrier', parts: [part('allgather', nothing)] },
]

/** Returns a text such as `allgather <= gather + bcast`. */
export function guidelineText({ collective, parts }: CompositionGuideline): string {
  return `${collective} <= ${parts.map((one) => one.collective).join(' + ')}`
}

/**
 * Returns the factor by which a call may take longer on b processes than on a, from 2 to b - 1. It is in proportion, as
 * linear algorithms are, or by the rounds of doubling and one more, as past a power of two.
 */
export function allowedGrowth(a: number, b: number): number {
  return Math.max(b / a, (ceilLg(b) + 1) / ceilLg(a))
}
