import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { found } from './finding-rig.ts'

describe('a command that installs something', () => {
  const refused: readonly (readonly [stderr: string, subject: string, fix: RegExp])[] = [
    [
      'error: externally-managed-environment\n\n× This environment is externally managed\n',
      'pip',
      /outside the sandbox: pip install --target vendor PACKAGE\. Then run: env PYTHONPATH=vendor/,
    ],
    [
      'E: Could not open lock file /var/lib/dpkg/lock-frontend - open (2: No such file or directory)\nE: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), are you root?\n',
      'apt',
      /for all users of this machine, outside the sandbox\./,
    ],
  ]
  it('learns which Python module is missing, and how to run with it', async () => {
    const stderr = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'requests.adapters'\n"
    const { rows, notes } = await found({ command: 'python3 x.py', result: { stderr, exitCode: 1 } })
    assert.deepEqual(rows, [{ code: 'install-refused', subject: 'requests' }])
    assert.match(notes[0] ?? '', /pip install --target vendor requests\. Then run: env PYTHONPATH=vendor and the same/)
  })

  for (const stderr of [
    "Error: Cannot find module '@scope/left-pad'\nRequire stack:\n- /work/[eval]\n",
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@scope/left-pad' imported from /work/x.mjs\n",
  ])
    it(`learns which package Node lacks: ${stderr.slice(0, 40)}`, async () => {
      const { rows, notes } = await found({ command: 'node x.mjs', result: { stderr, exitCode: 1 }, origin: 'cli' })
      assert.deepEqual(rows, [{ code: 'install-refused', subject: '@scope/left-pad' }])
      assert.match(notes[0] ?? '', /outside the sandbox: npm install @scope\/left-pad$/)
    })

  for (const [stderr, subject, fix] of refused) {
    it(`learns that ${subject} can install nothing there, and what the user can do`, async () => {
      const { rows, notes } = await found({ result: { stderr, exitCode: 1 }, origin: 'cli' })
      assert.deepEqual(rows, [{ code: 'install-refused', subject }])
      assert.match(notes[0] ?? '', fix)
    })
  }
})

describe('a command that reached a limit of the sandbox', () => {
  const reached: readonly (readonly [stderr: string, exitCode: number, subject: string, setting: string])[] = [
    ['Traceback\nMemoryError\n', 1, 'memory', 'dataBytes'],
    ['bash: xrealloc: cannot allocate 18446744071562067968 bytes\n', 2, 'memory', 'dataBytes'],
    ['FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n', 134, 'memory', 'dataBytes'],
    ['RangeError: Failed to allocate memory\n', 1, 'memory', 'dataBytes'],
    ['tail: memory exhausted\n', 1, 'memory', 'dataBytes'],
    ["dd: error writing 'big': File too large\n", 1, 'file size', 'fileSizeBytes'],
    ['bash: fork: retry: Resource temporarily unavailable\n', 254, 'processes', 'processes'],
    ['OSError: [Errno 24] Too many open files\n', 1, 'open files', 'openFiles'],
  ]
  for (const [stderr, exitCode, subject, setting] of reached) {
    it(`learns of the limit on ${subject} and its setting: ${stderr.trim()}`, async () => {
      const { rows, notes } = await found({ result: { stderr, exitCode } })
      assert.deepEqual(rows, [{ code: 'resource-limit', subject }])
      assert.match(notes[0] ?? '', new RegExp(`execution\\.limits\\.${setting} in ~/\\.nexus/nexus\\.yaml\\.$`))
    })
  }

  it('gets no second reason where the sandbox ended it and says why', async () => {
    const stderr = 'bash: fork: retry: Resource temporarily unavailable\n'
    const { rows } = await found({
      result: { stderr, end: 'killed', exitCode: 137, notes: ['Nexus ended the command'] },
    })
    assert.deepEqual(rows, [])
  })

  it('is left alone when it went well', async () => {
    assert.deepEqual((await found({ result: { stderr: 'MemoryError: none\n' } })).rows, [])
  })
})
