import type { Command } from 'commander'
import * as z from 'zod'
import { RankweaveError } from '../../errors.js'
import { readNamedFile } from './listen-options.js'

/** Adds the options of a command whose plans a service may make. */
export function addServerOptions(command: Command): Command {
  return command
    .option('--server <url>', 'let a service plan (rankweave serve), such as http://127.0.0.1:7878')
    .option('--token-file <file>', 'with --server: the file of its token')
}

export const serverSchema = {
  server: z.string().optional(),
  tokenFile: z.string().optional(),
}

/** The address of a service, and the token for it. */
export interface ServerAddress {
  readonly url: string
  readonly token?: string
}

/** Returns null if this process plans. @throws ERR_USAGE, ERR_FILE */
export function serverOf({
  server,
  tokenFile,
}: {
  readonly server?: string | undefined
  readonly tokenFile?: string | undefined
}): ServerAddress | null {
  if (server !== undefined)
    return { url: server, ...(tokenFile === undefined ? {} : { token: readNamedFile(tokenFile).trim() }) }
  if (tokenFile === undefined) return null
  throw new RankweaveError('ERR_USAGE', '--token-file: expected --server besides')
}
