// Adds up vitest's JSON reports and prints "N passed, N failed" alone on the last line. A report that is
// missing or a file that failed to load counts as a failure; so does a run without any test.
import { existsSync, readFileSync } from 'node:fs'

let passed = 0
let failed = 0
for (const path of process.argv.slice(2)) {
  if (!existsSync(path)) {
    console.error(`no report at ${path}: that run ended before its tests did`)
    failed++
    continue
  }
  const report = JSON.parse(readFileSync(path, 'utf8'))
  passed += report.numPassedTests
  failed += report.numFailedTests
  for (const file of report.testResults) {
    if (file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed')) {
      console.error(`${file.name} failed outside its tests: ${file.message}`)
      failed++
    }
  }
}
if (passed + failed === 0) console.error('no test ran')
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed > 0 || passed === 0 ? 1 : 0)
