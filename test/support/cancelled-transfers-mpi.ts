// Runs cancelled-transfers-program.ts; process 0 prints the outcomes of all ranks, or the code of the world's
// error.
import { mpi, run } from 'rankweave'
import main, { type Part } from './cancelled-transfers-program.js'

const part = JSON.parse(process.argv[2]) as Part
const factory = mpi()
const outcome = await run((world) => main(world, part), { ranks: 3, fabric: factory }).catch(
  (error: { code?: string }) => error.code ?? String(error),
)
const session = await factory.open()
if (session.job.process === 0) console.log(JSON.stringify(outcome))
await session.close()
