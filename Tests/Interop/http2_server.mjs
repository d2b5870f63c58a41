// An HTTP/2 server with nothing but Node that answers every request with 200, and in between does what the first
// argument, a JSON object, asks for. Prints its port on a line of its own, and when its standard input ends, one JSON
// object: what it saw.
//
//   key, cert    PEM files
//   settings     the first SETTINGS (names of Node's http2 module)
//   cycle        more SETTINGS, one after the other, one each `every` requests
//   padding      true pads all frames as far as they go
//   every, after the things below happen at every so manieth request, counted from the `after`th on
//   goAway       text: GOAWAY with this debug data; what is open is still answered
//   reset        a code: the stream ends with RST_STREAM; no path's more than three times, after which a client may give up
//   ping         true: a PING
//   altsvc       true: an ALTSVC frame, of a type a client of APNs does not know
//   interim      true: two responses of 1xx before the real one
//   trailers     true: a field after the body
//   headerBytes  so many bytes of fields in the response
//   body         text of the response
import fs from 'node:fs'
import http2 from 'node:http2'

const wish = JSON.parse(process.argv[2])
const seen = {
  requests: 0, answered: 0, sessions: 0, openMax: 0, pings: 0, pongs: 0, goAways: 0, resets: 0, cut: 0,
  errors: [],
  // How often each path was answered.
  paths: {},
}
// How often a stream of each path was reset.
const reset = {}
const { PADDING_STRATEGY_MAX, PADDING_STRATEGY_NONE } = http2.constants

const server = http2.createSecureServer({
  key: fs.readFileSync(wish.key), cert: fs.readFileSync(wish.cert), settings: wish.settings,
  paddingStrategy: wish.padding ? PADDING_STRATEGY_MAX : PADDING_STRATEGY_NONE,
})
server.on('sessionError', (error) => seen.errors.push(String(error)))
server.on('session', (session) => {
  seen.sessions += 1
  let open = 0
  session.on('stream', (stream, headers) => {
    if (stream.id > (session.last ?? Infinity)) {
      // It was on its way when GOAWAY said that it is not taken.
      stream.on('error', () => {})
      stream.close(http2.constants.NGHTTP2_REFUSED_STREAM)
      return
    }
    seen.requests += 1
    open += 1
    seen.openMax = Math.max(seen.openMax, open)
    stream.on('close', () => { open -= 1 })
    stream.on('error', (error) => seen.errors.push(String(error)))
    const count = seen.requests - (wish.after ?? 0)
    const isTime = count > 0 && count % wish.every === 0
    if (isTime && wish.cycle) session.settings(wish.cycle[(count / wish.every) % wish.cycle.length])
    if (isTime && wish.ping) {
      seen.pings += 1
      session.ping((error) => { if (!error) seen.pongs += 1 })
    }
    if (isTime && wish.altsvc) session.altsvc('h2=":1"', 'https://localhost')
    if (isTime && wish.goAway !== undefined && session.last === undefined) {
      session.last = stream.id
      seen.goAways += 1
      session.goaway(0, stream.id, Buffer.from(wish.goAway))
      session.close()
    }
    const path = headers[':path']
    if (isTime && wish.reset !== undefined && (reset[path] ?? 0) < 3) {
      reset[path] = (reset[path] ?? 0) + 1
      seen.resets += 1
      stream.resume()
      stream.close(wish.reset)
      return
    }
    let bytes = 0
    stream.on('data', (part) => { bytes += part.length })
    stream.on('end', () => answer(stream, headers, bytes, isTime))
  })
})

function answer(stream, headers, bytes, isTime) {
  const path = headers[':path']
  seen.paths[path] = (seen.paths[path] ?? 0) + 1
  if (Number(headers['content-length'] ?? bytes) !== bytes) seen.cut += 1
  const fields = { ':status': 200 }
  if (isTime && wish.headerBytes) for (let n = 0; n * 500 < wish.headerBytes; n += 1) fields[`x-${n}`] = '~'.repeat(500)
  if (isTime && wish.interim) {
    stream.additionalHeaders({ ':status': 103, link: '</a>' })
    stream.additionalHeaders({ ':status': 102 })
  }
  if (wish.trailers) stream.on('wantTrailers', () => stream.sendTrailers({ 'x-after': 'all' }))
  stream.respond(fields, { waitForTrailers: wish.trailers === true, endStream: !wish.body && !wish.trailers })
  if (wish.body || wish.trailers) stream.end(wish.body ?? '')
  seen.answered += 1
}

server.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.stdin.resume()
process.stdin.on('end', () => {
  process.stdout.write(JSON.stringify(seen), () => process.exit(0))
})
