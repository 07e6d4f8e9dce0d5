import { describe, expect, it } from 'vitest'
import { mooreSettings, printedRules, randomSettings } from '../../../bench/paper/chapter.js'
import { claimsOf } from '../../../bench/paper/claims.js'
import { paperDocument } from '../../../bench/paper/paper-document.js'
import type { PaperFigures } from '../../../bench/paper/paper-figures.js'
import { queueSpeedups } from '../../../bench/paper/queue-speedups.js'
import { sparseProducts } from '../../../bench/paper/sparse-products.js'
import { parseMachine } from '../../../src/machine/machine-text.js'
import { htmlOf } from '../../../src/study/html.js'
import { makeStudy } from '../../../src/study/make-study.js'
import { markdownOf } from '../../../src/study/markdown.js'
import type { Study } from '../../../src/study/study.js'
import { buildTopology } from '../../../src/topology/files/topology-from-spec.js'
import { readMatrix } from '../../support/matrices.js'
import { elementsOf } from '../../support/well-formed-xml.js'

const none: PaperFigures = {
  ...{ mooreHyperedges: [], randomHyperedges: [], moore: [], random: [], products: [] },
  ...{ queues: [], listCosts: [] },
}

/** A small study under the name of one of the chapter. */
function named(name: string, bytes: readonly number[]): Study {
  return makeStudy(buildTopology('moore:8x8:r=2'), parseMachine('cluster:nodes=4,cores=16,profile=niagara'), {
    name,
    bytes,
    strategies: [printedRules(2, 'aware'), printedRules(4, 'aware'), printedRules(2, 'agnostic')],
  })
}

const products = sparseProducts([{ name: 'ash292', pattern: readMatrix('ash292') }], {
  planSeconds: 60,
  now: () => 0,
})
const small = {
  name: 'd=2, r=4',
  topology: () => buildTopology('moore:8x8:r=2'),
  machine: parseMachine('cluster:nodes=4,cores=16,profile=niagara'),
  strategies: [printedRules(2, 'aware'), printedRules(4, 'aware'), printedRules(2, 'agnostic')],
}
const figures: PaperFigures = {
  mooreHyperedges: [{ setting: 'd=2, r=4', mode: 'aware', counts: [{ k: 8, perRank: 12.19 }] }],
  randomHyperedges: [{ setting: 'density 0.05', mode: 'aware', counts: [{ k: 3, perRank: null }] }],
  moore: [named('d=2, r=1', [4]), named('d=2, r=4', [4, 4096])],
  random: [named('density 0.2', [4, 4096]), named('density 0.4', [4, 4096])],
  products,
  queues: queueSpeedups([small], [named('d=2, r=4', [4])], () => {}),
  listCosts: [{ entries: 1024, medianNs: 4.5, leastNs: 4, mostNs: 6 }],
}

