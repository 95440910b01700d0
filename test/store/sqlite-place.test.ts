import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSqliteStore } from '../../src/store/index.ts'

test(
  'a state file where nothing can be made is refused at once, with what to set',
  { skip: process.platform !== 'linux' },
  async () => {
    await assert.rejects(openSqliteStore({ path: '/proc/x/nexus.db', projectId: 'default' }), {
      code: 'STORE_FAILED',
      fix: /NEXUS_STATE_DIR/,
    })
  },
)
