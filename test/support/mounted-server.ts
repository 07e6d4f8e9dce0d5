import { createServer } from 'node:http'
import { openWorld, Rendezvous, upgradeHandler } from 'rankweave/rendezvous'

const rendezvous = new Rendezvous()
const toRendezvous = upgradeHandler(rendezvous)

export const server = createServer((_, response) => response.end('A server of any kind.\n'))
server.on('upgrade', (request, connection, head) => {
  if (request.url === '/worlds') toRendezvous(request, connection, head)
  else connection.destroy()
})

export function newWorld(ranks: number, processes: number) {
  return openWorld(rendezvous, { ranks, processes })
}
