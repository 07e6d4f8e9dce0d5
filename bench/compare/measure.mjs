// One figure of one build, in its own process: `measure.mjs ENTRY CASE` prints microseconds.
import { pathToFileURL } from 'node:url'
import { cases, default as main } from './program.mjs'

const [entry, name] = process.argv.slice(2)
const { run } = await import(pathToFileURL(entry).href)
const { ranks, processes, fabric } = cases[name]
const program = fabric === 'threads' ? new URL('program.mjs', import.meta.url) : main
const figures = await run(program, {
  ranks,
  processes,
  args: name,
  ...(fabric === undefined ? {} : { fabric }),
})
// Of the last rank: in a split it joins when all others have.
process.stdout.write(`${figures.at(-1)}\n`)
