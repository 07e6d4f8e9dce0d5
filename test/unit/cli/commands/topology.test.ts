import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { topologyFormats } from '../../../../src/topology/files/format-topology.js'
import { buildTopology } from '../../../../src/topology/files/topology-from-spec.js'
import { distinctIn, distinctOut } from '../../../../src/topology/neighbors.js'
import { ownFolder } from '../../../support/temporary-folder.js'
import { cli, json, onlyObject, refused } from '../run-cli.js'

const folder = ownFolder('test')

it.each(topologyFormats)('a topology written as %s reads back as the same graph', async (format) => {
  const file = join(folder, `g.${format}`)
  const spec = 'rgg:200:r=0.1:seed=3'
  const answer = await cli`topology ${spec} --format ${format} -o ${file} --json`
  const topology = buildTopology(spec)
  expect(onlyObject(answer)).toEqual({
    ...{ topology: spec, ranks: 200, edges: topology.outRank.length, format, file },
  })
  const back = buildTopology(`${format}:${file}${format === 'mtx' ? ':ranks=200' : ''}`)
  expect([distinctOut(back), distinctIn(back)]).toEqual([distinctOut(topology), distinctIn(topology)])
})

it('a format that cannot hold the topology leaves no file', async () => {
  const before = readdirSync(folder)
  expect(await cli`topology er:8:d=0.5 --format metis -o ${join(folder, 'none')}`).toMatchObject(
    refused(/ERR_TOPOLOGY: METIS graphs are symmetric: edge from \d to \d/),
  )
  expect(readdirSync(folder)).toEqual(before)
})

it('--svg draws the adjacency matrix with friend groups', async () => {
  const file = join(folder, 'picture.svg')
  const object = await json`topology er:64:d=0.3 --svg ${file}`
  expect(object).toMatchObject({ svg: file })
  expect(readFileSync(file, 'utf8')).toMatch(
    /^<svg [\s\S]*er:64:d=0.3[\s\S]*friend groups of 2[\s\S]*<\/svg>\n$/,
  )
})

it('topology --check says how a file was read and what is odd, and writes it without duplicates', async () => {
  const file = join(folder, 'odd.csv')
  const corrected = join(folder, 'corrected.edges')
  writeFileSync(file, `to|from\n${'0|1\n'.repeat(24)}1|0\n`)
  const answer = await cli`topology csv:${file} --check -o ${corrected}`
  expect(answer).toMatchObject({ exitCode: 1, stderr: '' })
  expect(answer.stdout.replace(/(line (?!3:)\d+: .*\n *)+(?=and)/, '... ')).toBe(
    [
      `csv:${file}`,
      '  format           csv',
      '  delimiter        bar',
      '  header           line 1',
      '  line ends        LF',
      '  ranks            2',
      '  edges            25',
      '  duplicate edges  line 3: edge from 1 to 0 again, first in line 2',
      '                   ... and 3 more',
      `  corrected        ${corrected}: 23 duplicates removed, sorted by source and destination`,
      '',
    ].join('\n'),
  )
  expect(readFileSync(corrected, 'utf8')).toBe('ranks 2\n0 1\n1 0\n')
  const again = await cli`topology edges:${corrected} --check --json`
  expect(again.exitCode).toBe(0)
  expect(onlyObject(again)).toEqual({
    ...{ topology: `edges:${corrected}`, format: 'edges', compressed: false, delimiter: null },
    ...{ headerLine: null, lineEnds: 'LF', leftOut: null, ranks: 2, edges: 2, odd: [] },
  })
})

it.each([
  ['moore:4x4:r=1 --check', '--check: expected a topology in a file'],
  ['edges:FILE --check --k 3', '--k is not for --check'],
  ['edges:FILE --check -o FILE', 'expected different files'],
])('topology %s is refused', async (line, message) => {
  const file = join(folder, 'ring.edges')
  writeFileSync(file, '0 1\n1 0\n')
  expect(await cli(...`topology ${line}`.replaceAll('FILE', file).split(' '))).toMatchObject(refused(message))
})
