import type { ErrorCode } from '../errors.js'

export interface OptionFacts<T> {
  /** A line of help on the effect of the option. */
  readonly help?: string
  /** The value if none is given. */
  readonly default?: T
  /** The computation of its default, in words, if it depends on other facts. */
  readonly computed?: string
  /** Whether a call refuses its absence. A text of options may omit it, and then its default holds. */
  readonly required?: true
  /**
   * The callers that have to pass the same value: all ranks, or the ranks of one process. Absent if values may differ.
   */
  readonly agreed?: 'ranks' | 'process'
  /** Its name in texts and on the command line. Default: its own name; on the command line with hyphens. */
  readonly word?: string
  /** The code of the error that refuses a value. Default: that of the check. */
  readonly code?: ErrorCode
}

/** The numbers that an option takes, both ends included. */
interface OptionBounds {
  readonly least?: number
  readonly most?: number
  /** The unit that the numbers count, if they have one: `seconds`. */
  readonly unit?: string
}

/**
 * An option of a call, or a parameter of a strategy. Its check, its texts, its flag, its help and the agreement of
 * ranks on it follow from it.
 */
export interface Option<T> extends OptionFacts<T>, OptionBounds {
  readonly kind: 'integer' | 'number' | 'word' | 'flag' | 'text' | 'integers' | 'object' | 'other'
  /** The values that it takes, in words: `an integer from 1 to 8`. */
  readonly expected: string
  /** The notation of its values, if `expected` does not describe it. */
  readonly written?: string
  /** All values, if they are few. */
  readonly words?: readonly T[]
  /** The options of an option that is an object of options. */
  readonly table?: NamedOptions
  is(value: unknown): boolean
  /** Returns a value from its text; undefined if the text is not one. */
  parse(text: string): T | undefined
  format(value: T): string
}

export type NamedOptions = { readonly [name: string]: Option<unknown> }

/** A description of every option of an interface. The compiler reports a missing one. */
export type OptionTable<O> = { readonly [Name in keyof O]-?: Option<Exclude<O[Name], undefined>> }

type Bounded = OptionFacts<number> & OptionBounds

export function integerOption<F extends Bounded & { readonly least: number }>(facts: F): Option<number> & F {
  const is = isIntegerWithin(facts)
  const parse = (text: string) => parsedInteger(text, is)
  return { ...facts, kind: 'integer', expected: rangeText('an integer', facts), is, parse, format: String }
}

/** Makes an option of a finite number. */
export function numberOption<F extends Bounded>(facts: F): Option<number> & F {
  const { least = -Infinity, most = Infinity, unit = 'a number' }: OptionBounds = facts
  const is = (value: unknown) =>
    Number.isFinite(value) && (value as number) >= least && (value as number) <= most
  const parse = (text: string) =>
    /^-?\d+(\.\d+)?$/.test(text) && is(Number(text)) ? Number(text) : undefined
  return { ...facts, kind: 'number', expected: rangeText(unit, facts), is, parse, format: String }
}

/** Makes an option of one word out of several. */
export function wordOption<const W extends string, F extends OptionFacts<NoInfer<W>>>(
  words: readonly W[],
  facts: F = {} as F,
): Option<W> & F {
  return {
    ...facts,
    kind: 'word',
    words,
    expected: words.length > 2 ? `one of ${words.join(', ')}` : words.join(' or '),
    is: (value) => words.includes(value as W),
    parse: (text) => words.find((word) => word === text),
    format: String,
  }
}

export function flagOption<F extends OptionFacts<boolean>>(facts: F = {} as F): Option<boolean> & F {
  return {
    ...facts,
    kind: 'flag',
    words: [true, false],
    expected: 'true or false',
    is: (value) => typeof value === 'boolean',
    parse: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
    format: String,
  }
}

export function textOption<F extends OptionFacts<string>>(facts: F = {} as F): Option<string> & F {
  const is = (value: unknown) => typeof value === 'string'
  return { ...facts, kind: 'text', expected: 'a text', is, parse: (text) => text, format: String }
}

/** Makes an option of integers within bounds, joined by dots in texts. */
export function integersOption<
  F extends OptionFacts<readonly number[]> & OptionBounds & { readonly least: number },
