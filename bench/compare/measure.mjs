// One figure of one build, in its own process: `measure.mjs ENTRY CASE [busy]` prints microseconds.
import { pathToFileURL } from 'node:url'
import { cases, hostedBy, default as main } from './program.mjs'

const [entry, name, busy] = process.argv.slice(2)
const library = await import(pathToFileURL(entry).href)
const { ranks, processes, fabric, hosted } = cases[name]
const options = { ranks, processes, ...(fabric === undefined ? {} : { fabric }) }
const program = fabric === 'threads' ? new URL('program.mjs', import.meta.url) : main
const figures =
  hosted === undefined
    ? await library.run(program, { ...options, args: [name, busy] })
    : await library.run(() => 0, { ...options, hosted: hostedBy(library, name, busy) })
// Of the last rank: in a split it joins when all others have.
process.stdout.write(`${figures.at(-1)}\n`)
