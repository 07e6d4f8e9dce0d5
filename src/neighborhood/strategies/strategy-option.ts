import { RankweaveError, shown } from '../../errors.js'

/** A parameter of a strategy: how it is written in the line of text of the strategy, and what it may be. */
export interface StrategyOption {
  /** Its name in the text where that is not the name of the field. */
  readonly name?: string
  /** Undefined: not a value. */
  parse(value: string): unknown
  format(value: unknown): string
  isValid(value: unknown): boolean
  expected(name: string): string
  /** Whether errors show the name with the value. */
  readonly isWord?: boolean
}

/** An integer, at least `least`. */
export function wholeOption(least: number, name?: string): StrategyOption {
  const isValid = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= least
  return {
    ...(name === undefined ? {} : { name }),
    parse: (value) => parsedWhole(value, isValid),
    format: String,
    isValid,
    expected: (named) => `${named}, an integer >= ${least}`,
  }
}

/** One of some words. */
export function wordOption(words: readonly (string | boolean)[]): StrategyOption {
  return {
    parse: (value) => words.find((word) => String(word) === value),
    format: String,
    isValid: (value) => words.includes(value as string),
    expected: (name) => words.map((word) => `${name}=${word}`).join(words.length === 2 ? ' or ' : ', '),
    isWord: true,
  }
}

/** Integers of at least `least`, joined by dots. */
export function listOption(least: number): StrategyOption {
  const isNumber = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= least
  return {
    parse: (value) => parsedList(value, isNumber),
    format: (value) => (value as number[]).join('.'),
    isValid: (value) => Array.isArray(value) && value.every(isNumber),
    expected: (name) => `${name}, integers >= ${least} joined by dots`,
  }
}

/**
 * Lists of integers of at least `least`, at most 1, joined by dots, the lists joined by slashes; 1 for an
 * empty list.
 */
export function listsOption(least: number): StrategyOption {
  const list = listOption(least)
  return {
    parse: (value) => {
      const lists = value.split('/').map((part) => list.parse(part))
      return lists.every((part) => part !== undefined) ? lists : undefined
    },
    format: (value) => (value as number[][]).map((part) => part.join('.') || '1').join('/'),
    isValid: (value) => Array.isArray(value) && value.every((part) => list.isValid(part)),
    expected: (name) => `${name}, per dimension integers >= ${least} joined by dots, dimensions joined by /`,
  }
}

function parsedWhole(value: string, isValid: (value: unknown) => boolean): number | undefined {
  const number = Number(value)
  return /^\d+$/.test(value) && isValid(number) ? number : undefined
}

function parsedList(value: string, isValid: (value: unknown) => boolean): number[] | undefined {
  const numbers = value.split('.').map((part) => parsedWhole(part, isValid))
  return numbers.every((number) => number !== undefined) ? numbers : undefined
}

/**
 * Checks the fields of a strategy one by one. A field that its kind does not have is refused: a misspelt one
 * would have no effect.
 *
 * @throws ERR_STRATEGY
 */
export function checkOptions(
  strategy: { readonly kind: string },
  options: Readonly<Record<string, StrategyOption>>,
): void {
  for (const [field, value] of Object.entries(strategy)) {
    if (field === 'kind' || value === undefined || Object.hasOwn(options, field)) continue
    const fields = Object.keys(options).join(', ') || 'none'
    throw new RankweaveError(
      'ERR_STRATEGY',
      `${strategy.kind}: expected options among ${fields}, got ${shown(field)}`,
    )
  }
  for (const [field, option] of Object.entries(options)) {
    const value = (strategy as Readonly<Record<string, unknown>>)[field]
    if (value === undefined || option.isValid(value)) continue
    throw new RankweaveError(
      'ERR_STRATEGY',
      `${strategy.kind}: expected ${option.expected(field)}, got ${shown(value)}`,
    )
  }
}
