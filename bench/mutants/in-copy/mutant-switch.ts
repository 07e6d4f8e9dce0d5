// The bench `mutants` copies this into src/, where changed modules import it; pages load it, too, where nothing is set.

const process = globalThis.process as NodeJS.Process | undefined
const threads = process?.getBuiltinModule?.('node:worker_threads')

/** Workers inherit it even where they are started with an environment of their own. */
function inherited(name: string): string | undefined {
  const value = process?.env[name] ?? (threads?.getEnvironmentData(name) as string | undefined)
  if (value !== undefined) threads?.setEnvironmentData(name, value)
  return value
}

const chosen = Number(inherited('RANKWEAVE_MUTANT') ?? 0)
const inheritedHits = inherited('RANKWEAVE_MUTANT_HITS')
const files = process?.getBuiltinModule?.('node:fs')
/** The file that last noted a mutant, by its number. */
const notedIn: string[] = []

/** Whether the run is to behave as this mutant does. Where hits are counted, a file of the test file notes it once. */
export function isMutant(id: number): boolean {
  if (inheritedHits !== undefined) note(id)
  return id === chosen
}

function note(id: number): void {
  // A process that runs several test files says in `name-test-file.ts` which one it is at.
  const hits = (globalThis as { rankweaveMutantHits?: string }).rankweaveMutantHits ?? inheritedHits!
  if (notedIn[id] === hits) return
  notedIn[id] = hits
  files!.appendFileSync(hits, `${id}\n`)
}
