// Times programs in one thread (`plain`), or in a pool, which is named. Arguments: which, threads, parts, programs.
import { pools } from './pools.js'
import { timedLoops } from './program.js'
import { programs } from './whole-programs.js'

const [kind, threads, parts, ...names] = process.argv.slice(2)
const pool = kind === 'plain' ? undefined : await pools[kind](Number(threads))
const figures: Record<string, number> = {}
for (const name of names) {
  const program = programs[name]
  const compute = pool === undefined ? program.plain() : program.inPool(pool, Number(parts))
  figures[name] = await timedLoops(program, compute)
}
await pool?.close()
process.stdout.write(`${JSON.stringify(figures)}\n`)
