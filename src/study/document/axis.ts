import { largestOf, smallestOf } from '../../base/extrema.js'
import type { Axis } from './document.js'
import { bytesText, numberText } from './figure-text.js'

/** Where values are on an axis, and its marks. */
export interface ScaledAxis {
  /** 0 at the beginning, 1 at the end. */
  at(value: number): number
  readonly marks: readonly { readonly value: number; readonly text: string }[]
}

const mostMarks = 9

/** An axis that holds all values; a logarithmic one takes values above 0 alone. */
export function scaledAxis({ scale }: Axis, values: readonly number[]): ScaledAxis {
  const [low, high] = values.length === 0 ? [1, 2] : [smallestOf(values), largestOf(values)]
  switch (scale) {
    case 'bytes':
      return powers(2, Math.log2(Math.max(1, low)), Math.log2(Math.max(1, high)), bytesText)
    case 'logarithmic':
      return powers(10, Math.floor(Math.log10(low)), Math.ceil(Math.log10(high)), numberText)
    case 'linear':
      return linear(Math.min(0, low), high)
  }
}

function powers(base: number, from: number, to: number, text: (value: number) => string): ScaledAxis {
  const end = to > from ? to : from + 1
  const step = Math.max(1, Math.ceil((end - from) / mostMarks))
  const exponents: number[] = []
  for (let e = Math.ceil(from); e <= end; e += step) exponents.push(e)
  return {
    at: (value) => (Math.log(Math.max(value, base ** from)) / Math.log(base) - from) / (end - from),
    marks: exponents.map((e) => ({ value: base ** e, text: text(Number((base ** e).toPrecision(12))) })),
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
