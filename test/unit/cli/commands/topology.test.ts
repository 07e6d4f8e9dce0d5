import { readdirSync, readFileSync } from 'node:fs'
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
