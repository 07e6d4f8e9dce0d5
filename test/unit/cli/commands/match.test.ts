import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { matchingDesignNames } from '../../../../src/messages/matching-queues/designs.js'
import { reverseSearch } from '../../../../src/messages/matching-queues/microbenchmarks.js'
import type { MatchingOperation } from '../../../../src/messages/matching-queues/operation.js'
import { traceLines } from '../../../../src/messages/matching-queues/trace-lines.js'
import { ownFolder } from '../../../support/temporary-folder.js'
import { cli, json } from '../run-cli.js'

const folder = ownFolder('match')

function written(name: string, lines: Iterable<string> | string): string {
  const file = join(folder, name)
  writeFileSync(file, typeof lines === 'string' ? lines : [...lines, ''].join('\n'))
  return file
}

const traced = (name: string, rank: number, operations: Iterable<MatchingOperation>, processes = 64) =>
  written(name, traceLines({ processes, rank }, operations))

const suffering = traced('rank-0.jsonl', 0, reverseSearch(64, 40))

function* inOrder(messages: number): Generator<MatchingOperation> {
  for (let tag = 0; tag < messages; tag++) {
    yield { kind: 'post', context: 0, source: 1, tag: 3 }
    yield { kind: 'arrive', context: 0, source: 1, tag: 3, bytes: 8 }
  }
}

describe('match', () => {
  it('compares all designs on the trace of a program that receives in reverse', async () => {
    const answer = await cli`match ${suffering}`
    expect(answer.exitCode).toBe(0)
    for (const name of matchingDesignNames) expect(answer.stdout).toMatch(new RegExp(`^ +${name}[ *]`, 'm'))
    // MB1 of the thesis: (2520 + 1) / 2 in the mean.
    expect(answer.stdout).toMatch(/unexpected messages: 2,520 searches, 1260\.5 entries each in a list; /)
    expect(answer.stdout).toMatch(
      /worst search: rank 0 receives from source 63, tag 39 \(communicator 0\) while 2,519 messages of 63 sources, 1 to 63, lie before its message/,
    )
    expect(answer.stdout).toMatch(
      /By .* would gain \d[\d.,]* times against one list, the design of MPICH, .*Open MPI.*\nCause: 100% of the entries passed: rank 0 receives from 63 sources, 1 to 63, tags 0 to 39 \(communicator 0\), newest first; 3% from source 63\.\nRemedy: receive in the order of arrival, or post the receives before the messages arrive\.\n$/,
    )
    expect(answer.stdout).toMatch(
      /Matching took \d[\d.,]* m?s in all by one list and \d[\d.]* m?s by the index/,
    )
  })

  it('says of a healthy trace that matching costs nothing worth changing', async () => {
    const healthy = traced('healthy.jsonl', 0, inOrder(3000))
    const { stdout } = await cli`match ${healthy} --designs index,bins`
    expect(stdout).toMatch(
      /Matching costs this program nothing worth changing: a list passes 0\.5 entries a search/,
    )
  })

  it('reports every rank and design as one object', async () => {
    const file = join(folder, 'object.svg')
    const object = await json`match ${suffering} --designs bins --svg ${file}`
    expect(object).toMatchObject({
      ranks: [
        {
          ...{ rank: 0, operations: 5040, receives: 2520, messages: 2520, matches: 2520, bounded: false },
          cause: {
            ...{ queue: 'unexpected', source: 63, tags: [0, 39], order: 'newest-first' },
            deepest: { tag: 39, passed: 2520, found: true },
          },
          designs: [
            { design: { name: 'list' }, stopped: false, countedOperations: 5040 },
            { design: { name: 'source-lists' } },
            { design: { name: 'index' } },
            { design: { name: 'bins' } },
          ],
        },
      ],
      designs: [{ searches: 5040, traversals: 3_176_460 }, {}, {}, {}],
      verdict: { rank: 0 },
    })
    const svg = readFileSync(file, 'utf8')
    for (const text of ['Queues of rank 0', 'unexpected messages', 'ns per operation', 'entries per search'])
      expect(svg).toContain(text)
  })

  it('reads all ranks of a directory, compressed ones too, and adds them up', async () => {
    const directory = join(folder, 'run')
    mkdirSync(directory)
    traced('run/rank-0.jsonl', 0, reverseSearch(8, 4), 8)
    const other = [...traceLines({ processes: 8, rank: 3 }, inOrder(5), { bounded: true }), ''].join('\n')
    writeFileSync(join(directory, 'rank-3.jsonl.gz'), gzipSync(other))
    writeFileSync(join(directory, 'notes.txt'), 'not a trace')
    const { stdout } = await cli`match ${directory} --designs clusters:method=k-means,k=2,partners-static`
    expect(stdout).toMatch(/^2 ranks, 66 operations\n/)
    expect(stdout).toMatch(/rank 3: 10 operations, the first of its run; 5 receives, 5 messages, 5 matched/)
  })

  it('replays cancels, probes and matched probes', async () => {
    const file = traced(
      'kinds.jsonl',
      1,
      [
        { kind: 'post', context: 1, source: -1, tag: -1 },
        { kind: 'cancel', receive: 0 },
        { kind: 'cancel', receive: 0 },
        { kind: 'arrive', context: 1, source: 2, tag: 7, bytes: 4 },
        { kind: 'probe', context: 1, source: 2, tag: -1 },
        { kind: 'mprobe', context: 1, source: -1, tag: 7 },
        { kind: 'mprobe', context: 1, source: -1, tag: 7 },
      ],
      4,
    )
    const object = await json`match ${file}`
    expect(object).toMatchObject({ ranks: [{ operations: 7, receives: 1, messages: 1, matches: 1 }] })
  })

  it('reports a trace without operations', async () => {
    const { stdout, exitCode } = await cli`match ${traced('nothing.jsonl', 0, [])}`
    expect([exitCode, stdout.split('\n').at(-2)]).toEqual([
      0,
      'No message was matched: there is nothing to gain.',
    ])
  })
})

