import * as z from 'zod'
import { parsedOptions } from '../../base/option-table.js'
import { defaultServiceLimits, type ServiceLimits, serviceLimits } from '../../client/protocol/limits.js'
import { RankweaveError, shown } from '../../errors.js'
import { serve } from '../../service/http/serve.js'
import { tokensOf } from '../../service/tenant.js'
import { addOptions, json, type OptionValues, option, readOptions, seconds, whole } from '../input/options.js'
import { readNamedFile } from '../input/server-options.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import { counted } from '../output/result-rows.js'

const help = `
Plans for programs in any language, by HTTP: upload a topology, request a plan, fetch its schedule, its simulation, a C program of it.
Plans are stored in --data and named by their content: equal requests are planned once, also after a restart.

Without --token-file only programs of this host can use the service. With it, each token is a tenant, and no tenant sees another's
topologies, plans and worlds. The file has one token of at least 32 characters A-Z a-z 0-9 _ - per line.

SIGTERM and SIGINT end it: running plans may end, waiting ones are taken up when it is started again. Exit code 0.

Limits, each with its default:
${Object.entries(serviceLimits)
  .map(
    ([name, { help }]) =>
      `  ${name.padEnd(20)}${String(defaultServiceLimits[name as keyof ServiceLimits]).padEnd(12)}${help}`,
  )
  .join('\n')}

Examples:
  rankweave serve                                                        for this host, at http://127.0.0.1:7878
  rankweave serve --host 0.0.0.0 --token-file tokens --tls-cert cert.pem --tls-key key.pem
  rankweave serve --limits uploadBytes=1073741824,workers=4
  curl --data-binary @test/matrices/dwt_193.mtx 'http://127.0.0.1:7878/v1/topologies?format=mtx'`

const optionTable = {
  host: option(
    '--host <address>',
    'address to listen on; beyond this host with --token-file only',
    z.string().min(1),
    '127.0.0.1',
  ),
  port: option('--port <number>', 'port to listen on; 0 is any that is free', whole(0, 65_535), '7878'),
  data: option('--data <dir>', 'folder of topologies, plans and jobs', z.string().min(1), 'rankweave-data'),
  tokenFile: option('--token-file <file>', 'tokens, one per line and tenant'),
  metricsTokenFile: option('--metrics-token-file <file>', 'one token, which shows /metrics and nothing else'),
  tlsCert: option('--tls-cert <file>', 'certificate in PEM: connections are accepted by TLS only'),
  tlsKey: option('--tls-key <file>', 'its key in PEM'),
  publicUrl: option(
    '--public-url <url>',
    'where it is reached, if not where it listens, e.g. https://plans.example.org',
  ),
  allowOrigin: option(
    '--allow-origin <origin...>',
    'pages of other origins that may use it',
    z.array(z.string()),
    [],
  ),
  limits: option('--limits <name=number,...>', 'limits other than the defaults'),
  grace: option('--grace <seconds>', 'how long running plans may take to end', seconds(3600), '10'),
  json,
}

export const serveCommand: AddCommand = (command, act) => {
  addOptions(command, optionTable)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, raw: unknown) => {
        const options = readOptions(optionTable, raw)
        const { host, port, data, publicUrl, allowOrigin, grace } = options
        const service = await serve({
          ...{ host, port, data, allowedOrigins: allowOrigin, limits: limitsOf(options.limits) },
          ...{ tokens: options.tokenFile === undefined ? null : tokensOf(readNamedFile(options.tokenFile)) },
          ...{ metricsToken: metricsTokenOf(options.metricsTokenFile) },
          ...(publicUrl === undefined ? {} : { publicUrl }),
          ...tlsOf(options),
        })
        const interrupted = deferred()
        // The handlers stay: `npx` and shells pass on a signal that the process has already got, perhaps while it ends.
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.resolve())
        const { url, tenants } = service
        const who = options.tokenFile === undefined ? '' : `, ${counted(tenants, 'tenant', 'tenants')}`
        report.result({ url, tenants, data }, `listening on ${url}${who}`)
        await interrupted.promise
        await service.close(Math.round(grace * 1000))
      }),
    )
}

/** @throws ERR_USAGE, ERR_FILE */
function metricsTokenOf(file: string | undefined): string | null {
  if (file === undefined) return null
  const [token, ...more] = tokensOf(readNamedFile(file))
  if (token !== undefined && more.length === 0) return token
  throw new RankweaveError(
    'ERR_USAGE',
    `--metrics-token-file: expected one token, got ${token === undefined ? 0 : more.length + 1}`,
  )
}

/** @throws ERR_USAGE, ERR_FILE */
function tlsOf({ tlsCert, tlsKey }: OptionValues<typeof optionTable>) {
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw new RankweaveError('ERR_USAGE', '--tls-cert, --tls-key: expected both or none')
  return tlsCert === undefined ? {} : { tls: { cert: readNamedFile(tlsCert), key: readNamedFile(tlsKey!) } }
}

/** Reads `uploadBytes=1048576,workers=4`. @throws ERR_USAGE */
function limitsOf(text: string | undefined): Partial<ServiceLimits> {
  return parsedOptions(serviceLimits, text, (expected, got) => {
    throw new RankweaveError('ERR_USAGE', `--limits: expected ${expected}, got ${shown(got)}`)
  })
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((fulfill) => {
    resolve = fulfill
  })
  return { promise, resolve }
}
