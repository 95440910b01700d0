import { createSandbox } from '../../src/sandbox/index.ts'
import { sandboxContract } from '../../src/testing/sandbox-contract.ts'
import { createScriptedSandbox } from '../../src/testing/scripted-sandbox.ts'
import { localOptions, whySkipped } from './local-rig.ts'

const skip = await whySkipped()
sandboxContract('local', () => createSandbox(localOptions()), { skip })
sandboxContract('local, always mirrored', () => createSandbox(localOptions({ workspaceMode: 'mirror' })), { skip })
sandboxContract('none', () => createSandbox({ kind: 'none', projectId: 'default' }))
sandboxContract('scripted', () => Promise.resolve(createScriptedSandbox()), { runsCommands: false })
