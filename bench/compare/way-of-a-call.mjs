// Which files of a checkout a call runs through: `tsx bench/compare/way-of-a-call.mjs CHECKOUT [--list]` counts, by the
// coverage that V8 keeps, the files of which a function ran during the first allreduce of a rank on threads, and during
// a repeated one. Another thread's files are not counted, nor what has been loaded before the call.
import { Session } from 'node:inspector/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'

async function filesDuring(session, call) {
  await session.post('Profiler.takePreciseCoverage')
  await call()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  return result
    .filter(({ url, functions }) => {
      // The first function is the module itself, which runs when it is loaded.
      const ran = functions.filter(({ functionName, ranges }) => functionName !== '' && ranges[0].count > 0)
      return url.includes('/src/') && ran.length > 0
    })
    .map(({ url }) => url.replace(/.*\/src\//, ''))
    .sort()
}

export default async function program(world) {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await world.barrier()
  const value = Float64Array.of(world.rank)
  const first = await filesDuring(session, () => world.allreduce(value, 'sum'))
  await world.barrier()
  for (let i = 0; i < 10; i++) await world.allreduce(value, 'sum')
  const repeated = await filesDuring(session, () => world.allreduce(value, 'sum'))
  session.disconnect()
  return { first, repeated }
}

if (isMainThread) {
  const [checkout, list] = process.argv.slice(2)
  const { run } = await import(pathToFileURL(resolve(checkout, 'src/entry/index.ts')).href)
  const ways = await run(new URL(import.meta.url), { ranks: 2, processes: 2, fabric: 'threads' })
  for (const [name, files] of Object.entries(ways[0])) {
    console.log(`${name}: ${files.length} files`)
    if (list === '--list') console.log(files.map((file) => `  ${file}`).join('\n'))
  }
}
