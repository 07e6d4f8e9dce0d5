import { expect, it } from 'vitest'
import { parseEdgeList } from '../../../src/topology/files/edge-list.js'
import { edgesDigest } from '../../../src/topology/topology-hash.js'

const digestOf = (...lines: readonly string[]) => edgesDigest(parseEdgeList(lines.join('\n')))

it('is the same whatever the order of edges, and as the preloaded library has it', () => {
  const digest = digestOf('ranks 4', '0 1', '0 2', '3 0', '2 2')
  expect(digestOf('ranks 4', '2 2', '3 0', '0 2', '0 1')).toBe(digest)
  expect(digest).toBe('9b1661a9572ed835bb6a5ddf0974f2b4')
})

it.each([
  ['an edge turned', ['1 0', '0 2', '3 0', '2 2']],
  ['an edge more', ['0 1', '0 2', '3 0', '2 2', '2 2']],
  ['an edge less', ['0 1', '0 2', '3 0']],
  ['ends exchanged', ['0 2', '0 1', '3 2', '2 0']],
])('differs with %s', (_, edges) => {
  expect(digestOf('ranks 4', ...edges)).not.toBe(digestOf('ranks 4', '0 1', '0 2', '3 0', '2 2'))
})

it('is zero without edges', () => {
  expect(digestOf('ranks 4')).toBe('0'.repeat(32))
})