describe('match refuses', () => {
  const header = '{"format":"rankweave-matching","version":1,"processes":4,"rank":0}'
  const post = '{"kind":"post","context":0,"source":1,"tag":5}'

  it.each([
    [
      'a file that is cut off',
      `${header}\n${post}\n`,
      /line 3 of a trace: expected the number of operations as the last line/,
    ],
    ['a line that is cut off', `${header}\n${post.slice(0, 20)}`, /line 2 of a trace: expected JSON/],
    ['another format', '{"format":"else"}\n', /line 1 of a trace: expected format 'rankweave-matching'/],
    ['an empty file', '', /line 1 of a trace: expected JSON, got ''/],
    ['bytes that are no text', '\u0000\u0001\u0002', /line 1 of a trace: expected JSON/],
    ['a line without an end', 'x'.repeat(1_100_000), /line 1 of a trace: expected at most 1000000 bytes/],
    [
      'a second line without an end',
      `${header}\n${'['.repeat(1_200_000)}`,
      /line 2 of a trace: expected at most 1000000 bytes/,
    ],
    ['deep brackets', `${header}\n${'['.repeat(900_000)}\n`, /line 2 of a trace: expected JSON/],
    [
      'a source that is no rank',
      `${header}\n${post.replace(':1', ':9')}\n`,
      /line 2 of a trace: operation 0: expected source, an integer from 0 to 3/,
    ],
    [
      'a cancel of a receive that comes later',
      `${header}\n{"kind":"cancel","receive":0}\n${post}\n{"operations":2}\n`,
      /line 2 of a trace: expected receive, one of 0 posts before, got 0/,
    ],
    [
      'more communicators than designs could hold',
      [
        header.replace(':4', ':4194304'),
        ...[0, 1, 2, 3, 4].map((context) => post.replace('"context":0', `"context":${context}`)),
        '',
      ].join('\n'),
      /line 6 of a trace: expected communicators of at most 16777216 ranks together, got 20971520/,
    ],
    [
      'a last line that contradicts',
      `${header}\n${post}\n{"operations":7}\n`,
      /line 3 of a trace: expected 1 operations, got 7/,
    ],
    [
      'lines after the last',
      `${header}\n{"operations":0}\n${post}\n`,
      /line 3 of a trace: expected nothing after/,
    ],
  ])('%s', async (name, text, message) => {
    const file = written(`${name.replaceAll(' ', '-')}.jsonl`, text)
    const { exitCode, stderr, stdout } = await cli`match ${file}`
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(message)
    expect(stderr).toContain(`'${file}'`)
    expect(stderr.length).toBeLessThan(2000)
  })

  it('an empty directory, a device and nothing', async () => {
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    expect((await cli`match ${empty}`).stderr).toMatch(/expected files rank-0\.jsonl and so on/)
    expect((await cli`match /dev/zero`).stderr).toMatch(/'\/dev\/zero': expected a file or a directory/)
    expect((await cli`match ${join(folder, 'absent')}`).stderr).toMatch(/cannot read '.*absent'/)
  })

  it('what is no regular file in a directory, before it opens it', async () => {
    const directory = join(folder, 'devices')
    mkdirSync(directory)
    symlinkSync('/dev/zero', join(directory, 'rank-0.jsonl'))
    const answer = await cli`match ${directory}`
    expect(answer.exitCode).not.toBe(0)
    expect(answer.stderr).toMatch(/ERR_FILE.*rank-0\.jsonl': expected a regular file/s)
  })

  it('a picture over a trace of a directory', async () => {
    const directory = join(folder, 'over')
    mkdirSync(directory)
    const trace = traced('over/rank-0.jsonl', 0, inOrder(3))
    const before = readFileSync(trace)
    const answer = await cli`match ${directory} --svg ${trace}`
    expect(answer.stderr).toMatch(/ERR_USAGE.*expected different files/s)
    expect(readFileSync(trace)).toEqual(before)
  })

  it('two files of one rank, and files of different worlds', async () => {
    const again = traced('again.jsonl', 0, [])
    expect((await cli`match ${suffering} ${again}`).stderr).toMatch(
      /rank-0\.jsonl' and '.*again\.jsonl' are both of rank 0: expected one file a rank/,
    )
    const small = traced('small.jsonl', 1, [], 8)
    expect((await cli`match ${suffering} ${small}`).stderr).toMatch(
      /small\.jsonl' is of 8 processes, '.*rank-0\.jsonl' of 64: expected traces of one run/,
    )
  })

  it('designs that there are not, before it reads', async () => {
    expect((await cli`match ${suffering} --designs fastest`).stderr).toMatch(
      /expected a matching design among list, source-lists/,
    )
    expect((await cli`match ${suffering} --designs bins:bins=0`).stderr).toMatch(/bins/)
    expect((await cli`match ${suffering} --svg ${suffering}`).stderr).toMatch(/expected different files/)
  })
})
