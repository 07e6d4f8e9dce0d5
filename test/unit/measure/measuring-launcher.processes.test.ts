import { expect, it } from 'vitest'
import { startMeasuring } from '../../../src/measure/measuring-job.js'
import { refusal } from '../../support/refusal.js'

it.each([
  ['that does not start', ['no-such-launcher'], 'no-such-launcher does not start'],
  ['that fails', ['false'], 'ended with exit code 1'],
  [
    'that starts something else',
    ['printf', 'a\\nb%s\\n'],
    "printf ended with exit code 0; the first line it printed is 'a'",
  ],
  ['that prints without end', ['yes'], "got 1000 other lines, the first 'program'"],
  [
    'of worlds of one',
    ['sh', '-c', 'echo rankweave-measure X; echo rankweave-measure X; exec cat'],
    'got a world of one',
  ],
  [
    'that prints between lines of the job',
    ['sh', '-c', 'echo rankweave-measure X; echo a banner; exec cat'],
    "second line of the job, got 'a banner'",
  ],
])('a launcher %s is refused', async (_, launch, message) => {
  await expect(startMeasuring(launch, 'program')).rejects.toMatchObject(refusal('ERR_MEASUREMENT', message))
})
