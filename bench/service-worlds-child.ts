// The service that bench/service-worlds.ts loads. Needs --expose-gc; the parent asks for its heap.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { serve } from '../src/service/serve/serve.js'

const data = mkdtempSync(join(tmpdir(), 'rankweave-bench-'))
const service = await serve({ data, logger: pino({ level: 'silent' }) })

process.on('message', (asked) => {
  if (asked === 'heap') {
    globalThis.gc?.()
    process.send?.({ heapBytes: process.memoryUsage().heapUsed })
  } else {
    void service.close(0).then(() => {
      rmSync(data, { recursive: true, force: true })
      process.disconnect()
    })
  }
})
process.send?.({ url: service.url })
