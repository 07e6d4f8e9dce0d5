import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { matchingDesignNames } from '../../../../src/messages/matching-queues/designs.js'
import {
  type MatchingOperation,
  traceLines,
} from '../../../../src/messages/matching-queues/matching-trace.js'
import { reverseSearch } from '../../../support/matching-microbenchmarks.js'
import { ownFolder } from '../../../support/temporary-folder.js'
import { cli, json, refused, typed } from '../run-cli.js'

const folder = ownFolder('match')

function written(name: string, lines: Iterable<string> | string): string {
  const file = join(folder, name)
  writeFileSync(file, typeof lines === 'string' ? lines : [...lines, ''].join('\n'))
  return file
}

function directory(name: string): string {
  mkdirSync(join(folder, name))
  return join(folder, name)
}

const traced = (name: string, rank: number, operations: Iterable<MatchingOperation>, processes = 64) =>
  written(name, traceLines({ processes, rank }, operations))

const suffering = traced('rank-0.jsonl', 0, reverseSearch(16, 40))

function* inOrder(messages: number): Generator<MatchingOperation> {
  for (let tag = 0; tag < messages; tag++) {
    yield { kind: 'post', context: 0, source: 1, tag: 3 }
    yield { kind: 'arrive', context: 0, source: 1, tag: 3, bytes: 8 }
  }
}

