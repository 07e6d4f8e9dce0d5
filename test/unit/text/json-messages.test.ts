import { expect, it } from 'vitest'
import { parseSettings } from '../../../src/launch/websocket/settings.js'
import { parseProfile } from '../../../src/machine/profile-file.js'
import { readTraceLines } from '../../../src/messages/matching-queues/matching-trace.js'
import { parseSchedule } from '../../../src/schedule/file/reader.js'
import { errorAnswer } from '../../../src/service/http/error-answer.js'
import { isPrintable } from '../../../src/text/printable.js'
import { parseGraphologyJson } from '../../../src/topology/files/graphology-json.js'
import { buildTopology } from '../../../src/topology/files/topology-from-spec.js'
import { readMapping } from '../../../src/topology/mapping/mapping-file.js'
import { parseMeasurement } from '../../../src/tuning/measured/measurement.js'
import { readTuningFile } from '../../../src/tuning/models/read-tuning-file.js'
import { readCallFile } from '../../../src/tuning/online/read-call-file.js'

const readers = {
  'a profile': parseProfile,
  'a tuning file': readTuningFile,
  'a measurement': (text: string) => parseMeasurement(text, 1),
  'a file of calls': (text: string) => readCallFile('runs/1.calls', Buffer.from(`${text}\n`)),
  'a mapping': (text: string) => readMapping(text, buildTopology('moore:2x2:r=1')),
  'a graph': (text: string) => parseGraphologyJson(text),
  'a schedule': (text: string) => parseSchedule([text]),
  'a trace': (text: string) => readTraceLines([text]),
  'the settings of a world': parseSettings,
  'a request': (text: string): unknown => {
    try {
      return JSON.parse(text)
    } catch (error) {
      const { message } = errorAnswer(Object.assign(error as Error, { statusCode: 400 })).answer.error
      throw new Error(message)
    }
  },
}

it.each(Object.entries(readers))('%s that is not JSON: the message escapes what the text has', (_, read) => {
  for (const text of ['{\u202e1\u2028]', '\u202e', '{"a": \u001b[2J}', '{"\u2066a": 1}}']) {
    let message = ''
    try {
      read(text)
    } catch (error) {
      message = (error as Error).message
    }
    expect(message).not.toBe('')
    expect([message, isPrintable(message)]).toEqual([message, true])
  }
})
