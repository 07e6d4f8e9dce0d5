import { accessSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { holdListener } from '../../base/held-listener.js'
import { causeText, isRankweaveError, RankweaveError, reasonText } from '../../errors.js'
import { loadExports, programError } from '../../launch/processes/load-program.js'
import type { UserProgram } from '../../world/user-program.js'

/** A program that `rankweave run` runs. */
export type Program = UserProgram<unknown, readonly string[]>

const extensions = ['.ts', '.mts', '.js', '.mjs', '.cjs']

/** Returns the URL of a program's file. @throws ERR_PROGRAM when the file is missing or of another kind */
export function checkProgramFile(file: string): string {
  const path = resolve(file)
  if (!extensions.includes(extname(path)))
    throw programError(file, `expected a ${extensions.join(', ')} file, got '${file}'`)
  try {
    accessSync(path)
  } catch (cause) {
    const isAbsent = (cause as NodeJS.ErrnoException).code === 'ENOENT'
    const message = isAbsent ? `there is no file '${file}'` : `'${file}' cannot be read: ${reasonText(cause)}`
    // The cause is left out, because its frames are this library's: the user's program has not run.
    throw programError(file, message)
  }
  return pathToFileURL(path).href
}

/**
 * Loads a program's exports `default` and `hosted`. TypeScript is compiled while loading. `import 'rankweave'` resolves
 * to the library of this command, so that a program runs from any folder and never loads a second copy.
 *
 * @throws ERR_PROGRAM when the file is missing, of another kind, fails to load, or exports no default function
 */
export async function loadProgram(file: string, hosted: boolean): Promise<Program> {
  const url = checkProgramFile(file)
  try {
    return await guardUserCode((ending) =>
      Promise.race([loadExports<unknown, readonly string[]>(url, { hosted, name: file }), aborted(ending)]),
    )
  } catch (cause) {
    if (isRankweaveError(cause, 'ERR_PROGRAM')) throw cause
    throw programError(file, `${file} failed to load: ${causeText(cause)}`, cause)
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
}

/** A function that ends the user's code with an error; the first one counts. */
type End = (error: unknown) => void

/**
 * Runs a user's code in this process, and fails when it does. It fails on an uncaught error (thrown in a timer's
 * callback, or of a promise that is not awaited) and on `process.exit`. It also fails when it waits although the event
 * loop is empty. Then the signal is aborted, upon which `body` must settle.
 *
 * @param body detects an empty event loop by itself when `mayRunEmpty`
 * @throws what `body` throws, or the reason of the signal once it is aborted
 */
export async function guardUserCode<T>(
  body: (ending: AbortSignal, end: End) => Promise<T>,
  { mayRunEmpty = false } = {},
): Promise<T> {
  const ending = new AbortController()
  const end: End = (error) => ending.abort(error)
  const onEmpty = () => end(stuck())
  const permitExit = refuseExit(end)
  const held = [holdListener('uncaughtException', end)]
  if (!mayRunEmpty) held.push(holdListener('beforeExit', onEmpty))
  try {
    return await body(ending.signal, end)
  } catch (error) {
    throw ending.signal.aborted ? ending.signal.reason : error
  } finally {
    permitExit()
    for (const release of held) release()
  }
}

/**
 * Makes `process.exit` end the user's code with an error, on every fabric alike.
 *
 * @returns a function that restores `process.exit`
 */
export function refuseExit(end: End): () => void {
  const { exit } = process
  process.exit = (code) => {
    const error = exited(code ?? process.exitCode ?? 0)
    end(error)
    throw error
  }
  return () => {
    process.exit = exit
  }
}

function stuck(): RankweaveError {
  const message = 'the program waits, and nothing is left to wake it: no message, timer, file or socket'
  return new RankweaveError('ERR_DEADLOCK', message)
}

function exited(exitCode: string | number): RankweaveError {
  const message = `the program called process.exit(${exitCode}): expected it to return, to throw, or to call world.abort(reason)`
  return new RankweaveError('ERR_WORLD_ABORTED', message, { details: { exitCode } })
}
