import { algorithms } from '../../collective/algorithms.js'
import type { Algorithm } from '../../collective/patterns/algorithm.js'
import { modeledAlgorithms } from '../../cost/models/modeled-algorithms.js'
import type { Collective } from '../../schedule/specification.js'
import { defaultAlgorithm, type TuningSetting } from './setting.js'
import { callProcesses, type TuningCall } from './tuning-call.js'

/** The algorithms that pass segments on while others arrive. */
const cutting: ReadonlySet<string> = new Set(
  modeledAlgorithms.filter(({ segmented }) => segmented).map(({ id }) => id),
)

/** The values of an integer parameter that are tried, besides its default. */
const triedValues = [1, 2, 4, 8] as const

/** Returns the ids of the library's own algorithms of a collective. */
export function ownAlgorithms(collective: Collective): string[] {
  return algorithms.filter((algorithm) => algorithm.collective === collective).map(({ id }) => id)
}

/**
 * Returns settings of the library's own algorithms that serve a call. Every algorithm has several values of its
 * parameters and, if it cuts data, is whole and in segments.
 *
 * @param segments bytes; 0 stands for whole data
 */
export function ownSettings(call: TuningCall, segments: readonly number[]): TuningSetting[] {
  const { collective, bytes } = call
  const ranks = callProcesses(call)
  return algorithms
    .filter((algorithm) => algorithm.collective === collective)
    .flatMap((algorithm) => [algorithm, ...variants(algorithm, ranks)])
    .filter((algorithm) => isServed(algorithm, ranks, call.order ?? 'any'))
    .flatMap((algorithm) =>
      cutSettings(
        algorithm,
        segments.filter((length) => length < bytes),
      ),
    )
}

/** @param segments if it cuts data */
function cutSettings(algorithm: Algorithm, segments: readonly number[]): TuningSetting[] {
  const [family] = algorithm.id.split(':', 1)
  const parameters = parametersOf(algorithm)
  const cuts = cutting.has(family) ? segments : [0]
  return cuts.map((segment) => ({
    collective: algorithm.collective,
    algorithm: family,
    parameters: segment === 0 ? parameters : { ...parameters, segment },
  }))
}

/** The ranks of a communicator that may have any number of them. */
const anyRanks = Number.POSITIVE_INFINITY

/**
 * Returns every setting of the library's own algorithms of some collectives, whatever calls they serve, each
 * collective's default first.
 *
 * @param segments bytes; 0 stands for whole data
 */
export function ownSettingTable(
  collectives: readonly Collective[],
  segments: readonly number[],
): TuningSetting[] {
  return collectives.flatMap((collective) => [
    { collective, algorithm: defaultAlgorithm, parameters: {} },
    ...algorithms
      .filter((algorithm) => algorithm.collective === collective)
      .flatMap((algorithm) => [algorithm, ...variants(algorithm, anyRanks)])
      .flatMap((algorithm) => cutSettings(algorithm, segments)),
  ])
}

/** Returns the variants with one parameter that is not at its default, and makes a difference among so many ranks. */
function variants(algorithm: Algorithm, ranks: number): Algorithm[] {
  return Object.entries(algorithm.parameters ?? {}).flatMap(([name, parameter]) =>
    triedValues
      .filter((value) => value !== parameter.default && value < ranks && parameter.is(value))
      .map((value) => algorithm.with!({ [name]: value })),
  )
}

/** Returns the values of an algorithm that differ from the defaults; measured settings have numbers only. */
function parametersOf({ parameters = {}, values = {} }: Algorithm): Record<string, number> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      typeof value === 'number' && parameters[name].default !== value ? [[name, value]] : [],
    ),
  )
}

const orders = ['tree', 'ranks', 'any'] as const

function isServed(algorithm: Algorithm, ranks: number, weakest: (typeof orders)[number]): boolean {
  const shape = { ranks, segments: algorithm.sections ?? 1 }
  if ((algorithm.refuses?.(shape) ?? null) !== null) return false
  const order = algorithm.order?.(shape)
  return order === undefined || orders.indexOf(order) <= orders.indexOf(weakest)
}
