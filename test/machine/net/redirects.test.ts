import assert from 'node:assert/strict'
import type { IncomingMessage, RequestListener } from 'node:http'
import { test } from 'node:test'
import { CERTIFICATE, makeRig, OTHER, PUBLIC, serve, serveTls, textOf } from './rig.ts'

/** Redirects the path `/` to `location`, and answers other paths with what it was sent. */
function redirecting(location: string, status = 302): RequestListener {
  return (request, response) => {
    if (request.url === '/') response.writeHead(status, { location }).end('moved')
    else void echo(request).then((text) => response.end(text))
  }
}

async function echo(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const part of request) body += String(part)
  const { authorization, cookie, host, 'x-api-key': key, 'user-agent': agent, 'content-type': type } = request.headers
  return JSON.stringify({ method: request.method, host, authorization, cookie, key, agent, type, body })
}

const CREDENTIALS = { Authorization: 'Bearer x', Cookie: 'a=b', 'X-Api-Key': 'k', 'User-Agent': 'test' }

/** Where a redirect may not lead, and what is dialled until then. */
for (const location of [
  ...[
    'http://127.0.0.1/',
    'http://169.254.169.254/latest/',
    'http://[::1]/',
    'http://inner.test/',
    'http://localhost/',
  ],
  ...['http://other.test:22/', 'file:///etc/passwd', 'http://0x7f.1/', '//10.0.0.1/', '\\\\10.0.0.1\\'],
])
  test(`a redirect to ${location} is not followed`, async (t) => {
    const port = await serve(t, redirecting(location))
    const { net, dialled } = makeRig({ names: { 'inner.test': [['10.0.0.1']] }, routes: { [`${PUBLIC}:80`]: port } })
    const expected = { code: 'ADDRESS_REFUSED', message: /http:\/\/public\.test redirected to it\.$/ }
    await assert.rejects(net.request({ url: 'http://public.test/' }), expected)
    assert.deepEqual(dialled, [`${PUBLIC}:80`])
  })

test('the same name is resolved and checked again after a redirect', async (t) => {
  const port = await serve(t, redirecting('/next'))
  const { net, dialled } = makeRig({
    names: { 'rebind.test': [[PUBLIC], ['127.0.0.1']] },
    routes: { [`${PUBLIC}:80`]: port },
  })
  await assert.rejects(net.request({ url: 'http://rebind.test/' }), { code: 'ADDRESS_REFUSED' })
  assert.deepEqual(dialled, [`${PUBLIC}:80`])
})

test('a redirect to a URL that a caller could not request either is an error of the server', async (t) => {
  for (const location of ['http://a:b@public.test/x', 'http://[/', `/${'a'.repeat(9000)}`, 'http://a..b/', 'x\ty']) {
    const port = await serve(t, redirecting(location))
    const { net } = makeRig({ routes: { [`${PUBLIC}:80`]: port } })
    const expected = { code: 'NETWORK_FAILED', message: /public\.test redirects to a URL that cannot be used/ }
    await assert.rejects(net.request({ url: 'http://public.test/' }), expected)
  }
})

test('to the same origin a redirect keeps the headers of the caller', async (t) => {
  const port = await serve(t, redirecting('/next'))
  const { net } = makeRig({ routes: { [`${PUBLIC}:80`]: port } })
  const response = await net.request({ url: 'http://public.test/', headers: CREDENTIALS })
  assert.equal(response.url, 'http://public.test/next')
  assert.partialDeepStrictEqual(JSON.parse(await textOf(response)), {
    authorization: 'Bearer x',
    cookie: 'a=b',
    key: 'k',
  })
})

test('another origin gets no header that could be a credential, also not on the way back', async (t) => {
  const first = await serve(t, (request, response) =>
    request.url === '/'
      ? response.writeHead(302, { location: 'http://other.test/' }).end()
      : void echo(request).then((text) => response.end(text)),
  )
  const second = await serve(t, redirecting('http://public.test/back'))
  const { net, dialled } = makeRig({
    names: { 'other.test': [[OTHER]] },
    routes: { [`${PUBLIC}:80`]: first, [`${OTHER}:80`]: second },
  })
  const response = await net.request({ url: 'http://public.test/', headers: CREDENTIALS })
  assert.deepEqual(JSON.parse(await textOf(response)), { method: 'GET', host: 'public.test', agent: 'test', body: '' })
  assert.deepEqual(dialled, [`${PUBLIC}:80`, `${OTHER}:80`, `${PUBLIC}:80`])
})

test('a redirect from https to http is not followed, also to the same host', async (t) => {
  const port = await serveTls(t, redirecting('http://public.test/'))
  const { net, dialled } = makeRig({ routes: { [`${PUBLIC}:443`]: port }, options: { ca: CERTIFICATE } })
  await assert.rejects(net.request({ url: 'https://public.test/' }), { code: 'ADDRESS_REFUSED' })
  assert.deepEqual(dialled, [`${PUBLIC}:443`])
})

