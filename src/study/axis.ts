import { largestOf, smallestOf } from '../base/search.js'
import type { Axis } from './document.js'
import { bytesText, numberText } from './figure-text.js'

export interface ScaledAxis {
  /** Returns the position of a value: 0 at the beginning, 1 at the end. */
  at(value: number): number
  readonly marks: readonly { readonly value: number; readonly text: string }[]
}

const mostMarks = 9

/** Returns an axis that holds all values; a logarithmic one takes only values above 0. */
export function scaledAxis({ scale }: Axis, values: readonly number[]): ScaledAxis {
  const [low, high] = values.length === 0 ? [1, 2] : [smallestOf(values), largestOf(values)]
  switch (scale) {
    case 'bytes':
      return octaves(Math.log2(Math.max(1, low)), Math.log2(Math.max(1, high)))
    case 'logarithmic':
      return decades(low, high)
    case 'linear':
      return linear(Math.min(0, low), high)
  }
}

/** Returns an axis for lengths of blocks, with marks at powers of two. */
function octaves(from: number, to: number): ScaledAxis {
  const end = to > from ? to : from + 1
  const step = Math.max(1, Math.ceil((end - from) / mostMarks))
  const marks: { value: number; text: string }[] = []
  for (let e = Math.ceil(from); e <= end; e += step) marks.push({ value: 2 ** e, text: bytesText(2 ** e) })
  return { at: (value) => (Math.log2(Math.max(value, 2 ** from)) - from) / (end - from), marks }
}

const digits = [1, 2, 5]

/**
 * Returns an axis from and to a 1, 2 or 5 times a power of ten. It has marks at all of these, or at powers of ten if
 * they are too many.
 */
function decades(low: number, high: number): ScaledAxis {
  const steps: number[] = []
  for (let e = Math.floor(Math.log10(low)) - 1; e <= Math.ceil(Math.log10(high)) + 1; e++)
    for (const digit of digits) steps.push(Number((digit * 10 ** e).toPrecision(1)))
  const first = steps.findLastIndex((step) => step <= low)
  const last = Math.max(
    first + 1,
    steps.findIndex((step) => step >= high),
  )
  const [from, to] = [Math.log10(steps[first]), Math.log10(steps[last])]
  const all = steps.slice(first, last + 1)
  const tens = all.filter((step) => Math.abs(Math.log10(step) - Math.round(Math.log10(step))) < 1e-9)
  const every = Math.ceil(tens.length / mostMarks)
  const values = all.length <= mostMarks ? all : tens.filter((_, i) => i % every === 0)
  return {
    at: (value) => (Math.log10(value) - from) / (to - from),
    marks: values.map((value) => ({ value, text: numberText(value) })),
  }
}

function linear(low: number, high: number): ScaledAxis {
  const span = high > low ? high - low : 1
  const power = 10 ** Math.floor(Math.log10(span / 5))
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= span / 6) ?? 10)
  const first = Math.floor(low / step)
  const last = Math.ceil((low + span) / step)
  const marks = Array.from({ length: last - first + 1 }, (_, i) => {
    const value = Number(((first + i) * step).toPrecision(12))
    return { value, text: numberText(value) }
  })
  return { at: (value) => (value / step - first) / (last - first), marks }
}
