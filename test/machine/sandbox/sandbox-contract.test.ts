import { createSandbox } from '../../../src/machine/sandbox/index.ts'
import { sandboxContract } from '../../../src/testing/sandbox-contract.ts'
import { createScriptedSandbox } from '../../../src/testing/scripted-sandbox.ts'
import { localOptions } from './local-rig.ts'
import { whySkipped } from './required.ts'

const skip = whySkipped()
sandboxContract('local', () => createSandbox(localOptions()), { skip })
sandboxContract('local, always mirrored', () => createSandbox(localOptions({ workspaceMode: 'mirror' })), { skip })
sandboxContract('none', () => createSandbox({ kind: 'none', projectId: 'default' }))
sandboxContract('scripted', () => Promise.resolve(createScriptedSandbox()), { runsCommands: false })
