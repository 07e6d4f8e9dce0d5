import { it } from 'vitest'
import { killService } from '../support/service-kills.js'
import { demanded } from '../support/soak.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const folder = temporaryFolder('service-kills')

it('a service that is killed again and again while it writes loses nothing that it acknowledged', async () => {
  await killService(folder(), demanded(50, 5), 2)
})