describe('match', () => {
  it('compares all designs on the trace of a program that receives in reverse', async () => {
    const { stdout } = await cli`match ${traced('slow.jsonl', 0, reverseSearch(64, 40))}`
    for (const name of matchingDesignNames) expect(stdout).toMatch(new RegExp(`^ +${name}[ *]`, 'm'))
    for (const shown of [
      // MB1 of the thesis: (2520 + 1) / 2 in the mean.
      /unexpected messages: 2,520 searches, 1260\.5 entries each in a list; /,
      /worst search: rank 0 receives from source 63, tag 39 \(communicator 0\) while 2,519 messages of 63 sources, 1 to 63, lie before its message/,
      /Matching by .* is \d[\d.,]* times as fast as one list, the design of MPICH, .*Open MPI.*\nCause: 100% of the entries passed: rank 0 receives from 63 sources, 1 to 63, tags 0 to 39 \(communicator 0\), newest first; 3% from source 63\.\nRemedy: receive in the order of arrival, or post the receives before the messages arrive\.\n$/,
      /Matching took \d[\d.,]* [mu]?s in all by one list and \d[\d.]* [mu]?s by the index/,
    ])
      expect(stdout).toMatch(shown)
  })

  it('trains on the traces of --train, and says where a named design was trained on what it replayed', async () => {
    const train = directory('train')
    // The earlier run heard source 1 alone, so that no other is a partner.
    traced(
      'train/rank-0.jsonl',
      0,
      Array.from({ length: 40 }, (_, tag) => ({ kind: 'arrive', context: 0, source: 1, tag, bytes: 8 })),
    )
    const options = typed`${suffering} --designs partners-static`
    const partnersOf = async (more: readonly string[]) => {
      const { designs, verdict } = (await json`match ${options} ${more}`) as unknown as {
        readonly designs: readonly { readonly design: { name: string }; readonly partners: number }[]
        readonly verdict: {
          readonly selfTrained: boolean
          readonly best: string
          readonly fewestPassed: string
          readonly text: string
        }
      }
      const isNamed = [verdict.best, verdict.fewestPassed].includes('partners-static')
      return {
        partners: designs.find(({ design }) => design.name === 'partners-static')?.partners,
        ...verdict,
        isNamed,
      }
    }
    const itself = await partnersOf([])
    expect(itself).toMatchObject({ partners: 15, selfTrained: itself.isNamed })
    const earlier = await partnersOf(typed`--train ${train}`)
    expect(earlier).toMatchObject({ partners: 1, selfTrained: false })
    expect(earlier.text).not.toMatch(/trained/)
    expect(await cli`match ${traced('rank-5.jsonl', 5, inOrder(2))} --train ${train}`).toMatchObject(
      refused(/ERR_FILE.*expected a trace of rank 5 of 64 processes.*got none/),
    )
  })

  it('says of a healthy trace that matching costs nothing worth changing, and of an empty one nothing', async () => {
    const healthy = await cli`match ${traced('healthy.jsonl', 0, inOrder(1000))} --designs index,bins`
    expect(healthy.stdout).toMatch(
      /Matching costs this program nothing worth changing: a list passes 0\.5 entries a search/,
    )
    const empty = await cli`match ${traced('nothing.jsonl', 0, [])}`
    expect(empty.stdout).toMatch(/\nNo message was matched: there is nothing to gain\.\n$/)
  })

  it('reports every rank and design as one object, and draws them', async () => {
    const file = join(folder, 'object.svg')
    const cause = {
      ...{ queue: 'unexpected', source: 15, tags: [0, 39], order: 'newest-first' },
      deepest: { tag: 39, passed: 600, found: true },
    }
    const designs = ['list', 'source-lists', 'index', 'bins'].map((name) => ({ design: { name } }))
    expect(await json`match ${suffering} --designs bins --svg ${file}`).toMatchObject({
      ranks: [
        {
          ...{ rank: 0, operations: 1200, receives: 600, messages: 600, matches: 600, bounded: false },
          ...{
            cause,
            designs: designs.with(0, { ...designs[0], ...{ stopped: false, countedOperations: 1200 } }),
          },
        },
      ],
      designs: [{ searches: 1200, traversals: 180_300 }, {}, {}, {}],
      verdict: { rank: 0 },
    })
    const svg = readFileSync(file, 'utf8')
    for (const text of ['Queues of rank 0', 'unexpected messages', 'ns per operation', 'entries per search'])
      expect(svg).toContain(text)
  })

  it('reads all ranks of a directory, compressed ones too, and adds them up', async () => {
    const run = directory('run')
    traced('run/rank-0.jsonl', 0, reverseSearch(8, 4), 8)
    const other = [...traceLines({ processes: 8, rank: 3 }, inOrder(5), { bounded: true }), ''].join('\n')
    writeFileSync(join(run, 'rank-3.jsonl.gz'), gzipSync(other))
    writeFileSync(join(run, 'notes.txt'), 'not a trace')
    const { stdout } = await cli`match ${run} --designs clusters:method=k-means,k=2,partners-static`
    expect(stdout).toMatch(/^2 ranks, 66 operations\n/)
    expect(stdout).toMatch(/rank 3: 10 operations, the first of its run; 5 receives, 5 messages, 5 matched/)
  })

  it('replays cancels, probes and matched probes', async () => {
    const operations: readonly MatchingOperation[] = [
      { kind: 'post', context: 1, source: -1, tag: -1 },
      { kind: 'cancel', receive: 0 },
      { kind: 'cancel', receive: 0 },
      { kind: 'arrive', context: 1, source: 2, tag: 7, bytes: 4 },
      { kind: 'probe', context: 1, source: 2, tag: -1 },
      { kind: 'mprobe', context: 1, source: -1, tag: 7 },
      { kind: 'mprobe', context: 1, source: -1, tag: 7 },
    ]
    expect(await json`match ${traced('kinds.jsonl', 1, operations, 4)}`).toMatchObject({
      ranks: [{ operations: 7, receives: 1, messages: 1, matches: 1 }],
    })
  })
})

