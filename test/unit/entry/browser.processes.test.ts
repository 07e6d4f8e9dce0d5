import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { run } from 'rankweave'
import { expect, it } from 'vitest'
import ring from '../../../examples/ring.js'
import { pageBundle } from '../../support/page-bundle.js'
import { ownFolder } from '../../support/temporary-folder.js'

const folder = ownFolder('page')

/** A runtime without what Node has and browsers lack. */
const asInPage = `
  const { log } = console
  const { exit } = process
  for (const name of ['process', 'Buffer', 'global', 'setImmediate', 'clearImmediate']) delete globalThis[name]
`

it('a world of a page imports nothing of Node, and runs alike without it: ring, grid, values, plans, an error', async () => {
  const bundle = pageBundle(`
    import ring from './examples/ring.ts'
    import { local, run, strided } from 'rankweave'
    export * from 'rankweave'
    const world = (main, ranks) => run(main, { ranks, fabric: local({ processes: 3, seed: 1 }) })
    export const rings = await world(ring, 6)
    export const others = await world(async (world) => {
      const grid = await world.createCart([2, 3], { periods: [true, true] })
      const matrix = Float64Array.from({ length: 9 }, (_, i) => i + world.rank)
      const column = strided(matrix, { count: 3, blockLength: 1, stride: 3 })
      const { data } = await grid.sendrecv(column, (world.rank + 1) % 6, (world.rank + 5) % 6)
      const odd = await world.split(world.rank % 2, -world.rank)
      const ranks = await odd.gather({ rank: world.rank, map: new Map([[1n, undefined]]) })
      const around = await grid.neighborAllgather(Int32Array.of(world.rank))
      return [Array.from(data), ranks?.map(({ rank, map }) => rank + map.size), Array.from(around)]
    }, 6)
    export const failed = await world(async (world) => {
      if (world.rank === 1) throw new TypeError('on purpose')
      await world.barrier()
    }, 4).catch((error) => error.name + ': ' + error.message)
  `)
  const { inputs, outputs } = bundle.metafile
  const importedBy = (files: object) =>
    Object.values(files as typeof outputs).flatMap(({ imports }) => imports.map(({ path }) => path))
  expect(importedBy(inputs).filter(isBuiltin)).toEqual([])
  const packages = Object.keys(inputs).flatMap(
    (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
  )
  expect([...new Set(packages)].sort()).toEqual(['@noble/hashes', 'zod'])
  // The solver of one grouping engine, loaded on demand.
  expect(importedBy(outputs)).toEqual(['highs'])
  writeFileSync(join(folder, 'page.mjs'), bundle.outputFiles[0].contents)
  writeFileSync(
    join(folder, 'main.mjs'),
    `${asInPage}
     const { rings, others, failed } = await import('./page.mjs')
     const plain = (_, value) => (typeof value === 'bigint' ? value + 'n' : value)
     log(JSON.stringify({ rings, others, failed }, plain))
     // Turns are messages there, and their port keeps this process alive.
     exit(0)`,
  )
  const text = execFileSync(process.execPath, [join(folder, 'main.mjs')], { encoding: 'utf8' })
  const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)
  const expected = JSON.parse(JSON.stringify(await run(ring, { ranks: 6 }), plain)) as unknown
  const { rings, others, failed } = JSON.parse(text) as Record<string, unknown[]>
  expect(rings).toEqual(expected)
  expect(failed).toBe('TypeError: on purpose')
  expect(others).toHaveLength(6)
  expect(others[0]).toEqual([[5, 8, 11], null, [3, 3, 2, 1]])
  // The split reverses the odd ranks; every map has one entry.
  expect(others[5]).toEqual([
    [4, 7, 10],
    [6, 4, 2],
    [2, 2, 4, 3],
  ])
})
