// One large request in its own process, so that those who measure others are not held up: node
// transfer.mjs URL [FILE]. Downloads, or sends the file; prints the bytes that have travelled.
import { createReadStream } from 'node:fs'
import { request } from 'node:http'
import { pipeline } from 'node:stream'

const [url, file] = process.argv.slice(2)
let bytes = 0
const asked = request(url, { method: file === undefined ? 'GET' : 'POST' }, (response) => {
  response.on('data', (piece) => {
    bytes += piece.length
  })
  response.on('end', () => {
    if (response.statusCode >= 300) throw new Error(`${url}: ${response.statusCode}`)
    console.log(bytes)
  })
})
if (file === undefined) asked.end()
else {
  asked.setHeader('content-type', 'text/plain')
  pipeline(createReadStream(file), asked, (error) => {
    if (error) throw error
  })
}
