import { it } from 'vitest'
import { killService } from '../../../support/service-kills.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'

const folder = temporaryFolder('service-kills')

it('a service that is killed while it writes loses nothing that it acknowledged', async () => {
  await killService(folder(), 1, 2)
})
