import { type ErrorCode, RankweaveError, shown } from '../errors.js'
import { requireKnownOptions } from './known-options.js'
import type { NamedOptions, Option } from './option.js'

type Given = Readonly<Record<string, unknown>>

/**
 * Checks that options are an object, that each option is known, and each value. It suits calls that run a few times,
 * not per message.
 *
 * @throws code, or that of the option if it has one, with what was expected and what arrived
 */
export function checkOptions(
  where: string,
  table: NamedOptions,
  given: unknown,
  code: ErrorCode = 'ERR_ARGUMENT',
): void {
  requireKnownOptions(where, given, table, code)
  checkValues(where, table, given as object, code)
}

/**
 * Checks the values of an object that may have other members as well.
 * @throws code as in {@link checkOptions}
 */
export function checkValues(
  where: string,
  table: NamedOptions,
  given: object,
  code: ErrorCode = 'ERR_ARGUMENT',
): void {
  for (const name of Object.keys(table)) requireOption(where, name, table[name], (given as Given)[name], code)
}

/**
 * Checks one value.
 * @throws code as in {@link checkOptions}
 */
export function requireOption(
  where: string,
  name: string,
  option: Option<unknown>,
  value: unknown,
  code: ErrorCode = 'ERR_ARGUMENT',
): void {
  if (value === undefined && option.required !== true) return
  if (!option.is(value)) {
    const message = `${where}: expected ${name}, ${option.expected}, got ${shown(value)}`
    throw new RankweaveError(option.code ?? code, message)
  }
  if (option.table !== undefined) checkOptions(`${where}: ${name}`, option.table, value, option.code ?? code)
}

type WithDefaults<O, Table> = O & {
  readonly [Name in keyof O as Name extends keyof Table
    ? Table[Name] extends { readonly default: unknown }
      ? Name
      : never
    : never]-?: Exclude<O[Name], undefined>
}

/** Returns the options, with defaults for those that are not given. */
export function withDefaults<O extends object, Table extends NamedOptions>(
  table: Table,
  given: O,
): WithDefaults<O, Table> {
  const values = { ...given } as Record<string, unknown>
  for (const name of Object.keys(table)) {
    if (values[name] === undefined && table[name].default !== undefined) values[name] = table[name].default
  }
  return values as WithDefaults<O, Table>
}

/** Returns the given options, to pass them on. */
export function givenOptions<O extends object>(
  options: O,
): {
  readonly [Name in keyof O]?: Exclude<O[Name], undefined>
} {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as O
}

/** The comparison of options on which callers have to agree. */
export interface OptionAgreement {
  /** Returns a function that compares the options of the other ranks of a process with those of the first. */
  sameAs(first: object | undefined): (other: object | undefined) => boolean
  /**
   * Returns numbers that are equal on all ranks: for each option on which ranks agree its value or the place of its
   * word, and -1 if it is not given. Undefined if none is given.
   */
  words(given: object | undefined): number[] | undefined
}

/** Makes the comparison. Every rank compares, so only the given options take time. */
export function optionAgreement(table: NamedOptions): OptionAgreement {
  const names = new Set(Object.keys(table).filter((name) => table[name].agreed !== undefined))
  const ofRanks = [...names].filter((name) => table[name].agreed === 'ranks')
  const wordOf = (name: string, value: unknown): number =>
    value === undefined ? -1 : (table[name].words?.indexOf(value) ?? (value as number))
  return {
    sameAs(first = {}) {
      const values = new Map<string, unknown>()
      for (const name in first) {
        const value = (first as Given)[name]
        if (value !== undefined && names.has(name)) values.set(name, value)
      }
      return (other = {}) => {
        // JavaScript may pass any value here; the full check refuses it.
        if (typeof other !== 'object' || other === null) return false
        let left = values.size
        for (const name in other) {
          // The full check refuses unknown options.
          if (!Object.hasOwn(table, name)) return false
          const value = (other as Given)[name]
          if (value === undefined || !names.has(name)) continue
          if (values.get(name) !== value) return false
          left--
        }
        return left === 0
      }
    },
    words(given) {
      const values = ofRanks.map((name) => (given as Given | undefined)?.[name])
      if (values.every((value) => value === undefined)) return undefined
      return values.map((value, i) => wordOf(ofRanks[i], value))
    },
  }
}

/** Returns the given options in the order of the table: the word, the value and the text of each. */
export function writtenOptions(table: NamedOptions, given: object) {
  return Object.entries(table).flatMap(([name, { word = name, format }]) => {
    const value = (given as Given)[name]
    return value === undefined ? [] : [{ word, value, text: format(value) }]
  })
}

/** Returns the given options as one text: `k=4,mode=aware`. Equal options have equal texts. */
export function optionsText(table: NamedOptions, given: object): string {
  return writtenOptions(table, given)
    .map(({ word, text }) => `${word}=${text}`)
    .join(',')
}

/**
 * Parses the text of {@link optionsText}, in any order, with the defaults of options that calls require.
 *
 * @param refuse throws an error with what was expected and what arrived
 */
export function parsedOptions(
  table: NamedOptions,
  text: string | undefined,
  refuse: (expected: string, got: string) => never,
): Record<string, unknown> {
  const byWord = new Map(
    Object.entries(table).flatMap(([name, option]) => (hasText(option) ? [[option.word ?? name, name]] : [])),
  )
  const required = Object.entries(table).filter(([, option]) => option.required)
  const values: Record<string, unknown> = Object.fromEntries(
    required.map(([name, option]) => [name, option.default]),
  )
  const seen = new Set<string>()
  for (const words of text?.split(',') ?? []) {
    const [word, ...after] = words.split('=') as [string, ...string[]]
    const written = after.join('=')
    const name = byWord.get(word)
    if (seen.has(word)) refuse(`${word} once`, words)
    seen.add(word)
    if (name === undefined) return refuse(inWords([...byWord.keys()]), word)
    const option = table[name]
    values[name] = option.parse(written)
    if (values[name] !== undefined) continue
    if (option.words === undefined || option.written !== undefined)
      return refuse(`${word}, ${expectedText(option)}`, written)
    const all = option.words.map((value) => `${word}=${value}`)
    refuse(all.join(all.length === 2 ? ' or ' : ', '), `${word}=${written}`)
  }
  return values
}

/** Whether a text can give the option. */
function hasText({ kind }: Option<unknown>): boolean {
  return kind !== 'object' && kind !== 'other'
}

/** Returns the texts that an option takes, in words. */
export function expectedText({ expected, written, words }: Option<unknown>): string {
  if (written !== undefined) return `${expected} ${written}`
  return words === undefined ? expected : inWords(words.map(String))
}

/** Returns a line of help: the name in texts, the effect of the option, its words if it takes some, and its default. */
export function optionHelp(name: string, option: Option<unknown>): string {
  const { word = name, help = '', words } = option
  const initial = defaultText(option)
  const values = words === undefined ? '' : `: ${words.join(', ')}`
  return `${word}   ${help}${values}${initial === undefined ? '' : ` (default: ${initial})`}`
}

/** Returns the default of an option in words; undefined if it has none. */
export function defaultText(option: Option<unknown>): string | undefined {
  if (option.computed !== undefined) return option.computed
  return option.default === undefined ? undefined : option.format(option.default)
}

/** Joins names as `a, b or c`. */
function inWords(names: readonly string[]): string {
  return names.join(', ').replace(/, (?=[^ ]*$)/, ' or ')
}
