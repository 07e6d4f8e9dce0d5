import type { Option } from '../../base/option.js'
import { checkOptions, optionsText, withDefaults } from '../../base/option-table.js'
import type { Specification } from '../../schedule/specification.js'
import type { Algorithm, CombinationOrder, Shape } from './algorithm.js'
import type { RankOperations } from './rank-operations.js'

/** The parameters of an algorithm: integers, each with its bounds, its default and what it means. */
export type ParameterTable = Readonly<Record<string, Option<number> & { readonly default: number }>>

export type ParameterValues<Table extends ParameterTable> = { readonly [Name in keyof Table]: number }

/** An {@link Algorithm} whose functions are given the values of its parameters as well. */
export interface AlgorithmFamily<Table extends ParameterTable>
  extends Pick<Algorithm, 'id' | 'collective' | 'catalogue' | 'isAlongPath'> {
  readonly parameters: Table
  parts?(shape: Shape, values: ParameterValues<Table>): number
  refuses?(shape: Shape, values: ParameterValues<Table>): string | null
  order?(shape: Shape, values: ParameterValues<Table>): CombinationOrder
  emit(
    shape: Shape,
    rank: number,
    operations: RankOperations,
    specification: Specification,
    values: ParameterValues<Table>,
  ): void
}

/** Algorithms of a family that are retained, so that equal values give the same object. */
const mostRetained = 64

/** The algorithm of a family at the defaults of its parameters. */
export function parameterized<Table extends ParameterTable>(family: AlgorithmFamily<Table>): Algorithm {
  const { parts, refuses, order, emit, ...facts } = family
  const { id, parameters } = facts
  const retained = new Map<string, Algorithm>()
  const bound = (given: Readonly<Record<string, number>>): Algorithm => {
    checkOptions(id, parameters, given)
    const text = optionsText(parameters, differing(parameters, given))
    const found = retained.get(text)
    if (found !== undefined) return found
    const values = withDefaults(parameters, given) as ParameterValues<Table>
    const algorithm: Algorithm = {
      ...facts,
      id: text === '' ? id : `${id}:${text}`,
      with: bound,
      ...(parts === undefined ? {} : { parts: (shape: Shape) => parts(shape, values) }),
      ...(refuses === undefined ? {} : { refuses: (shape: Shape) => refuses(shape, values) }),
      ...(order === undefined ? {} : { order: (shape: Shape) => order(shape, values) }),
      emit: (shape, rank, operations, specification) => emit(shape, rank, operations, specification, values),
    }
    if (retained.size >= mostRetained) retained.clear()
    retained.set(text, algorithm)
    return algorithm
  }
  return bound({})
}

/** The values that are not the defaults. */
function differing(
  parameters: ParameterTable,
  given: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(given).filter(([name, value]) => value !== parameters[name].default),
  )
}
