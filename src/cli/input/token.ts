import { RankweaveError } from '../../errors.js'
import { readNamedFile } from './listen-options.js'

/**
 * The token of a world: an option that was given counts more than the environment.
 *
 * @throws ERR_USAGE, ERR_FILE
 */
export function tokenOf(
  { token, tokenFile }: { readonly token?: string | undefined; readonly tokenFile?: string | undefined },
  environment: Readonly<Record<string, string | undefined>>,
): string {
  if (token !== undefined && tokenFile !== undefined) {
    throw new RankweaveError('ERR_USAGE', '--token, --token-file: expected one of them')
  }
  const given = tokenFile === undefined ? (token ?? environment['RANKWEAVE_TOKEN']) : readNamedFile(tokenFile)
  if (given !== undefined) return given.trim()
  throw new RankweaveError(
    'ERR_USAGE',
    'expected the token of the world: --token-file, --token, or the environment variable RANKWEAVE_TOKEN',
  )
}
