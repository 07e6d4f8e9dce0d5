import { run } from 'rankweave'
import groupingProgram from './grouping-program.js'

/**
 * The ranks of {@link groupingProgram} on the processes that mpirun started; the first process prints what
 * they report.
 */
const results = await run(groupingProgram, { ranks: 24, fabric: 'mpi' })
const first = process.env['OMPI_COMM_WORLD_RANK'] === '0' || process.env['PMI_RANK'] === '0'
if (first) process.stdout.write(JSON.stringify(results))
