import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { RankweaveError } from '../errors.js'
import { ownFile } from '../package-paths.js'
import { ownSources } from './library.js'

const block = 512

/**
 * Packs the C sources of the library with a Makefile and a manual page, as a gzip-compressed ustar archive of one
 * folder. The same sources give the same bytes.
 *
 * @throws ERR_SHIM if a file of the package is missing, or has a name that ustar cannot hold
 */
export function sourceArchive(folder: string): Uint8Array {
  const others = ['Makefile', 'rankweave_shim.7'].map((name) => ({ name, text: textOf(name) }))
  const files = [...ownSources(), ...others].sort((a, b) => (a.name < b.name ? -1 : 1))
  const parts = files.flatMap(({ name, text }) => {
    const data = Buffer.from(text)
    const padding = Buffer.alloc((block - (data.length % block)) % block)
    return [headerOf(`${folder}/${name}`, data.length), data, padding]
  })
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * block)]))
}

function textOf(name: string): string {
  try {
    return readFileSync(ownFile(`shim/c/${name}`), 'utf8')
  } catch (cause) {
    throw new RankweaveError('ERR_SHIM', `the package lacks ${name}: ${(cause as Error).message}`, { cause })
  }
}

/** Makes a header of POSIX ustar; the time is 0, so that archives are repeatable. */
function headerOf(path: string, length: number): Buffer {
  if (Buffer.byteLength(path) > 100) {
    throw new RankweaveError(
      'ERR_SHIM',
      `expected at most 100 bytes in the path of a file of the archive, got ${path}`,
    )
  }
  const header = Buffer.alloc(block)
  const octal = (value: number, at: number, width: number) =>
    header.write(`${value.toString(8).padStart(width - 1, '0')}\0`, at, 'latin1')
  header.write(path, 0)
  octal(0o644, 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  octal(length, 124, 12)
  octal(0, 136, 12)
  header.fill(' ', 148, 156)
  header.write('0ustar\0' + '00', 156, 'latin1')
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  )
  return header
}
