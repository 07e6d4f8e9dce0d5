// Whether a new build is slower than an old one:
// `node bench/compare/compare-builds.mjs OLD NEW [--runs 21] [--limit 1.03] [--only TEXT] [--busy] [--json]`, where OLD
// and NEW are built checkouts. The two alternate, each figure in its own process; of every case the ratio new / old
// of the medians is printed with its 95% interval (bootstrap over runs, seeded). A case fails when the whole
// interval lies above the limit. Exit code 1 when one fails.
// `--busy` is for a machine that others use: the least batch of a process counts, and the processor time of a command.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { medianOf, ratioInterval } from './interval.mjs'
import { cases } from './program.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '21' },
    limit: { type: 'string', default: '1.03' },
    only: { type: 'string' },
    busy: { type: 'boolean', default: false },
    json: { type: 'boolean' },
  },
})
const [oldBuild, newBuild] = positionals
if (newBuild === undefined) throw new Error('expected two built checkouts: OLD NEW')
const runs = Number(values.runs)
const limit = Number(values.limit)
const measure = fileURLToPath(new URL('measure.mjs', import.meta.url))

function figure(checkout, name) {
  const manifest = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'))
  const { command } = cases[name]
  if (command !== undefined) return timeOf(resolve(checkout, manifest.bin.rankweave), command.split(' '))
  const args = [
    measure,
    resolve(checkout, manifest.exports['.'].default),
    name,
    ...(values.busy ? ['busy'] : []),
  ]
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}

/** Whether a build is from before `together`, the call for all ranks of a process. */
function lacksTogether(checkout) {
  return !readFileSync(join(checkout, 'dist/entry/index.js'), 'utf8').includes('together')
}

/** Microseconds of a command. */
function timeOf(main, args) {
  const begin = clock()
  execFileSync(process.execPath, [main, ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
  return clock() - begin
}

/** Microseconds of wall time, or of the processor time of all commands that have ended. */
function clock() {
  if (!values.busy) return performance.now() * 1000
  const [user, system] = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ').slice(13, 15)
  // Linux counts in hundredths of a second.
  return (Number(user) + Number(system)) * 1e4
}

const results = []
for (const name of Object.keys(cases)) {
  if (values.only !== undefined && !name.includes(values.only)) continue
  const before = []
  const after = []
  if (lacksTogether(oldBuild) && cases[name].hosted !== undefined) {
    console.error(`not compared: ${name}: the old build has no \`together\``)
    continue
  }
  for (let run = 0; run < runs; run++) {
    before.push(figure(oldBuild, name))
    after.push(figure(newBuild, name))
  }
  const ratio = medianOf(after) / medianOf(before)
  const [low, high] = ratioInterval(before, after)
  const result = {
    name,
    runs,
    oldUs: medianOf(before),
    newUs: medianOf(after),
    ratio,
    low,
    high,
    met: low <= limit,
  }
  results.push(result)
  const figures = `${result.oldUs.toFixed(2)} us -> ${result.newUs.toFixed(2)} us`
  if (values.json !== true)
    console.log(
      `${result.met ? 'met   ' : 'MISSED'}  ${name}: ${figures}, ratio ${ratio.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`,
    )
}
if (values.json === true)
  console.log(JSON.stringify({ node: process.version, cpu: cpus()[0]?.model, limit, results }, null, 2))
process.exitCode = results.every(({ met }) => met) ? 0 : 1
