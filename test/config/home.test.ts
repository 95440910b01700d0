import assert from 'node:assert/strict'
import { mkdir, symlink } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { describe, it } from 'node:test'
import { loadConfig, openSecrets, readEnvironment, trustWorkspace } from '../../src/config/index.ts'
import { holdsNexusHome } from '../../src/config/workspace.ts'
import { findings, makePlace, type Place } from './place.ts'

/** The home that the system knows for this user; some containers know none. */
function systemHome(): string | undefined {
  try {
    const { homedir } = userInfo()
    return isAbsolute(homedir) ? homedir : undefined
  } catch {
    return undefined
  }
}

const OWN = systemHome()
const NO_HOME = OWN === undefined && 'the system knows no home directory for this user'
const NEXUS_YAML = 'execution: {sandbox: none}\nlimits: {maxIterations: 3}'

/** A workspace with a `.nexus` that trusts the workspace and takes the sandbox away. */
async function withOwnHome(place: Place, directory = 'workspace'): Promise<void> {
  await place.write('workspace/skills/wk/SKILL.md', '---\nname: wk\ndescription: Does it.\n---\n')
  await place.write(`${directory}/.nexus/nexus.yaml`, NEXUS_YAML)
  await trustWorkspace({ nexusHome: join(place.root, directory, '.nexus'), directory: place.workspace })
}

describe('the home directory', { skip: NO_HOME }, () => {
  for (const home of [undefined, '', '.', './home', 'home', '..', '~']) {
    it(`is what the system says when HOME is ${home === undefined ? 'unset' : JSON.stringify(home)}`, () => {
      const environment = readEnvironment({ HOME: home })
      assert.equal(environment.home, OWN)
      assert.equal(environment.nexusHome, join(OWN ?? '', '.nexus'))
      assert.equal(environment.stateDirectory, join(OWN ?? '', '.nexus/state'))
    })
  }

  it('that is relative is reported, one that is empty is not', async () => {
    await using place = await makePlace()
    const variables = { NEXUS_HOME: place.nexusHome }
    assert.deepEqual(findings(await place.load({ variables: { ...variables, HOME: '.' } })), [
      'environment-wrong-value',
    ])
    assert.deepEqual(findings(await place.load({ variables: { ...variables, HOME: '' } })), [])
  })

  it('is told to programs that give a secret, not what HOME says', async () => {
    await using place = await makePlace({ user: 'model: {provider: openai, name: m, apiKey: {command: [x]}}' })
    const environment = readEnvironment({ HOME: '.', NEXUS_HOME: place.nexusHome, XDG_RUNTIME_DIR: 'run', USER: 'me' })
    const loaded = await loadConfig({ cwd: place.workspace, environment })
    const given: unknown[] = []
    const run = async (request: { environment: Readonly<Record<string, string>> }) => {
      given.push(request.environment)
      return { type: 'done', output: 'secret-value' } as const
    }
    await openSecrets(loaded, { run, environment }).model()
    assert.deepEqual(given, [{ HOME: OWN, USER: 'me' }])
  })
})

describe('a place that a variable names', () => {
  for (const name of ['NEXUS_HOME', 'NEXUS_STATE_DIR', 'NEXUS_CONFIG']) {
    it(`is refused when it is relative: ${name}`, async () => {
      await using place = await makePlace()
      await withOwnHome(place)
      for (const value of ['.nexus', '.', './x', '../x', '~someone/x']) {
        const error = { code: 'CONFIG_INVALID', message: new RegExp(`^${name} must be an absolute path; it is "`) }
        await assert.rejects(place.load({ variables: { [name]: value } }), error)
      }
    })
  }

  it('is looked up only when it is asked for, so that help and version need none', () => {
    const environment = readEnvironment({ HOME: '/home/me', NEXUS_HOME: 'x', TERM: 'dumb' })
    assert.equal(environment.TERM, 'dumb')
    assert.throws(() => environment.nexusHome, { code: 'CONFIG_INVALID' })
  })

  it('is without dots and a slash at its end', () => {
    const environment = readEnvironment({ HOME: '/home/me/', NEXUS_HOME: '~/a/../n/' })
    assert.deepEqual([environment.home, environment.nexusHome], ['/home/me', '/home/me/n'])
  })
})

describe('a workspace with a .nexus of its own', () => {
  it('is not trusted by it, whatever HOME is made of the working directory', async () => {
    await using place = await makePlace()
    await withOwnHome(place)
    await mkdir(join(place.root, 'elsewhere'))
    await symlink(place.workspace, join(place.root, 'link'))
    const homes = [place.workspace, `${place.workspace}/`, join(place.root, 'link')]
    for (const HOME of homes) {
      const loaded = await place.load({ variables: { HOME } })
      assert.deepEqual(findings(loaded)[0], 'environment-home-in-workspace', HOME)
      assert.equal(loaded.workspace.trusted, false)
      assert.equal(loaded.homeIsWorkspace, true)
      assert.equal(loaded.config.execution.sandbox, 'local')
      // It may tighten, as the rest of an untrusted workspace.
      assert.equal(loaded.config.limits.maxIterations, 3)
    }
  })

  it('is not trusted by a home inside of it', async () => {
    await using place = await makePlace()
    await withOwnHome(place, 'workspace/in/side')
    const loaded = await place.load({ variables: { HOME: join(place.workspace, 'in/side') } })
    assert.deepEqual([loaded.workspace.trusted, loaded.config.execution.sandbox], [false, 'local'])
    const trusted = await place.load({ variables: { HOME: join(place.workspace, 'in/side') }, trusted: true })
    assert.deepEqual([trusted.workspace.trusted, trusted.config.execution.sandbox], [true, 'local'])
    assert.ok(findings(trusted).some((finding) => finding.endsWith('config-user-only')))
  })

  it('is not trusted by NEXUS_HOME in it, where others write', async () => {
    await using place = await makePlace()
    await withOwnHome(place)
    const loaded = await place.load({ variables: { NEXUS_HOME: join(place.workspace, '.nexus') } })
    assert.equal(loaded.homeIsWorkspace, true)
    assert.deepEqual([loaded.workspace.trusted, loaded.config.execution.sandbox], [false, 'local'])
  })

  it('says nothing of a home without marks of a workspace', async () => {
    await using place = await makePlace({ user: NEXUS_YAML })
    const loaded = await place.load({ cwd: place.home })
    assert.deepEqual([findings(loaded), loaded.config.execution.sandbox], [[], 'none'])
  })

  it('says nothing of the home that the system knows', { skip: NO_HOME }, () => {
    const home = OWN ?? ''
    assert.equal(holdsNexusHome({ directory: home, marker: '.git' }, readEnvironment({ HOME: home })), false)
    assert.equal(holdsNexusHome({ directory: '/', marker: '.git' }, readEnvironment({ HOME: '/nowhere' })), true)
  })
})
