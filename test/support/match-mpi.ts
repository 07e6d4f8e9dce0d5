import { run } from 'rankweave'
import matchProgram from './match-program.js'

/** The ranks of {@link matchProgram} on the processes that mpirun started; what they say, from the first process. */
const results = await run(matchProgram, { ranks: 24, fabric: 'mpi' })
const first = process.env['OMPI_COMM_WORLD_RANK'] === '0' || process.env['PMI_RANK'] === '0'
if (first) process.stdout.write(JSON.stringify(results))
