// One push over HTTP/2 with nothing but Node, as Apple describes it ("Sending notification requests to APNs").
//
// Reads one JSON object from standard input: port, ca, device, topic (null leaves the header out), body (text),
// and either key, keyID, teamID, age (of the token in seconds) or certificate (a PEM file with certificate and key).
// Prints one JSON object: status, headers, body; or goAway with the debug data; or error.
import crypto from 'node:crypto'
import fs from 'node:fs'
import http2 from 'node:http2'
import tls from 'node:tls'

const wish = JSON.parse(fs.readFileSync(0))

function authorization() {
  const part = (json) => Buffer.from(JSON.stringify(json)).toString('base64url')
  const issued = Math.floor(Date.now() / 1000) - (wish.age ?? 0)
  const input = `${part({ alg: 'ES256', kid: wish.keyID })}.${part({ iss: wish.teamID, iat: issued })}`
  const signature = crypto.sign('sha256', Buffer.from(input), { key: wish.key, dsaEncoding: 'ieee-p1363' })
  return `bearer ${input}.${signature.toString('base64url')}`
}

const options = { ca: fs.readFileSync(wish.ca), host: 'localhost', port: wish.port, ALPNProtocols: ['h2'] }
if (wish.certificate) {
  options.cert = fs.readFileSync(wish.certificate)
  options.key = options.cert
}

let isDone = false
function finish(result) {
  if (isDone) return
  isDone = true
  console.log(JSON.stringify(result))
  session.destroy()
}

// With TLS 1.3 the alert about a certificate comes after the handshake; a session does not tell, its socket does.
const socket = tls.connect(options)
socket.on('error', (error) => finish({ error: String(error.code ?? error) }))
const session = http2.connect(`https://localhost:${wish.port}`, { createConnection: () => socket })
session.on('error', (error) => finish({ error: String(error.code ?? error) }))
session.on('close', () => finish({ error: 'closed' }))
session.on('goaway', (code, last, debug) => finish({ goAway: debug?.toString() ?? '', last }))

// How many streams may be open is the server's to say, so the first request waits for its SETTINGS.
session.once('remoteSettings', () => {
  const headers = { ':method': 'POST', ':path': `/3/device/${wish.device}`, 'apns-push-type': 'alert' }
  if (wish.topic !== null) headers['apns-topic'] = wish.topic
  if (wish.key) headers.authorization = authorization()
  const stream = session.request(headers)
  stream.on('error', () => {})
  const result = { body: '' }
  stream.setEncoding('utf8')
  stream.on('response', (head) => {
    result.status = head[':status']
    result.headers = head
  })
  stream.on('data', (text) => { result.body += text })
  stream.on('end', () => { if (result.status) finish(result) })
  stream.end(wish.body)
})
