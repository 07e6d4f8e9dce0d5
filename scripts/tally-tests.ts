// Adds up the records that test runs left (test/support/test-times.ts):
//   tsx scripts/tally-tests.ts npm-test=FILE soak=FILE [--write]
// Prints the ten longest files of each beside the seconds that test/README.md has, and "N passed, N failed" alone on the
// last line. A record that is missing and an error outside of tests count as failures; so does a run without any test.
// With --write, test/README.md takes the ten longest files of these runs; a reason that stands beside a file stays there.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { argv, exit } from 'node:process'
import { type RunRecord, recordedSeconds, type TimedFile } from '../test/support/test-times.js'
import { pageWithTables, tableOf } from './marked-tables.js'

/** Seconds from which a file of `npm test` needs a reason in test/README.md. */
const reasonFrom = 10
const page = 'test/README.md'
let [passed, failed] = [0, 0]

for (const word of argv.slice(2)) {
  if (word === '--write') continue
  const [run, path] = word.split('=')
  if (!existsSync(path)) {
    console.error(`no record at ${path}: ${run} ended before its tests did`)
    failed++
    continue
  }
  const record: RunRecord = JSON.parse(readFileSync(path, 'utf8'))
  passed += record.passed
  failed += record.failed + record.errors.length
  for (const message of record.errors) console.error(`${run} failed outside of its tests: ${message}`)
  const longest = record.files.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10)
  printLongest(run, record, longest)
  if (argv.includes('--write')) writeLongest(run, longest)
}
if (passed + failed === 0) console.error('no test ran')
console.log(`${passed} passed, ${failed} failed`)
exit(failed > 0 || passed === 0 ? 1 : 0)

function printLongest(run: string, { files, skipped }: RunRecord, longest: readonly TimedFile[]): void {
  const recorded = recordedSeconds(run)
  const all = files.reduce((sum, { seconds }) => sum + seconds, 0)
  console.log(
    `${run}: ${files.length} files, ${skipped} tests skipped, ${all.toFixed(0)} s of test time; the longest:`,
  )
  for (const { path, seconds } of longest) {
    const before = recorded.get(path)
    const beside = before === undefined ? 'not recorded' : `recorded ${before} s`
    const isUnexplained = run === 'npm-test' && seconds > reasonFrom && reasonOf(path) === ''
    console.log(
      `${seconds.toFixed(1).padStart(7)} s  ${path} (${beside})${isUnexplained ? `: needs a reason in ${page}` : ''}`,
    )
  }
}

/** The last cell of the file's row in test/README.md. */
function reasonOf(path: string): string {
  const row = readFileSync(page, 'utf8').match(
    new RegExp(`^\\| \`${path.slice('test/'.length)}\` \\| \\d+ \\|(.*)\\|$`, 'm'),
  )
  return row?.[1].trim() ?? ''
}

function writeLongest(run: string, longest: readonly TimedFile[]): void {
  const rows = longest.map(({ path, seconds }) => [
    `\`${path.slice('test/'.length)}\``,
    seconds.toFixed(0),
    reasonOf(path),
  ])
  const table = { page, mark: `longest files of ${run}`, table: tableOf(['file', 'seconds', 'reason'], rows) }
  writeFileSync(page, pageWithTables([table], page, readFileSync(page, 'utf8')))
}
