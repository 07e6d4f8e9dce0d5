// npm run bench:study [-- moore|paper]: writes docs/study.
import { fileURLToPath } from 'node:url'
import { runCli } from '../src/cli/cli.js'
import { processStreams } from '../src/cli/output/streams.js'
import { writePaper } from './paper/paper.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const streams = processStreams({ ownStdout: false })

async function writeMoore(): Promise<void> {
  const words = ['moore:64x64:r=4', '--machine', 'cluster:nodes=103,cores=40,profile=niagara']
  const exitCode = await runCli(['study', ...words, '-o', `${root}docs/study/moore`], streams)
  if (exitCode !== 0) process.exit(exitCode)
}

/** By folder of docs/study. */
const studies = { moore: writeMoore, paper: () => writePaper(streams) }
const named = process.argv.slice(2)
for (const [name, write] of Object.entries(studies)) {
  if (named.length > 0 && !named.includes(name)) continue
  const begin = performance.now()
  await write()
  streams.stderr(`${name}: ${((performance.now() - begin) / 1000).toFixed(1)} s\n`)
}