describe('match refuses', () => {
  const header = '{"format":"rankweave-matching","version":1,"processes":4,"rank":0}'
  const post = '{"kind":"post","context":0,"source":1,"tag":5}'
  const many = [
    header.replace(':4', ':4194304'),
    ...[0, 1, 2, 3, 4].map((context) => post.replace('"context":0', `"context":${context}`)),
  ]

  it.each([
    [
      'a file that is cut off',
      `${header}\n${post}\n`,
      '3 of a trace: expected the number of operations as the last line',
    ],
    ['a line that is cut off', `${header}\n${post.slice(0, 20)}`, '2 of a trace: expected JSON'],
    ['another format', '{"format":"else"}\n', "1 of a trace: expected format 'rankweave-matching'"],
    ['an empty file', '', "1 of a trace: expected JSON, got ''"],
    ['bytes that are no text', '\u0000\u0001\u0002', '1 of a trace: expected JSON'],
    ['a line without an end', 'x'.repeat(1_100_000), '1 of a trace: expected at most 1000000 bytes'],
    ['a second one', `${header}\n${'['.repeat(1_200_000)}`, '2 of a trace: expected at most 1000000 bytes'],
    ['deep brackets', `${header}\n${'['.repeat(900_000)}\n`, '2 of a trace: expected JSON'],
    [
      'a source that is no rank',
      `${header}\n${post.replace(':1', ':9')}\n`,
      '2 of a trace: operation 0: expected source, an integer from 0 to 3',
    ],
    [
      'a cancel of a receive that comes later',
      `${header}\n{"kind":"cancel","receive":0}\n${post}\n{"operations":2}\n`,
      '2 of a trace: expected receive, one of 0 posts before, got 0',
    ],
    [
      'more communicators than designs could hold',
      `${many.join('\n')}\n`,
      '6 of a trace: expected communicators of at most 16777216 ranks together, got 20971520',
    ],
    [
      'a last line that contradicts',
      `${header}\n${post}\n{"operations":7}\n`,
      '3 of a trace: expected 1 operations, got 7',
    ],
    [
      'lines after the last',
      `${header}\n{"operations":0}\n${post}\n`,
      '3 of a trace: expected nothing after',
    ],
  ])('%s', async (name, text, message) => {
    const file = written(`${name.replaceAll(' ', '-')}.jsonl`, text)
    const answer = await cli`match ${file}`
    expect(answer).toMatchObject(refused(`line ${message}`))
    expect(answer.stderr).toContain(`'${file}'`)
    expect(answer.stderr.length).toBeLessThan(2000)
  })

  it('what is no trace, before it opens it', async () => {
    const devices = directory('devices')
    symlinkSync('/dev/zero', join(devices, 'rank-0.jsonl'))
    for (const [path, message] of [
      [directory('empty'), /expected files rank-0\.jsonl and so on/],
      ['/dev/zero', /'\/dev\/zero': expected a file or a directory/],
      [join(folder, 'absent'), /cannot read '.*absent'/],
      [devices, /ERR_FILE.*rank-0\.jsonl': expected a regular file/s],
    ] as const)
      expect(await cli`match ${path}`).toMatchObject(refused(message))
  })

  it('a picture over a trace, which stays unchanged', async () => {
    const over = directory('over')
    const trace = traced('over/rank-0.jsonl', 0, inOrder(3))
    const before = readFileSync(trace)
    for (const source of [over, trace]) {
      const answer = await cli`match ${source} --svg ${trace}`
      expect(answer).toMatchObject(refused(/ERR_USAGE.*expected different files/s))
    }
    expect(readFileSync(trace)).toEqual(before)
  })

  it('two files of one rank, files of different worlds, and designs that there are not', async () => {
    const again = await cli`match ${suffering} ${traced('again.jsonl', 0, [])}`
    expect(again.stderr).toMatch(
      /rank-0\.jsonl' and '.*again\.jsonl' are both of rank 0: expected one file a rank/,
    )
    const small = await cli`match ${suffering} ${traced('small.jsonl', 1, [], 8)}`
    expect(small.stderr).toMatch(
      /small\.jsonl' is of 8 processes, '.*rank-0\.jsonl' of 64: expected traces of one run/,
    )
    const unknown = await cli`match ${suffering} --designs fastest`
    expect(unknown.stderr).toContain('expected a matching design among list, source-lists')
    expect((await cli`match ${suffering} --designs bins:bins=0`).stderr).toContain('bins')
  })
})
