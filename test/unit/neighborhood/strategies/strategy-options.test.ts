import { formatStrategy, parseStrategy, type Strategy } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import type { Option } from '../../../../src/base/option.js'
import { friendWords } from '../../../../src/client/protocol/plan-words.js'
import {
  checkedKind,
  strategies,
  strategiesHelp,
} from '../../../../src/neighborhood/strategies/strategies.js'

/** A value that an option takes, found from its description. */
function sampleOf({ kind, words, least, expected }: Option<unknown>): unknown {
  if (words !== undefined) return words.at(-1)
  if (kind === 'integer') return least
  return expected.startsWith('per dimension') ? [[2], [2]] : [Math.max(2, least ?? 0)]
}

const all = Object.entries(strategies).flatMap(([kind, { options }]) =>
  Object.entries(options).map(([name, option]) => ({ kind, name, option: option as Option<unknown> })),
)

describe('an option of a strategy is one entry of the table of its kind', () => {
  it.each(all)('$kind: $name is read, written, checked, and in help', ({ kind, name, option }) => {
    const word = option.word ?? name
    const value = sampleOf(option)
    const written = `${word}=${option.format(value)}`
    const strategy = parseStrategy(`${kind}:${written}`)
    expect(strategy).toHaveProperty(name, value)
    expect(formatStrategy(strategy).split(/[:,]/)).toContain(written)
    const wrong = { ...parseStrategy(kind), [name]: Symbol('wrong') } as unknown as Strategy
    expect(() => checkedKind(wrong, 1)).toThrow(expect.objectContaining({ code: 'ERR_STRATEGY' }))
    expect(() => checkedKind(wrong, 1)).toThrow(`${kind}: expected ${name}, ${option.expected}, got`)
    expect(option.help).toMatch(/\S/)
    expect(strategiesHelp).toContain(`      ${word}   ${option.help}`)
  })

  it('has the same bounds in texts, objects and words of a plan', () => {
    const bounds = { k: 2 ** 20, theta: 2 ** 31 - 1 }
    for (const [name, most] of Object.entries(bounds)) {
      const refused = expect.objectContaining({ code: 'ERR_STRATEGY' })
      const strategy = { ...parseStrategy('common-neighbor'), [name]: most + 1 } as Strategy
      expect(() => parseStrategy(`common-neighbor:${name}=${most + 1}`)).toThrow(refused)
      expect(() => checkedKind(strategy, 1)).toThrow(refused)
      expect(parseStrategy(`common-neighbor:${name}=${most}`)).toHaveProperty(name, most)
      expect(friendWords[name as keyof typeof bounds]).toHaveProperty('most', most)
    }
  })

  it('has a default that it takes', () => {
    const wrong = all.filter(({ option }) => option.default !== undefined && !option.is(option.default))
    expect(wrong).toEqual([])
  })

  it('has a default in texts where a strategy needs it', () => {
    const without = all.filter(({ option }) => option.required && option.default === undefined)
    expect(without).toEqual([])
  })
})

describe('the candidates of a kind', () => {
  const extents = { ranks: 16, nodes: 4, largest: 4, windows: [3, 3] }

  it.each(Object.entries(strategies))('%s: are of this kind, and valid', (kind, { candidates }) => {
    const found: readonly Strategy[] = candidates(extents)
    expect(found.length).toBeGreaterThan(0)
    for (const strategy of found) {
      expect(strategy.kind).toBe(kind)
      expect(() => checkedKind(strategy, extents.ranks)).not.toThrow()
    }
  })

  it('have a place that no other kind has', () => {
    const places = Object.values(strategies).map(({ place }) => place)
    expect(new Set(places).size).toBe(places.length)
  })
})
