// Runs npm eventsource-parser over the streams on stdin and says on stdout what it made of each.
//
// stdin, numbers as 32-bit little-endian, until it ends:
//   1 where the TextDecoder drops a leading BOM (its default), 0 where the parser gets to see it
//   number of chunks, then for each its length and its bytes
// stdout, a line of JSON for each stream:
//   {events: [{chunk, id?, event?, data}], end: [{id?, event?, data}], lastId, retry}
//   chunk is the index of the chunk that dispatched the event, end what two more line ends dispatch.
import {createParser} from 'eventsource-parser'
import {readFileSync} from 'node:fs'

const input = readFileSync(0)
let at = 0

function number() {
  at += 4
  return input.readUInt32LE(at - 4)
}

function parse() {
  const decoder = new TextDecoder('utf-8', {ignoreBOM: number() === 0})
  const result = {events: [], end: [], lastId: '', retry: -1}
  let chunk = 0
  const parser = createParser({
    onEvent: (event) => result.events.push({chunk, ...event}),
    onId: (id) => (result.lastId = id),
    onRetry: (ms) => (result.retry = ms),
  })
  for (const chunks = number(); chunk < chunks; chunk++) {
    const length = number()
    parser.feed(decoder.decode(input.subarray(at, at + length), {stream: true}))
    at += length
  }
  const {lastId} = result
  const dispatched = result.events.length
  parser.feed(decoder.decode() + '\n\n')
  result.end = result.events.splice(dispatched).map(({chunk, ...event}) => event)
  result.lastId = lastId
  return result
}

while (at < input.length) process.stdout.write(JSON.stringify(parse()) + '\n')
