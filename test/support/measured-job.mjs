// Answers orders of `rankweave measure` as a job of Open MPI does, with four processes on two nodes. The first
// arguments are a file that gets the orders, and JSON in base64url with answers by the begin of
// their order.
import { appendFileSync } from 'node:fs'
import { argv } from 'node:process'
import { createInterface } from 'node:readline'

const [file, given] = argv.slice(2)
/** @type {Record<string, string>} */
const answers = {
  ...{
    read: 'none',
    'describe coll_tuned_bcast': 'enum 0=ignore 1=basic_linear 6=binomial',
    describe: 'none',
  },
  verify: 'right',
  ...JSON.parse(Buffer.from(given, 'base64url').toString()),
}
const inOrder = Object.keys(answers).sort((a, b) => b.length - a.length)

console.log('rankweave-measure Open MPI v4.1.4, package: of tests')
console.log('nodes 0 0 2 2')
for await (const order of createInterface({ input: process.stdin })) {
  appendFileSync(file, `${order}\n`)
  if (order === 'end') break
  const [word, , count] = order.split(' ')
  const times = Array.from({ length: 2 * Number(count) }, (_, n) => n + 1)
  const answer = answers[inOrder.find((begin) => order.startsWith(begin)) ?? '']
  console.log(answer ?? (word === 'time' ? `times ${times.join(' ')}` : 'ok'))
}
