import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { StudiedMapping } from '../../../../src/study/study.js'
import { ownFolder } from '../../../support/temporary-folder.js'
import { cli, json, onlyObject, typed } from '../run-cli.js'

const folder = ownFolder('study-mapped')
const path = (name: string) => join(folder, name)

/** Ranks of random places: neighbors are rarely on one node. */
const spec = 'rgg:64:r=0.25:seed=3'
const machine = typed`--machine cluster:nodes=4,cores=16,profile=simgrid-fast`

describe('study --map', () => {
  const words = typed`study ${spec} ${machine} --bytes 64,4096 --strategies routed --map`

  it('has four columns: neither, mapping only, combining only, both', async () => {
    const { mapped, strategies } = (await json`${words} auto`) as unknown as {
      readonly mapped: StudiedMapping
      readonly strategies: readonly { readonly messages: { readonly betweenNodes: number } }[]
    }
    const { before, after } = mapped.mapping
    expect(mapped.ways.map(({ bytes }) => bytes)).toEqual([64, 4096])
    for (const { neither, mapping, combining, both } of mapped.ways) {
      expect([neither.betweenNodes, mapping.betweenNodes]).toEqual([before.edges, after.edges])
      expect([neither.strategy, mapping.strategy]).toEqual(['direct', 'direct'])
      // Sums of copies round differently where a choice is simulated.
      expect(combining.timeUs).toBeLessThanOrEqual(neither.timeUs * (1 + 1e-9))
      expect(both.timeUs).toBeLessThanOrEqual(mapping.timeUs * (1 + 1e-9))
    }
    expect(strategies[0].messages.betweenNodes).toBe(after.edges)
  })

  it('says where no rank moves, and then has equal columns', async () => {
    const oneNode = typed`--machine cluster:nodes=1,cores=16,profile=simgrid-fast --bytes 64`
    const { stdout } = await cli`study moore:4x4:r=1 ${oneNode} --map auto`
    expect(stdout).toContain('The mapping is auto, from identity: it moves no rank.')
    expect(stdout).not.toContain('Ranks were mapped')
    const [, ...columns] = /^\| 64 B +\| +([\d.]+) \| +([\d.]+) \| +([\d.]+) \| +([\d.]+) \|$/m.exec(stdout)!
    expect([columns[0], columns[2]]).toEqual([columns[1], columns[3]])
  })

  it('measures the mapped ranks on a fabric, too', async () => {
    const fabric = typed`--fabric local --runs 1 --json`
    const { mapped, measurements } = onlyObject(await cli`${words} auto ${fabric}`)
    expect(mapped).toMatchObject({ mapping: { isMapped: true } })
    expect(measurements).toMatchObject({ strategies: [{ strategy: 'direct' }, {}] })
  })

  it('writes them in pages, and in short', async () => {
    const file = path('study.md')
    const map = path('graph.map')
    await cli`map ${spec} ${machine} -o ${map}`
    const { stdout } = await cli`${words} ${map} -o ${file}`
    expect(stdout).toMatch(/^ {2}bytes +neither +mapping only +combining only +both$/m)
    const page = readFileSync(file, 'utf8')
    expect(
      page.match(/^\| block +\| +neither +\| +mapping only +\| +combining only +\| +both +\|$/gm),
    ).toHaveLength(4)
    const html = path('study.html')
    await cli`${words} auto -o ${html}`
    expect(readFileSync(html, 'utf8')).toContain('Mapping and combining')
  })
})
