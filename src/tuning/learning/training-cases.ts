import { bestEntry, type MeasuredData } from '../measured/measured-data.js'
import { type Attribute, isNumberAttribute, numberOf, wordOf } from '../settings/attributes.js'
import { compareWords } from '../settings/setting.js'
import type { TuningCall } from '../settings/tuning-call.js'

/** A call, and the setting that is right for it. */
export interface TrainingCase {
  readonly call: TuningCall
  readonly setting: number
}

/** Returns a case for every measured call: its best setting, of equal times the lowest. */
export function bestCases(data: MeasuredData): TrainingCase[] {
  return data.calls.map((call, row) => ({ call, setting: data.setting[bestEntry(data, row)] }))
}

export interface AttributeColumn {
  readonly attribute: Attribute
  /** The value of each case: the number, or the index of the word. */
  readonly values: Float64Array
  /** The values of a number, ascending, each once. */
  readonly distinct: readonly number[]
  /** The words, ascending. */
  readonly words: readonly string[]
}

export function columnOf(cases: readonly TrainingCase[], attribute: Attribute): AttributeColumn {
  if (isNumberAttribute(attribute)) {
    const values = Float64Array.from(cases, ({ call }) => numberOf(call, attribute))
    return { attribute, values, distinct: [...new Set(values)].sort((a, b) => a - b), words: [] }
  }
  const texts = cases.map(({ call }) => wordOf(call, attribute))
  const words = [...new Set(texts)].sort(compareWords)
  const index = new Map(words.map((word, i) => [word, i]))
  return { attribute, values: Float64Array.from(texts, (text) => index.get(text)!), distinct: [], words }
}
