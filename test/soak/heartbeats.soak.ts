import { spawn } from 'node:child_process'
import { execPath } from 'node:process'
import { expect, it } from 'vitest'
import { compiled } from '../support/compiled.js'
import { joinOver, nextEvents, withRendezvous } from '../support/loopback-rendezvous.js'

const heartbeatThread = new URL(
  '../../.compiled/websocket/rendezvous/heartbeat-thread-nodejs.js',
  import.meta.url,
)

it('a process that computes for three times the limit lives on; stopped by SIGSTOP it is lost', () =>
  withRendezvous(async (rendezvous, url) => {
    const { token } = rendezvous.createWorld({ processes: 2, limits: { heartbeatMs: 200, silenceMs: 2_000 } })
    const child = spawn(
      execPath,
      [compiled('heartbeat-member.ts'), url, token, heartbeatThread.href, '6000'],
      {
        stdio: ['ignore', 'inherit', 'inherit'],
      },
    )
    try {
      const events = nextEvents(await joinOver(url, token, { process: 0 }))
      expect(await Promise.race([events.relayed, events.lost])).toEqual([1, Uint8Array.of(1)])
      child.kill('SIGSTOP')
      expect(await events.lost).toBe(1)
    } finally {
      child.kill('SIGKILL')
    }
  }))
