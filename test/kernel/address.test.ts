import assert from 'node:assert/strict'
import test from 'node:test'
import { hostOf } from '../../src/kernel/index.ts'

test('of an address protocol, host and port are shown', () => {
  assert.equal(hostOf('https://me:secret@host.example:81/v1/token?key=x#y'), 'https://host.example:81')
  assert.equal(hostOf('http://127.0.0.1:8080'), 'http://127.0.0.1:8080')
  assert.equal(hostOf('nats://u:a@b@h:4222'), 'nats://h:4222')
})

test('nothing is shown of an address with a password that is not written as it should be', () => {
  const passwords = ['12/pw', '12?pw', '12#pw', '12\\pw', '1 2', '12\tpw', '12\npw', '/pw', '12/p/w', 'p/w']
  for (const scheme of ['https', 'postgres', 'nats'])
    for (const password of passwords)
      assert.equal(hostOf(`${scheme}://user:${password}@host/x`), undefined, `${scheme} ${password}`)
})

test('nothing is shown of what is no address', () => {
  for (const text of [
    '',
    'secret',
    'me:secret@host:x/y',
    'https:secret',
    'https:/secret/x',
    'https:///secret',
    'http://',
  ])
    assert.equal(hostOf(text), undefined, text)
})
