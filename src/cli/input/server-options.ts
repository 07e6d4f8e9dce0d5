import { isIPv6 } from 'node:net'
import { hostname } from 'node:os'
import { RankweaveError, shown } from '../../errors.js'
import type { ListenOptions } from '../../launch/websocket/settings.js'
import { readText } from '../../text/byte-source.js'
import { withSource } from '../../text/source-file.js'
import { type OptionValues, option } from './options.js'

/** The options of a command whose plans a service may make. */
export const serverOptions = {
  server: option('--server <url>', 'let a service plan (rankweave serve), such as http://127.0.0.1:7878'),
  tokenFile: option('--token-file <file>', 'with --server: the file of its token'),
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

/** Returns the options of a command that accepts connections. */
export function listenOptions(byDefault: string) {
  return {
    listen: option(
      '--listen <host:port>',
      `address to listen on; port 0 is any that is free (default: ${byDefault})`,
    ),
    advertise: option(
      '--advertise <host>',
      'host name or address that others dial (default: that of --listen; of 0.0.0.0 the name of this host)',
    ),
    tlsCert: option('--tls-cert <file>', 'certificate in PEM: connections are accepted by TLS only'),
    tlsKey: option('--tls-key <file>', 'its key in PEM'),
  }
}

type Given = OptionValues<ReturnType<typeof listenOptions>>

/** Returns undefined when none of the options is given. @throws ERR_USAGE, ERR_FILE */
export function listenOf({ listen, advertise, tlsCert, tlsKey }: Given): ListenOptions | undefined {
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw new RankweaveError('ERR_USAGE', '--tls-cert, --tls-key: expected both or none')
  if (listen === undefined) {
    if (advertise === undefined && tlsCert === undefined) return undefined
    throw new RankweaveError('ERR_USAGE', '--advertise, --tls-cert: expected --listen besides')
  }
  const { host, port } = addressOf(listen)
  if (advertise !== undefined && !isIPv6(advertise) && !/^[^\s:/?#@[\]]+$/.test(advertise)) {
    const message = `--advertise: expected the name or address of a host, without a port, got ${shown(advertise)}`
    throw new RankweaveError('ERR_USAGE', message)
  }
  const isAny = host === '0.0.0.0' || host === '::'
  const advertisedHost = advertise ?? (isAny ? hostname() : undefined)
  return {
    host,
    port,
    ...(advertisedHost === undefined ? {} : { advertisedHost }),
    ...(tlsCert === undefined ? {} : { tls: { cert: readNamedFile(tlsCert), key: readNamedFile(tlsKey!) } }),
  }
}

/** Reads `10.0.0.1:7000`, `[::1]:7000`, `login.example.org:0`. @throws ERR_USAGE */
function addressOf(text: string): { readonly host: string; readonly port: number } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s/[\]]+)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (match !== null && port <= 65_535) return { host: match[1] ?? match[2], port }
  const message = `--listen: expected host:port, such as 0.0.0.0:7000 or [::]:0, got ${shown(text)}`
  throw new RankweaveError('ERR_USAGE', message)
}

/** The most bytes of a named file; bundles of certificates take less. */
const longestNamedFile = 2 ** 24

/** Reads a text file or pipe that the user named, of at most 16 MiB. @throws ERR_FILE */
export function readNamedFile(file: string): string {
  return withSource(file, (source) => readText(source, file, longestNamedFile))
}
