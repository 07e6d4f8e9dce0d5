// vitest loads this before each test file where hits are counted: whatever the test file starts inherits the name of
// the file where its hits are noted.
import { relative } from 'node:path'
import { setEnvironmentData } from 'node:worker_threads'
import { mutantRun } from './mutant-run.js'

const all = globalThis as unknown as { __vitest_worker__: { filepath: string }; rankweaveMutantHits?: string }
const hits = `${mutantRun().hits}/${encodeURIComponent(relative('.', all.__vitest_worker__.filepath))}`
all.rankweaveMutantHits = hits
process.env['RANKWEAVE_MUTANT_HITS'] = hits
setEnvironmentData('RANKWEAVE_MUTANT_HITS', hits)
