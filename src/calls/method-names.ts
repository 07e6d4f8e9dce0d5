import { algorithmText } from '../collective/algorithm-text.js'
import { algorithms, type ServedCalls, servedCalls } from '../collective/algorithms.js'
import type { Algorithm } from '../collective/patterns/algorithm.js'
import { shapeLimits } from '../collective/patterns/check-shape.js'

export interface ChosenMethod {
  readonly id?: string | undefined
  readonly segments?: number | undefined
  /** The bytes of a segment; only with an algorithm. */
  readonly segmentBytes?: number | undefined
  readonly isAnyOrder?: boolean
}

/** Names a method by its line of text: equal methods have equal names. The name is empty if nothing is chosen. */
export function methodName({ id, segments, segmentBytes, isAnyOrder = false }: ChosenMethod): string {
  const isCut = segments !== undefined || segmentBytes !== undefined
  const named = id !== undefined && isCut ? algorithmText(id, { segments, segmentBytes }) : id
  const name = named ?? (segments === undefined ? '' : `${segments} segments`)
  if (!isAnyOrder) return name
  return name === '' ? 'order any' : `${name}, order any`
}

const callsByCollective = Object.entries<ServedCalls>(servedCalls)

/**
 * The most values of a parameter that a look-up tries, alone and together with a cut. A look-up tries about 10,000
 * names.
 */
const most = { values: 4097, cut: 16 } as const
const powers = Array.from({ length: 31 }, (_, exponent) => 2 ** exponent)
const cuts: readonly ChosenMethod[] = [
  ...Array.from({ length: 64 }, (_, i) => ({ segments: i + 1 })),
  ...powers.filter((count) => count > 64 && count <= shapeLimits.segments).map((segments) => ({ segments })),
  ...powers.map((segmentBytes) => ({ segmentBytes })),
]

/**
 * Finds the name of a call's method by its hash. It tries algorithms with one parameter that is not at its default. It
 * tries up to 64 segments or a power of two, and segments of a power of two bytes.
 *
 * @returns undefined if none of these names has the hash
 */
export function methodNamed(call: string, isHashed: (name: string) => boolean): string | undefined {
  const served = callsByCollective.find(([, { calls }]) => calls.includes(call.replace(/Init$/, '')))
  if (served === undefined) return undefined
  const known = algorithms.filter(({ collective }) => collective === served[0])
  const orders = known.some(({ order }) => order !== undefined) ? [false, true] : [false]
  for (const chosen of chosenMethods(known)) {
    for (const isAnyOrder of orders) {
      const name = methodName({ ...chosen, isAnyOrder })
      if (name !== '' && isHashed(name)) return name
    }
  }
  return undefined
}

function* chosenMethods(known: readonly Algorithm[]): Generator<ChosenMethod> {
  yield { id: 'auto' }
  for (const algorithm of known) for (const id of idsOf(algorithm, most.values)) yield { id }
  for (const cut of [{}, ...cuts]) {
    if (cut.segmentBytes === undefined) yield cut
    for (const algorithm of known) for (const id of idsOf(algorithm, most.cut)) yield { ...cut, id }
  }
}

function* idsOf({ id, parameters = {} }: Algorithm, count: number): Generator<string> {
  yield id
  for (const [name, option] of Object.entries(parameters)) {
    const least = option.least ?? 0
    for (let value = least; value < least + count && option.is(value); value++)
      if (value !== option.default) yield `${id}:${option.word ?? name}=${option.format(value)}`
  }
}
