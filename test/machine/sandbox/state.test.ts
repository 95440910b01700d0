import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkSandbox, createSandbox } from '../../../src/machine/sandbox/index.ts'
import { IS_ROOT, localOptions } from './local-rig.ts'
import { whySkipped } from './required.ts'

const skip = whySkipped() ?? false

test(
  'a state directory that cannot be made ends the first command at once, with what to set, and no question before it',
  { skip },
  async () => {
    const sandbox = await createSandbox(localOptions({ stateDir: '/proc/x/state' }))
    assert.match((await sandbox.facts()).target, /^local sandbox/)
    await assert.rejects(sandbox.run({ command: 'true', workspace: import.meta.dirname }), {
      code: 'SANDBOX_UNAVAILABLE',
      message: /^Commands cannot be confined here: Nexus cannot use the state directory \(ENOENT \/proc\/x\)\.$/,
      fix: IS_ROOT ? /, or run as a normal user\. In programs, set stateDir\.$/ : /, or set NEXUS_STATE_DIR\.$/,
    })
    await sandbox.close()
    const [found] = await checkSandbox(localOptions({ stateDir: '/proc/x/state' }))
    assert.equal(found?.code, 'sandbox-unavailable')
  },
)
