// Whether a new build gives what an old one gave:
// `node bench/compare/same-results.mjs OLD NEW [--seed 1] [--commands 120] [--calls 80]`, where OLD and NEW are built
// checkouts. Seeded commands, half of them with a fault, are compared by exit code, output and files; seeded collective
// calls by the bits of every rank. Words that differ between runs of the old build are measured times, and are left out.
// Exit code 1 when anything else differs.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { drawCalls, randomFrom } from './seeded-calls.mjs'
import { drawCommand } from './seeded-commands.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    commands: { type: 'string', default: '120' },
    calls: { type: 'string', default: '80' },
  },
})
const [oldBuild, newBuild] = positionals.map((each) => resolve(each))
if (newBuild === undefined) throw new Error('expected two built checkouts: OLD NEW')
const seed = Number(values.seed)
/** A word is taken for measured when so many runs of the old build do not agree on it. */
const oldRuns = 9

/** Leaves out the program of a page, and times of planning with what follows from them. */
const unmeasured = (text) =>
  text
    .replace(/<script(?![^>]*json)[^>]*>[\s\S]*?<\/script>/g, '')
    .replace(/"(?:planMs|breakEven\w*)":[^,}\]]+/g, '')
    .replace(/[\d.,]+ [um]?s +(?:(?:at most|about) [\d,]+ starts|never)/g, '')

/** Runs a command in a folder of its own; returns its words, with what it wrote. */
function wordsOf(build, args) {
  const folder = mkdtempSync(join(tmpdir(), 'rw-same-'))
  try {
    const main = join(build, 'dist/cli/main.js')
    const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    })
    const files = readdirSync(folder).map((name) => `${name}:\n${readFileSync(join(folder, name), 'utf8')}`)
    const text = [`exit ${status}`, stdout, stderr, ...files].join('\n')
    return unmeasured(text).split(/\s+|(?<=[,:])(?=["\d])/)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The first word of the new build that no run of the old one has in its place, or null. */
function differingWord(args) {
  const words = wordsOf(newBuild, args)
  const old = []
  while (old.length < oldRuns) {
    old.push(wordsOf(oldBuild, args))
    const isMeasured = (i) => old.some((run) => run[i] !== old[0][i])
    const at = words.findIndex((word, i) => word !== old[0][i] && !isMeasured(i))
    if (at < 0 && words.length === old[0].length) return null
    // A sentence with a measured figure may have other words, such as "never" in place of "after 3 starts".
    if (old.some((run) => run.length === words.length) && old.some((run) => run.length !== words.length))
      return null
  }
  const at = words.findIndex((word, i) => old.every((run) => run[i] === old[0][i]) && word !== old[0][i])
  if (at < 0) return `${old[0].length} words -> ${words.length} words`
  return `word ${at}: ${old[0].slice(at - 3, at + 4).join(' ')} -> ${words.slice(at - 3, at + 4).join(' ')}`
}

const failures = []
const random = randomFrom(seed)
const exits = new Map()
for (let i = 0; i < Number(values.commands); i++) {
  const args = drawCommand(random)
  const difference = differingWord(args)
  const code = spawnSync(process.execPath, [join(oldBuild, 'dist/cli/main.js'), ...args], {
    cwd: tmpdir(),
  }).status
  exits.set(code, (exits.get(code) ?? 0) + 1)
  if (difference !== null) failures.push(`rankweave ${args.join(' ')}\n    ${difference}`)
}

const calls = drawCalls(seed, Number(values.calls))
const runner = fileURLToPath(new URL('seeded-calls.mjs', import.meta.url))
const linesOf = (build) =>
  execFileSync(process.execPath, [runner, join(build, 'dist/entry/index.js'), values.seed, values.calls], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
    .trim()
    .split('\n')
const [oldLines, newLines] = [linesOf(oldBuild), linesOf(newBuild)]
calls.forEach((call, i) => {
  if (oldLines[i] !== newLines[i])
    failures.push(`${JSON.stringify(call)}\n    ${oldLines[i]} -> ${newLines[i]}`)
})

for (const failure of failures) console.log(`differs  ${failure}`)
const codes = [...exits].map(([code, count]) => `${count} with exit code ${code}`).join(', ')
console.log(`${values.commands} commands (${codes}) and ${calls.length} calls, ${failures.length} differ`)
process.exitCode = failures.length === 0 ? 0 : 1
