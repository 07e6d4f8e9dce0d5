import { ProxiedPrograms } from '../test/support/faults/proxied-programs.js'
import { TcpProxy } from '../test/support/faults/tcp-proxy.js'

/**
 * Runs programs whose connections on this host pass a proxy that delays every byte.
 *
 * @param latencyMs in each direction
 * @param run gets the flags of Node for the programs
 */
export async function onSlowNetwork<T>(
  latencyMs: number,
  run: (execArgv: readonly string[]) => Promise<T>,
): Promise<T> {
  const proxy = await TcpProxy.start({ latencyMs })
  const programs = await ProxiedPrograms.start(proxy)
  try {
    return await run(programs.execArgv)
  } finally {
    await programs.close()
    await proxy.close()
  }
}