describe('chapter 7 again', () => {
  it('has the settings that are printed', () => {
    const moore = mooreSettings()
    expect(moore.map(({ name }) => name)).toEqual([
      ...['d=2, r=1', 'd=2, r=2', 'd=2, r=3', 'd=2, r=4', 'd=3, r=1', 'd=3, r=2', 'd=4, r=1'],
    ])
    expect(moore[0].topology().outRank.length).toBe(8 * 4096)
    const random = randomSettings()
    expect(random.map(({ name }) => name)).toEqual([0.05, 0.2, 0.4, 0.6, 0.8].map((d) => `density ${d}`))
    expect(random[0].topology().outRank.length).toBe(52_354)
  })

  it('has a claim for every printed value, also without figures', () => {
    const claims = claimsOf(none)
    expect(claims.length).toBeGreaterThan(20)
    for (const { ours, differencePercent } of claims) expect([ours, differencePercent]).toEqual([null, null])
    expect(claims.map(({ where, what, origin }) => `${where} ${what} ${origin}`)).toHaveLength(
      new Set(claims.map(({ where, what, origin }) => `${where} ${what} ${origin}`)).size,
    )
  })

  it('computes differences from the printed value in per cent', () => {
    const claims = claimsOf(figures)
    const of = (what: string) => claims.find((claim) => claim.what === what)!
    expect(of('d=2, r=4, aware, k=8')).toMatchObject({
      printed: 'none',
      ours: 12.19,
      differencePercent: null,
    })
    const density = of('density 0.2, k=2, 4 B')
    const expected = Math.max(
      ...figures.random[0].strategies
        .filter(({ strategy }) => strategy.includes(':k=2,'))
        .map(({ simulated }) => simulated[0].speedup),
    )
    expect(density).toMatchObject({ printed: 2.6, ours: expected })
    expect(density.differencePercent).toBeCloseTo(100 * (expected / 2.6 - 1), 9)
    expect(of('density 0.4, 4 B: the k that gains most').ours).toBeOneOf([2, 4])
    expect(of('density 0.05, aware, k=3').ours).toBeNull()
  })

  it('has a number only where the value is printed, and computes a difference from no words and no time', () => {
    const values = claimsOf(figures).filter(({ printed }) => typeof printed === 'number')
    expect(values.map(({ printed }) => printed)).toEqual([2, 2, 3, 4, 4, 2.6, 2.26, 4])
    for (const { printed, origin, ours, differencePercent, what } of claimsOf(figures))
      expect(differencePercent !== null, what).toBe(
        ours !== null && typeof printed === 'number' && origin !== 'measured',
      )
  })

  it('the most that combining gains is of Moore neighborhoods and random graphs', () => {
    const most = (data: PaperFigures) => claimsOf(data).find(({ printed }) => printed === 'up to 8')!.ours
    expect(most({ ...figures, random: [] })).toBe(most({ ...figures, moore: [] }))
    expect(most({ ...figures, random: [] })).toBeGreaterThan(1)
  })

  it('says why where ours differs', () => {
    for (const { printed, ours, why, what } of claimsOf(figures))
      if (ours !== null && ours !== (printed === 'none' ? 0 : printed)) expect(why, what).not.toBe('')
  })

  it('a product exchanges whole columns of B on as many nodes as its rows fill', () => {
    const [row] = products
    expect(row).toMatchObject({ matrix: 'ash292', rows: 292, ranks: 288, bytes: 16 })
    expect(row.allgather).toBe('allgather-reordered')
    for (const time of [row.allgatherUs, row.directUs, row.combined!.timeUs]) expect(time).toBeGreaterThan(0)
  })

  it('searches of queues favor combining, the more the longer an entry takes', () => {
    const [row] = figures.queues
    // 24 messages per rank.
    expect(row!.mostPassed).toBe((24 * 25) / 2)
    expect(row!.directPassed).toBeGreaterThan(24)
    expect(row!.directPassed).toBeLessThanOrEqual(row!.mostPassed)
    expect(row!.combinedPassed).toBeLessThan(row!.directPassed)
    let before = row!.speedup
    for (const speedup of row!.withSearches) {
      expect(speedup).toBeGreaterThan(before)
      before = speedup
    }
    const page = [...markdownOf(paperDocument({ ...figures, claims: [] }))].join('')
    expect(page).toMatch(
      /The most that combining gains is [\d.]+ without costs of searches; chapter 7 prints/,
    )
  })

  it('as a document is well-formed; printed values are marked, and stand beside figures of one origin', () => {
    for (const data of [none, figures]) {
      const document = paperDocument({ ...data, claims: claimsOf(data) })
      elementsOf([...htmlOf(document)].join(''))
      const page = [...markdownOf(document)].join('')
      expect(page).toContain('chapter 7 (printed)')
      for (const { parts } of document.sections) {
        const found = new Set(parts.map(({ origin }) => origin))
        expect(found.has('simulated') && found.has('measured')).toBe(false)
        for (const part of parts)
          if (part.kind === 'table')
            for (const row of part.rows) expect(row).toHaveLength(part.columns.length)
      }
    }
  })
})
