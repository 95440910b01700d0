import {
  lockedOf,
  previousOf,
  removeSkills,
  rollBack,
  setPinned,
  verifyCopies,
} from '../../../../skills/install/index.ts'
import { type Answer, argument, type Invocation } from '../../command.ts'
import { askPolicy, noteKept, openInstalling, overwriting, scopeData } from '../../installing/place.ts'
import { INSTALL_WORDS } from '../../installing/words.ts'

/** `nexus skills verify [name…]`: names each file that is not as the lock has it. */
export async function verifySkills(invocation: Invocation): Promise<Answer> {
  const { terminal, positionals } = invocation
  const { scope } = await openInstalling(invocation)
  const verified = await verifyCopies(scope, positionals)
  const wrong = verified.filter(({ drift }) => drift.length > 0)
  const error = wrong.length === 0 ? undefined : INSTALL_WORDS.notVerified([...new Set(wrong.map(({ name }) => name))])
  return {
    data: { ...scopeData(scope), skills: verified },
    error: error && { code: 'CONFLICT', ...error },
    show: () => {
      for (const { place, drift } of wrong)
        for (const { path, change } of drift) terminal.line(INSTALL_WORDS.drift(place, path, change))
      if (error) terminal.note(`${error.message} ${error.fix}`)
      else terminal.line(INSTALL_WORDS.verified(new Set(verified.map(({ name }) => name)).size))
    },
  }
}

export async function removeInstalled(invocation: Invocation): Promise<Answer> {
  const { terminal, positionals } = invocation
  const { scope, alone } = await openInstalling(invocation)
  argument(invocation, 'a name', ['pdf'])
  const options = { alone, ...overwriting(invocation) }
  const { kept } = await removeSkills(scope, positionals, options)
  return {
    data: { ...scopeData(scope), removed: positionals, kept: Object.fromEntries(kept) },
    show: () => {
      noteKept(kept, invocation)
      terminal.line(INSTALL_WORDS.removed(positionals))
    },
  }
}

export async function rollBackSkill(invocation: Invocation): Promise<Answer> {
  const installing = await openInstalling(invocation)
  const { scope, alone } = installing
  const name = argument(invocation, 'a name', ['pdf'])
  const options = { alone, ...overwriting(invocation), now: new Date() }
  await askPolicy([await previousOf(scope, name)], installing, invocation)
  const { lock, kept } = await rollBack(scope, name, options)
  const { digest, source } = lockedOf(lock, name)
  return {
    data: { ...scopeData(scope), name, digest, source, kept: Object.fromEntries(kept) },
    show: () => {
      noteKept(kept, invocation)
      invocation.terminal.line(INSTALL_WORDS.rolledBack(name, digest))
    },
  }
}

export const pinSkill = (invocation: Invocation): Promise<Answer> => pin(invocation, true)
export const unpinSkill = (invocation: Invocation): Promise<Answer> => pin(invocation, false)

async function pin(invocation: Invocation, pinned: boolean): Promise<Answer> {
  const { scope, alone } = await openInstalling(invocation)
  const name = argument(invocation, 'a name', ['pdf'])
  await setPinned(scope, name, { alone, pinned })
  const say = pinned ? INSTALL_WORDS.pinned : INSTALL_WORDS.unpinned
  return { data: { ...scopeData(scope), name, pinned }, show: () => invocation.terminal.line(say(name)) }
}
