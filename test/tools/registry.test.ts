import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  createRegistry,
  createServices,
  createWireNames,
  defineTool,
  type ToolFactory,
  toWireName,
} from '../../src/tools/index.ts'

function factoryOf(name: string, seen: string[] = []): ToolFactory {
  return () => {
    seen.push(name)
    return defineTool({
      name,
      description: `Does ${name}.`,
      parameters: { type: 'object', properties: {} },
      execute: () => 'done',
    })
  }
}

describe('createRegistry', () => {
  it('makes a tool when it is first asked for, and once', () => {
    const seen: string[] = []
    const registry = createRegistry(createServices())
    registry.register('one', factoryOf('one', seen))
    assert.deepEqual(seen, [])
    assert.equal(registry.get('one'), registry.get('one'))
    assert.deepEqual(seen, ['one'])
  })

  it('drops the tool it made when a name is registered again, and keeps the place of the name', () => {
    const registry = createRegistry(createServices())
    registry.register('one', factoryOf('one'))
    registry.register('two', factoryOf('two'))
    const before = registry.get('one')
    registry.register('one', factoryOf('one'))
    assert.notEqual(registry.get('one'), before)
    assert.deepEqual(registry.names, ['one', 'two'])
  })

  it('gives undefined for an unknown name, also for one every object has', () => {
    const registry = createRegistry(createServices())
    assert.equal(registry.get('nothing'), undefined)
    assert.equal(registry.get('toString'), undefined)
    assert.equal(registry.has('__proto__'), false)
  })

  it('hands its services to the factory', () => {
    const services = createServices()
    const registry = createRegistry(services)
    registry.register('one', (given) => {
      assert.equal(given, services)
      return factoryOf('one')(given)
    })
    assert.ok(registry.get('one'))
  })

  it('forgets what is unregistered', () => {
    const registry = createRegistry(createServices())
    registry.register('one', factoryOf('one'))
    registry.get('one')
    assert.equal(registry.unregister('one'), true)
    assert.equal(registry.unregister('one'), false)
    assert.equal(registry.get('one'), undefined)
  })

  it('leaves out a bad name, and one that differs only in case, with a diagnostic', () => {
    const registry = createRegistry(createServices())
    registry.register('Skill', factoryOf('Skill'))
    registry.register('a b', factoryOf('a b'))
    registry.register('skill', factoryOf('skill'))
    assert.deepEqual(registry.names, ['Skill'])
    assert.deepEqual(
      registry.diagnostics.map(({ code, subject }) => [code, subject]),
      [
        ['tool-left-out', 'a b'],
        ['tool-left-out', 'skill'],
      ],
    )
  })

  it('leaves out a tool whose factory fails, makes another name or has no object schema, and keeps the others', () => {
    const registry = createRegistry(createServices())
    registry.register('broken', () => {
      throw new Error('no key')
    })
    registry.register('alias', factoryOf('other'))
    registry.register('odd', (services) => ({ ...factoryOf('odd')(services), parameters: { type: 'array' } }))
    registry.register('good', factoryOf('good'))
    assert.deepEqual(
      registry.definitions('json').map(({ name }) => name),
      ['good'],
    )
    assert.equal(registry.get('broken'), undefined)
    assert.deepEqual(
      registry.diagnostics.map(({ subject }) => subject),
      ['broken', 'alias', 'odd'],
    )
    assert.match(registry.diagnostics[0]?.message ?? '', /'broken' is left out: its factory failed: no key/)
  })

  it('takes a tool back that is registered again', () => {
    const registry = createRegistry(createServices())
    registry.register('one', factoryOf('other'))
    assert.equal(registry.get('one'), undefined)
    registry.register('one', factoryOf('one'))
    assert.equal(registry.get('one')?.name, 'one')
    assert.deepEqual(registry.diagnostics, [])
  })
})

describe('definitions', () => {
  const registry = createRegistry(createServices())
  for (const name of ['read_file', 'skills.load', 'mcp:github.create_issue']) registry.register(name, factoryOf(name))
  const parameters = { type: 'object', properties: {} }

  it('come in the form of OpenAI with wire names', () => {
    assert.deepEqual(registry.definitions('openai')[1], {
      type: 'function',
      function: { name: 'skills__load', description: 'Does skills.load.', parameters },
    })
  })

  it('come in the forms of Anthropic, MCP and plain JSON', () => {
    const description = 'Does mcp:github.create_issue.'
    assert.deepEqual(registry.definitions('anthropic')[2], {
      name: 'mcp__github__create_issue',
      description,
      input_schema: parameters,
    })
    assert.deepEqual(
      registry.definitions('mcp').map(({ name }) => name),
      ['read_file', 'skills.load', 'mcp__github__create_issue'],
    )
    assert.deepEqual(registry.definitions('json')[2], { name: 'mcp:github.create_issue', description, parameters })
  })

  it('come in the form of the AI SDK, which reads the parameters from them', async () => {
    const { asSchema } = await import('ai')
    const [, tool] = registry.definitions('ai-sdk')
    assert.equal(tool?.name, 'skills__load')
    const schema = asSchema(tool?.inputSchema as Parameters<typeof asSchema>[0])
    assert.deepEqual(await schema.jsonSchema, { ...parameters, additionalProperties: false })
  })

  it('leave out what the filter leaves out', () => {
    const names = registry.definitions('json', { filter: ({ name }) => name !== 'read_file' }).map(({ name }) => name)
    assert.deepEqual(names, ['skills.load', 'mcp:github.create_issue'])
  })

  it('use the names that wireNames turns back', () => {
    const wire = registry.wireNames()
    for (const definition of registry.definitions('openai'))
      assert.ok(registry.has(wire.toName(definition.function.name) ?? ''))
  })
})

describe('wire names', () => {
  it('leave alone what providers accept', () => {
    assert.equal(toWireName('run_command'), 'run_command')
  })

  it('tell rivals apart whatever their order', () => {
    const names = ['a.b', 'a:b', 'a__b']
    const wire = createWireNames(names)
    assert.equal(wire.toWire('a__b'), 'a__b')
    assert.match(wire.toWire('a.b'), /^a__b_[0-9a-f]{8}$/)
    assert.notEqual(wire.toWire('a.b'), wire.toWire('a:b'))
    assert.equal(createWireNames(names.toReversed()).toWire('a.b'), wire.toWire('a.b'))
  })

  it('answer a policy name that a model used as it stands', () => {
    const wire = createWireNames(['skills.load'])
    assert.equal(wire.toName('skills.load'), 'skills.load')
    assert.equal(wire.toName('skills__load'), 'skills.load')
    assert.equal(wire.toName('nothing'), undefined)
  })

  it('are accepted by providers, unique and reversible for any set of names', () => {
    const unit = fc.constantFrom('a', 'b', '_', '-', '.', ':', '/', 'é')
    const anyName = fc.oneof(
      fc.string({ unit, minLength: 1, maxLength: 5 }),
      fc.string({ unit, minLength: 60, maxLength: 90 }),
    )
    fc.assert(
      fc.property(fc.uniqueArray(anyName, { maxLength: 30 }), (names) => {
        const wire = createWireNames(names)
        const all = names.map((name) => wire.toWire(name))
        assert.equal(new Set(all).size, names.length)
        for (const [index, name] of names.entries()) {
          assert.match(all[index] ?? '', /^[A-Za-z0-9_-]{1,64}$/)
          assert.equal(wire.toName(all[index] ?? ''), name)
        }
      }),
    )
  })
})
