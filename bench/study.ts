// npm run bench:study [-- moore|paper]: writes docs/study, which `rankweave study` makes.
import { fileURLToPath } from 'node:url'
import { runCli } from '../src/cli/cli.js'
import { processStreams } from '../src/cli/output/streams.js'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Folders of docs/study, and what is in them. */
const studies: Readonly<Record<string, readonly string[]>> = {
  moore: ['moore:64x64:r=4', '--machine', 'cluster:nodes=103,cores=40,profile=niagara'],
  paper: ['--paper', '--matrices', `${root}test/matrices`],
}

const streams = processStreams({ ownStdout: false })
const named = process.argv.slice(2)
for (const [name, words] of Object.entries(studies)) {
  if (named.length > 0 && !named.includes(name)) continue
  const begin = performance.now()
  const exitCode = await runCli(['study', ...words, '-o', `${root}docs/study/${name}`], streams)
  if (exitCode !== 0) process.exit(exitCode)
  streams.stderr(`${name}: ${((performance.now() - begin) / 1000).toFixed(1)} s\n`)
}
