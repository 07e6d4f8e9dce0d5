import { open } from 'node:fs/promises'
import { reasonText, wrongValue } from '../../errors.js'
import { fileError } from '../../text/whole-file.js'
import {
  checkTuningFile,
  readTuningFile,
  requireOwnSource,
  tuningFileLimits,
} from '../../tuning/models/read-tuning-file.js'
import type { TuningFile } from '../../tuning/models/tuning-file.js'

/**
 * Loads a tuning file for a world.
 *
 * @param fabric of the world
 * @throws ERR_FILE when it cannot be read; ERR_TUNING when it is damaged, of a library of MPI or of another fabric;
 *   ERR_ARGUMENT for a value that is not a file
 */
export async function loadTuning(
  where: string,
  given: string | URL | TuningFile,
  fabric: string,
): Promise<TuningFile> {
  const file = await read(where, given)
  requireOwnSource(where, file, fabric)
  return file
}

async function read(where: string, given: string | URL | TuningFile): Promise<TuningFile> {
  if (typeof given === 'string' || given instanceof URL) {
    const name = String(given)
    return readTuningFile(await textOf(given), `tuning file '${name}'`)
  }
  if (typeof given === 'object') return checkTuningFile(given, `${where}, tuning`)
  throw wrongValue(
    'ERR_ARGUMENT',
    `${where}: expected tuning as the path or the URL of a file, or what it holds`,
    given,
  )
}

const pieceBytes = 65_536

/** Reads at most the bytes that a tuning file may have, of whatever the path names. */
async function textOf(path: string | URL): Promise<string> {
  const most = tuningFileLimits.bytes
  try {
    const file = await open(path, 'r')
    try {
      const pieces: Buffer[] = []
      let length = 0
      for (;;) {
        const { bytesRead, buffer } = await file.read(Buffer.alloc(pieceBytes), 0, pieceBytes)
        if (bytesRead === 0) return Buffer.concat(pieces).toString('utf8')
        pieces.push(buffer.subarray(0, bytesRead))
        length += bytesRead
        if (length > most) throw new Error(`expected at most ${most} bytes`)
      }
    } finally {
      await file.close()
    }
  } catch (cause) {
    throw fileError('read', String(path), new Error(reasonText(cause)))
  }
}
