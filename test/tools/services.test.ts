import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isNexusError, serviceKey } from '../../src/kernel/index.ts'
import { createServices } from '../../src/tools/index.ts'

const PORT = serviceKey<number>('port')
const AGENT = serviceKey<string>('agent_id')
const API_KEY = serviceKey<string>('api_key')

describe('createServices', () => {
  it('registers, gets, requires, lists, removes and clears', () => {
    const services = createServices()
    services.register(PORT, 8765)
    services.register(AGENT, 'main')
    services.register(PORT, 9000)
    const port: number | undefined = services.get(PORT)
    assert.equal(port, 9000)
    assert.equal(services.require(AGENT).toUpperCase(), 'MAIN')
    assert.equal(services.has(API_KEY), false)
    assert.equal(services.get(API_KEY), undefined)
    assert.deepEqual(services.names(), ['port', 'agent_id'])
    assert.equal(services.unregister(PORT), 9000)
    services.clear()
    assert.deepEqual(services.names(), [])
  })

  it('takes only a value of the type that the key names', () => {
    const services = createServices()
    // @ts-expect-error a port is a number
    services.register(PORT, '8765')
    // @ts-expect-error a key is needed, not a name
    assert.throws(() => services.require('port'))
  })

  it('finds a service by the name of its key, so that a key made twice is the same key', () => {
    const services = createServices()
    services.register(PORT, 8765)
    assert.equal(services.get(serviceKey<number>('port')), 8765)
  })

  it('keeps a part that is undefined or null as registered', () => {
    const services = createServices()
    const paths = serviceKey<readonly string[] | null>('allowed_paths')
    services.register(paths, null)
    assert.equal(services.require(paths), null)
  })

  it('throws INVALID_ARGUMENT with the names there are when a required part is missing', () => {
    const services = createServices()
    services.register(PORT, 1)
    assert.throws(
      () => services.require(API_KEY),
      (error) => isNexusError(error) && error.code === 'INVALID_ARGUMENT' && /Registered: port/.test(error.fix ?? ''),
    )
  })
})
