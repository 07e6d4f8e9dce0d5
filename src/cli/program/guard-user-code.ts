import { RankweaveError } from '../../errors.js'

/** A function that ends the user's code with an error; the first one counts. */
export type End = (error: unknown) => void

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
  process.on('uncaughtException', end)
  if (!mayRunEmpty) process.on('beforeExit', onEmpty)
  try {
    return await body(ending.signal, end)
  } catch (error) {
    throw ending.signal.aborted ? ending.signal.reason : error
  } finally {
    permitExit()
    process.off('uncaughtException', end)
    process.off('beforeExit', onEmpty)
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