>(facts: F): Option<readonly number[]> & F {
  const isOne = isIntegerWithin(facts)
  return {
    ...facts,
    kind: 'integers',
    expected: rangeText('integers', facts),
    written: 'joined by dots',
    is: (value) => Array.isArray(value) && value.every(isOne),
    parse: (text) => allOf(text.split('.').map((part) => parsedInteger(part, isOne))),
    format: (value) => value.join('.'),
  }
}

/**
 * Makes an option of lists of integers, one per dimension: joined by dots, the dimensions by slashes, with 1 for an
 * empty list.
 */
export function integerListsOption<
  F extends OptionFacts<readonly (readonly number[])[]> & { readonly least: number },
>(facts: F): Option<readonly (readonly number[])[]> & F {
  const list = integersOption({ least: facts.least })
  return {
    ...facts,
    kind: 'integers',
    expected: `per dimension ${list.expected}`,
    written: 'joined by dots, dimensions joined by /',
    is: (value) => Array.isArray(value) && value.every(list.is),
    parse: (text) => allOf(text.split('/').map((part) => list.parse(part))),
    format: (value) => value.map((part) => list.format(part) || '1').join('/'),
  }
}

/** Makes an option whose values no text can give, from their description and a test of them. */
export function valueOption<T>(
  expected: string,
  is: (value: unknown) => boolean,
  facts: OptionFacts<T> = {},
): Option<T> {
  return { ...facts, kind: 'other', expected, is, parse: () => undefined, format: String }
}

export function objectOption<O>(table: OptionTable<O>, facts: OptionFacts<O> = {}): Option<O> {
  const isObject = (value: unknown) => typeof value === 'object' && value !== null
  return {
    ...valueOption('an object of options', isObject, facts),
    kind: 'object',
    table: table as NamedOptions,
  }
}

/** Makes an option of a number of bytes within bounds: `1000`, or with a unit, `64KiB`, `1MiB`. */
export function bytesOption<F extends Bounded & { readonly least: number }>(facts: F): Option<number> & F {
  const is = isIntegerWithin(facts)
  const parse = (text: string): number | undefined => {
    const [, count = '', unit = ''] = /^(\d+)(KiB|MiB|GiB)?$/.exec(text) ?? []
    return parsedInteger(count === '' ? '' : String(Number(count) * byteUnits[unit]), is)
  }
  const format = (bytes: number): string => {
    const unit = ['GiB', 'MiB', 'KiB'].find((name) => bytes > 0 && bytes % byteUnits[name] === 0) ?? ''
    return `${bytes / byteUnits[unit]}${unit}`
  }
  const written = 'in bytes, or with KiB, MiB or GiB'
  return { ...facts, kind: 'integer', expected: rangeText('an integer', facts), written, is, parse, format }
}

const byteUnits: Readonly<Record<string, number>> = { '': 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 }

export const functionOption: Option<never> = valueOption('a function', (value) => typeof value === 'function')

export const urlOption: Option<URL> = valueOption('a URL', (value) => value instanceof URL)

export const positiveOption: Option<number> = valueOption(
  'a positive number',
  (value) => Number.isFinite(value) && (value as number) > 0,
)

export const signalOption: Option<AbortSignal> = valueOption(
  'an AbortSignal',
  (value) => value instanceof AbortSignal,
)

/** An option whose value is checked where it is used, with the facts that are known there. */
export const uncheckedOption: Option<never> = valueOption('any value', () => true)

/** Makes entries of options that are checked where they are used. */
export function uncheckedOptions<Name extends string>(...names: readonly Name[]) {
  return Object.fromEntries(names.map((name) => [name, uncheckedOption])) as Record<Name, Option<never>>
}

function isIntegerWithin({ least = 0, most = Number.MAX_SAFE_INTEGER }: OptionBounds) {
  return (value: unknown): boolean =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most
}

function rangeText(
  noun: string,
  { least = Number.MIN_SAFE_INTEGER, most = Number.MAX_SAFE_INTEGER }: OptionBounds,
) {
  if (most < Number.MAX_SAFE_INTEGER) return `${noun} from ${least} to ${most}`
  return least === Number.MIN_SAFE_INTEGER ? noun : `${noun} >= ${least}`
}

function parsedInteger(text: string, is: (value: unknown) => boolean): number | undefined {
  return /^\d+$/.test(text) && Number.isSafeInteger(Number(text)) && is(Number(text))
    ? Number(text)
    : undefined
}

function allOf<T>(parsed: readonly (T | undefined)[]): readonly T[] | undefined {
  return parsed.every((value) => value !== undefined) ? parsed : undefined
}
