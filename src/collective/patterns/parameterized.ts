import type { NamedOptions, Option } from '../../base/option.js'
import { checkOptions, optionsText, parsedOptions } from '../../base/option-table.js'
import { shown, wrongValue } from '../../errors.js'
import type { Specification } from '../../schedule/specification.js'
import type { Algorithm, CombinationOrder, ParameterValue, Shape } from './algorithm.js'
import type { RankOperations } from './rank-operations.js'

/** The parameters of an algorithm, each with its values, its default and its meaning. */
export type ParameterTable = Readonly<
  Record<
    string,
    (Option<number> & { readonly default: number }) | (Option<string> & { readonly default: string })
  >
>

type ParameterValues<Table extends ParameterTable> = {
  readonly [Name in keyof Table]: Table[Name]['default'] extends number ? number : string
}

/** An {@link Algorithm} whose functions also take the values of its parameters. */
export interface AlgorithmFamily<Table extends ParameterTable>
  extends Pick<Algorithm, 'id' | 'collective' | 'catalog' | 'isAlongPath' | 'followsGrid'> {
  readonly parameters: Table
  parts?(shape: Shape, values: ParameterValues<Table>): number
  sections?(values: ParameterValues<Table>): number
  refuses?(shape: Shape, values: ParameterValues<Table>): string | null
  waysOf?(shape: Shape, values: ParameterValues<Table>): object
  order?(shape: Shape, values: ParameterValues<Table>): CombinationOrder
  emit(
    shape: Shape,
    rank: number,
    operations: RankOperations,
    specification: Specification,
    values: ParameterValues<Table>,
  ): void
}

/** So many algorithms of a family are retained, besides the one at the defaults, which always is. */
const mostRetained = 64

/** Returns the algorithm of a family at the defaults of its parameters. */
export function parameterized<Table extends ParameterTable>(family: AlgorithmFamily<Table>): Algorithm {
  const { parts, refuses, order, sections, waysOf, emit, ...facts } = family
  const { id, parameters } = facts
  const names = Object.keys(parameters) as (keyof Table & string)[]
  const retained = new Map<string, Algorithm>()
  const refusing = (values: ParameterValues<Table>) => (shape: Shape) =>
    sectionsRefusal(shape, sections?.(values) ?? 1) ?? refuses?.(shape, values) ?? null
  const algorithmAt = (values: ParameterValues<Table>, text: string): Algorithm => ({
    ...facts,
    id: text === '' ? id : `${id}:${text}`,
    values,
    with: bound,
    ...(parts === undefined ? {} : { parts: (shape: Shape) => parts(shape, values) }),
    ...(refuses === undefined ? {} : { refuses: refusing(values) }),
    ...(waysOf === undefined ? {} : { waysOf: (shape: Shape) => waysOf(shape, values) }),
    ...(order === undefined ? {} : { order: (shape: Shape) => order(shape, values) }),
    ...(sections === undefined ? {} : { sections: sections(values), refuses: refusing(values) }),
    emit: (shape, rank, operations, specification) => emit(shape, rank, operations, specification, values),
  })
  const valuesOf = (given: Readonly<Record<string, ParameterValue | undefined>>) =>
    Object.fromEntries(
      names.map((name) => [name, given[name] ?? parameters[name].default]),
    ) as ParameterValues<Table>
  const initial = algorithmAt(valuesOf({}), '')
  function bound(given: Readonly<Record<string, ParameterValue>>): Algorithm {
    checkOptions(id, parameters, given)
    const values = valuesOf(given)
    const differing = names.filter((name) => values[name] !== parameters[name].default)
    if (differing.length === 0) return initial
    const text = optionsText(parameters, Object.fromEntries(differing.map((name) => [name, values[name]])))
    const found = retained.get(text)
    if (found !== undefined) return found
    if (retained.size >= mostRetained) retained.clear()
    const algorithm = algorithmAt(values, text)
    retained.set(text, algorithm)
    return algorithm
  }
  return initial
}

function sectionsRefusal(shape: Shape, sections: number): string | null {
  const { segments = sections } = shape
  if (segments % sections === 0) return null
  return `the number of segments must be a multiple of ${sections}, which travel in different ways, got ${segments}`
}

/** Returns the algorithm at the defaults of its parameters, as the registry has it. */
export function atDefaults(algorithm: Algorithm): Algorithm {
  return algorithm.id.includes(':') ? algorithm.with!({}) : algorithm
}

/**
 * Parses the settings in a line of text, by name.
 *
 * @param text the whole line
 * @param settings the text after its colon
 * @param more the settings that it may have besides the parameters
 * @throws ERR_ARGUMENT with what was expected and what arrived
 */
export function parsedSettings(
  { id, parameters = {} }: Algorithm,
  text: string,
  settings: string,
  more: NamedOptions = {},
): Record<string, ParameterValue> {
  const fail = (expected: string, got: string): never => {
    throw wrongValue('ERR_ARGUMENT', `algorithm ${shown(text)}: expected ${expected}`, got)
  }
  const table = { ...parameters, ...more }
  if (Object.keys(table).length === 0) fail(`${id} without settings: it has no parameters`, settings)
  return parsedOptions(table, settings, fail) as Record<string, ParameterValue>
}
