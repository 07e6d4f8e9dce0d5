import { describe, expect, it } from 'vitest'
import {
  type MatchingOperation,
  readTraceLines,
  traceLines,
} from '../../../../src/messages/matching-queues/matching-trace.js'
import { randomTrace } from '../../../support/matching-traces.js'
import { coded } from '../../../support/on-ranks.js'
import { replayTrace } from '../../../support/replay-trace.js'

const header = '{"format":"rankweave-matching","version":1,"processes":4,"rank":0,"communicators":[[1,2]]}'
const post = '{"kind":"post","context":0,"source":1,"tag":5,"bytes":8}'

describe('the lines of a trace', () => {
  it('have the documented form', () => {
    const operations: MatchingOperation[] = [{ kind: 'post', context: 0, source: 1, tag: 5, bytes: 8 }]
    const lines = [...traceLines({ processes: 4, rank: 0, communicatorSizes: new Map([[1, 2]]) }, operations)]
    expect(lines).toEqual([header, post, '{"operations":1}'])
    const read = readTraceLines(lines)
    expect(read.header).toEqual({ processes: 4, rank: 0, communicatorSizes: new Map([[1, 2]]) })
    expect([...read.operations]).toEqual(operations)
  })

  it('say at their end that operations are missing', () => {
    const lines = [...traceLines({ processes: 4, rank: 0 }, [], { bounded: true })]
    expect(lines[1]).toBe('{"operations":0,"bounded":true}')
    const read = readTraceLines(lines)
    expect([...read.operations]).toEqual([])
    expect(read.end).toEqual({ bounded: true })
    const odd = readTraceLines([lines[0], '{"operations":0,"bounded":1}']).operations
    expect(() => [...odd]).toThrow('line 2 of a trace: expected bounded, true or false, got 1')
  })

  it('are the same trace when they are read', () => {
    const trace = { operations: 2000, processes: 8, wildcards: 0.2, seed: 4 }
    const { header, operations } = readTraceLines(traceLines({ processes: 8, rank: 3 }, randomTrace(trace)))
    expect(header.rank).toBe(3)
    expect(replayTrace(operations, { name: 'index' }, header)).toEqual(
      replayTrace(randomTrace(trace), { name: 'index' }, { processes: 8 }),
    )
  })

  it('are read as operations are taken, so that a trace may have no end', () => {
    let written = 0
    function* endless() {
      yield header
      for (; ; written++) yield post
    }
    const operations = readTraceLines(endless()).operations[Symbol.iterator]()
    for (let i = 0; i < 1000; i++) operations.next()
    expect(written).toBeLessThanOrEqual(1000)
  })

  it.each([
    [[], "line 1 of a trace: expected JSON, got ''"],
    [['{}'], "line 1 of a trace: expected format 'rankweave-matching', got undefined"],
    [[header.replace('1,"processes', '2,"processes')], 'line 1 of a trace: expected version 1, got 2'],
    [[header.replace(':4', ':0')], 'line 1 of a trace: expected processes from 1 to 4194304, got 0'],
    [[header.replace('"rank":0', '"rank":4')], 'line 1 of a trace: expected rank from 0 to 3, got 4'],
    [
      [header.replace('[1,2]', '[1,9]')],
      'line 1 of a trace: expected communicators as pairs of a context and a number of ranks from 1 to 4',
    ],
    [
      [header.replace('[1,2]', '[1,2],[3,2],[1,2]')],
      'line 1 of a trace: expected each context once, got 1 again',
    ],
    [[header], 'line 2 of a trace: expected the number of operations as the last line: the trace is cut off'],
    [
      [header, post],
      'line 3 of a trace: expected the number of operations as the last line: the trace is cut off',
    ],
    [[header, post.slice(0, 20)], `line 2 of a trace: expected JSON, got '${post.slice(0, 20)}'`],
    [[header, '[]'], "line 2 of a trace: expected an object, got '[]'"],
    [[header, post, '{"operations":2}'], 'line 3 of a trace: expected 1 operations, got 2'],
    [
      [header, '{"operations":0}', post],
      'line 3 of a trace: expected nothing after the number of operations',
    ],
    [
      [header, post.replace('"source":1', '"source":4')],
      'line 2 of a trace: operation 0: expected source, an integer from 0 to 3 or ANY_SOURCE (-1), got 4',
    ],
    [
      [header, post.replace('"context":0', '"context":1').replace('"source":1', '"source":2')],
      'line 2 of a trace: operation 0: expected source, an integer from 0 to 1 or ANY_SOURCE (-1), got 2',
    ],
    [[header, ' '.repeat(1_000_001)], 'line 2 of a trace: expected at most 1000000 letters, got 1000001'],
  ])('are refused where they are malformed or missing (%#)', (lines, message) => {
    expect(() => [...readTraceLines(lines).operations]).toThrow(coded('ERR_FILE', message))
  })
})
