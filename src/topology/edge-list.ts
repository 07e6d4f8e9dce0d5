import { RankweaveError } from '../errors.js'
import { formatDouble } from './format-double.js'
import { topologyLimits } from './limits.js'
import { type ProcessTopology, topologyFromEdges } from './process-topology.js'

/**
 * A topology from plain text: one edge per line, `source destination [weight]`, either all or no lines with a weight.
 * `#` starts a comment; blank lines are skipped. The first line may be `ranks N`; without it the number of ranks is the
 * largest rank plus one. Lists are in the order of the lines.
 *
 * @throws ERR_TOPOLOGY with file and line
 */
export function parseEdgeList(text: string, file = 'edge list'): ProcessTopology {
  const sources: number[] = []
  const destinations: number[] = []
  const weights: number[] = []
  let ranks: number | null = null
  let largest = -1
  let line = 0
  const fail = (expected: string, got: string): never => {
    throw new RankweaveError('ERR_TOPOLOGY', `${file}:${line}: expected ${expected}, got ${got}`, {
      details: { file, line },
    })
  }
  const rank = (word: string): number => {
    const limit = ranks ?? topologyLimits.ranks
    const value = /^\d+$/.test(word) ? Number(word) : Number.NaN
    if (!(value < limit)) fail(`a rank 0 to ${limit - 1}`, `'${word}'`)
    largest = Math.max(largest, value)
    return value
  }
  for (const raw of text.split('\n')) {
    line++
    const content = raw.split('#', 1)[0].trim()
    if (content === '') continue
    const words = content.split(/\s+/)
    if (words[0] === 'ranks') {
      if (ranks !== null || sources.length > 0) fail("'ranks N' only once, before all edges", `'${content}'`)
      const value = words.length === 2 && /^\d+$/.test(words[1]) ? Number(words[1]) : 0
      if (value < 1 || value > topologyLimits.ranks)
        fail(`'ranks N' with N from 1 to ${topologyLimits.ranks}`, `'${content}'`)
      ranks = value
      continue
    }
    if (words.length !== 2 && words.length !== 3) fail("'source destination [weight]'", `'${content}'`)
    const weighted = words.length === 3
    if (sources.length > 0 && weighted !== weights.length > 0)
      fail(
        weighted ? 'no weight, as on the lines before' : 'a weight, as on the lines before',
        `'${content}'`,
      )
    sources.push(rank(words[0]))
    destinations.push(rank(words[1]))
    if (weighted) {
      const weight = Number(words[2])
      if (Number.isNaN(weight)) fail('a number as weight', `'${words[2]}'`)
      weights.push(weight)
    }
  }
  if (ranks === null && largest < 0) fail("edges, or a line 'ranks N'", 'the end of the text')
  return topologyFromEdges(ranks ?? largest + 1, {
    sources,
    destinations,
    weights: weights.length > 0 ? weights : null,
  })
}

/** The text that {@link parseEdgeList} reads; edges ordered by source, then in list order. */
export function formatEdgeList({ ranks, outStart, outRank, outWeight }: ProcessTopology): string {
  const lines = [`ranks ${ranks}`]
  for (let p = 0; p < ranks; p++)
    for (let e = outStart[p]; e < outStart[p + 1]; e++)
      lines.push(
        outWeight === null ? `${p} ${outRank[e]}` : `${p} ${outRank[e]} ${formatDouble(outWeight[e])}`,
      )
  return `${lines.join('\n')}\n`
}
