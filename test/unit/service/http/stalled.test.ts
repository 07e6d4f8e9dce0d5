import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it } from 'vitest'
import { endWhenStalled } from '../../../../src/service/http/context.js'

it('an answer that its client does not read is ended, and holds nothing', async () => {
  const server = createServer((_, answer) => {
    endWhenStalled(answer, 50)
    answer.end(Buffer.alloc(2 ** 26))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.on('error', () => {})
  client.pause()
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  const [, answer] = await once(server, 'request')
  await once(answer, 'close')
  expect(answer.destroyed).toBe(true)
  client.destroy()
  server.close()
})