test('301, 302 and 303 make a GET of a POST; 307 and 308 keep method and body on the same origin only', async (t) => {
  for (const status of [301, 302, 303, 307, 308]) {
    const port = await serve(t, redirecting('/next', status))
    const { net } = makeRig({ routes: { [`${PUBLIC}:80`]: port } })
    const body = JSON.stringify({ a: 1 })
    const headers = { 'content-type': 'application/json' }
    const answer = await textOf(await net.request({ url: 'http://public.test/', headers, body }))
    const expected = status > 303 ? { method: 'POST', type: 'application/json', body } : { method: 'GET', body: '' }
    assert.deepEqual(JSON.parse(answer), { host: 'public.test', agent: 'nexus-skills', ...expected }, String(status))
    const away = await serve(t, redirecting('http://other.test/next', 307))
    const leaving = makeRig({ routes: { [`${PUBLIC}:80`]: away } })
    await assert.rejects(leaving.net.request({ url: 'http://public.test/', body }), { code: 'ADDRESS_REFUSED' })
    assert.equal(leaving.dialled.length, 1)
  }
})

test('after five redirects the next one is an error; an answer without Location is an answer', async (t) => {
  let requests = 0
  const port = await serve(t, (_, response) => {
    requests += 1
    response.writeHead(302, { location: `/${requests}` }).end()
  })
  const { net } = makeRig({ routes: { [`${PUBLIC}:80`]: port } })
  await assert.rejects(net.request({ url: 'http://public.test/' }), { code: 'LIMIT_EXCEEDED' })
  assert.equal(requests, 6)
  const still = await serve(t, (_, response) => response.writeHead(302).end('here'))
  const response = await makeRig({ routes: { [`${PUBLIC}:80`]: still } }).net.request({ url: 'http://public.test/' })
  assert.deepEqual([response.status, await textOf(response)], [302, 'here'])
})

test('the list of domains applies to each hop; a configured origin is not exempt', async (t) => {
  const port = await serve(t, redirecting('http://b.other.test/next'))
  const { net, dialled } = makeRig({
    routes: { [`${PUBLIC}:80`]: port },
    options: { origins: ['http://search.test:8888'] },
  })
  const ask = (url: string, domains: readonly string[]): Promise<unknown> => net.request({ url, domains })
  await assert.rejects(ask('http://public.test/', ['public.test', 'other.test']), { code: 'ADDRESS_REFUSED' })
  assert.equal(dialled.length, 1)
  for (const domains of [[], ['*.public.test'], ['ublic.test'], ['xn--'], ['public.test.']])
    await assert.rejects(ask('http://public.test/', domains), { code: 'ADDRESS_REFUSED' }, domains[0])
  await assert.rejects(ask('http://search.test:8888/', ['public.test']), { code: 'ADDRESS_REFUSED' })
  assert.equal(dialled.length, 1)
  const response = await net.request({ url: 'http://public.test/', domains: ['public.test', '*.other.test'] })
  assert.equal(response.url, 'http://b.other.test/next')
  response.close()
  const idn = await net.request({ url: 'http://b\u00fccher.test/next', domains: ['B\u00fccher.test'] })
  assert.equal(JSON.parse(await textOf(idn)).host, 'xn--bcher-kva.test')
})

test('a configured origin may be private and have any port; what it redirects to may not', async (t) => {
  const port = await serve(t, redirecting('http://127.0.0.1:9999/'))
  const rig = makeRig({
    routes: { '127.0.0.1:8888': port, '10.0.0.7:8080': port },
    names: { 'search.test': [['10.0.0.7']] },
    options: { origins: ['http://127.0.0.1:8888', 'http://Search.test:8080/'] },
  })
  for (const url of ['http://127.0.0.1:8888/x', 'http://search.test:8080/x'])
    assert.equal((await rig.net.request({ url })).status, 200, url)
  const before = rig.dialled.length
  for (const url of [
    'http://127.0.0.1:8889/',
    'https://127.0.0.1:8888/',
    'http://search.test/',
    'http://10.0.0.7:8080/',
  ])
    await assert.rejects(rig.net.request({ url }), { code: 'ADDRESS_REFUSED' }, url)
  assert.equal(rig.dialled.length, before)
  await assert.rejects(rig.net.request({ url: 'http://127.0.0.1:8888/' }), { code: 'ADDRESS_REFUSED' })
  assert.equal(rig.dialled.length, before + 1)
  for (const origin of ['127.0.0.1:8888', 'http://a.test/path', 'ftp://a.test', 'http://a:b@a.test'])
    await assert.rejects(makeRig({ options: { origins: [origin] } }).net.request({ url: 'http://public.test/' }), {
      code: 'INVALID_ARGUMENT',
    })
})
