import { expect, it } from 'vitest'
import type { CollectiveName } from '../../../src/calls/signature.js'
import {
  type ChosenMethod,
  describeWords,
  encodeSignature,
  methodName,
} from '../../../src/calls/signature.js'
import { signatureWords } from '../../../src/messages/process/frames.js'

/** What another process is told of a call. */
function described(name: CollectiveName, method: ChosenMethod, extra?: number): string {
  const words = new Int32Array(signatureWords)
  const more = extra === undefined ? {} : { extra }
  encodeSignature({ name, method: methodName(method), ...more }, words, 0)
  return describeWords(words, 0)
}

it.each<[CollectiveName, ChosenMethod, string]>([
  ['bcast', { id: 'bcast-binomial' }, 'bcast-binomial'],
  ['bcast', { id: 'bcast-chain:fanout=4' }, 'bcast-chain:fanout=4'],
  ['bcast', { id: 'bcast-chain:fanout=4', segmentBytes: 65_536 }, 'bcast-chain:fanout=4,segment=64KiB'],
  ['bcast', { segments: 4096 }, '4096 segments'],
  ['alltoallv', { id: 'alltoall-linear:requests=4096' }, 'alltoall-linear:requests=4096'],
  [
    'allreduceInit',
    { id: 'allreduce-ring', segments: 3, isAnyOrder: true },
    'allreduce-ring:segments=3, order any',
  ],
  ['reduce', { isAnyOrder: true }, 'order any'],
])('a method of %s on another process, %j, is named', (name, method, text) => {
  expect(described(name, method)).toBe(`${name}(${text})`)
})

it('a method that is no usual one, and one beside other facts, remain hashes', () => {
  expect(described('bcast', { id: 'bcast-chain', segmentBytes: 1000 })).toMatch(
    /^bcast\(method #[0-9a-f]+\)$/,
  )
  expect(described('split', { id: 'bcast-chain' })).toMatch(/^split\(method #[0-9a-f]+\)$/)
  expect(described('reduceScatter', { id: 'reduce-scatter-ring' }, 17)).toMatch(/method #/)
})
