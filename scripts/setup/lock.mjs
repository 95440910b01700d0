// A lock file, so that two setups in one checkout wait for each other instead of tearing at node_modules.
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { say } from './process.mjs'

const POLL_MS = 200

/** Runs `work` while holding the lock at `path`. A lock whose owner is gone is taken over. */
export async function withLock(path, work) {
  let isWaiting = false
  while (!tryLock(path)) {
    const owner = readOwner(path)
    if (owner !== undefined && !isAlive(owner)) {
      breakLock(path, owner)
      continue
    }
    if (!isWaiting) say(`waiting for the setup of process ${owner ?? '?'} to end (${path})`)
    isWaiting = true
    await delay(POLL_MS)
  }
  try {
    return await work()
  } finally {
    rmSync(path, { force: true })
  }
}

function tryLock(path) {
  try {
    writeFileSync(path, `${process.pid}\n`, { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

/** The pid in the lock file; undefined while it is being written or when it has just gone. */
function readOwner(path) {
  try {
    const pid = Number.parseInt(readFileSync(path, 'utf8'), 10)
    return Number.isNaN(pid) ? undefined : pid
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** Takes a dead owner's lock away. Two may try at once: whoever caught a fresh lock by mistake puts it back. */
function breakLock(path, deadOwner) {
  const aside = `${path}.${process.pid}`
  try {
    renameSync(path, aside)
    if (readOwner(aside) !== deadOwner) linkSync(aside, path)
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error
  } finally {
    rmSync(aside, { force: true })
  }
}
