import { describe, expect, it } from 'vitest'
import { productName } from '../../../../src/cli/output/spmm-report.js'

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
