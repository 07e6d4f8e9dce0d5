import { describe, expect, it } from 'vitest'
import { productName, type SpmmOutcome, spmmText } from '../../../../src/cli/output/spmm-report.js'

describe('productName', () => {
  it.each([
    ['planned', 'routed', 'neighbor allgather'],
    ['planned', 'allgather', 'neighbor allgather'],
    ['planned', 'ordinary allgather', 'ordinary allgather, chosen'],
    ['ordinary allgather', 'ordinary allgather', 'ordinary allgather'],
    ['direct', 'ordinary allgather', 'direct sends'],
    ['auto: allgather', 'routed', 'auto: allgather'],
  ])('%s, where %s was used: %s', (name, exchange, text) => {
    expect(productName(name, exchange)).toBe(text)
  })
})

describe('the last sentence of spmmText', () => {
  const outcome = {
    matrix: { file: null, rows: 4, cols: 4, nnz: 8 },
    b: { file: null, rows: 4, cols: 1 },
    columnsPerExchange: 1,
    ranks: 4,
    processes: 4,
    fabric: 'local',
    exchange: 'routed',
    topology: { edges: 12_010, degree: { min: 1, mean: 2, max: 3 } },
    messages: { direct: 12_010, planned: 1696, counted: 1696, interNode: null },
    measured: [
      { name: 'planned', seconds: 0.2, interval: null, turnSeconds: [0.2], gflops: 1, communication: 1 },
    ],
    comparison: [],
    predicted: null,
    verified: true,
    maxRelativeError: 0,
    tried: null,
    seconds: { plan: 0.1, total: 1 },
  } as unknown as SpmmOutcome
  const lastLine = (of: Partial<SpmmOutcome>) =>
    spmmText({ ...outcome, ...of })
      .split('\n')
      .at(-1)
  const fewer = 'In this run the plan sent 1,696 messages instead of 12,010, and '

  it.each([
    [
      2.16,
      [1.99, 3.13],
      'faster',
      'the product was 2.16 times as fast as with direct sends (95% interval 1.99 to 3.13).',
    ],
    [
      0.8,
      [0.7, 0.9],
      'slower',
      'the product was 0.800 times as fast as with direct sends (95% interval 0.700 to 0.900).',
    ],
    [
      1.2,
      [0.9, 1.4],
      'no difference seen',
      'no difference in time from direct sends was seen (95% interval 0.900 to 1.40).',
    ],
    [1.2, null, 'no difference seen', 'no difference in time from direct sends was seen (too few turns).'],
  ] as const)('of a ratio of %d in %j: %s', (ratio, interval, verdict, seen) => {
    expect(lastLine({ comparison: [{ name: 'direct', ratio, interval, verdict }] })).toBe(fewer + seen)
  })

  it('is left out without a comparison, after a failed check, and where the plan is direct sends', () => {
    const comparison = [{ name: 'direct', ratio: 2, interval: null, verdict: 'no difference seen' }] as const
    const asDirect = { ...outcome.messages, planned: 12_010, counted: 12_010 }
    for (const of of [{}, { comparison, verified: false }, { comparison, messages: asDirect }])
      expect(lastLine(of)).not.toContain('In this run')
  })
})
