/** Every message of the room, made from facts: what happened to the caller's thing, why, and what to do. */
import { commandFix, type Words } from '../kernel/index.ts'
import type { Approval } from './approvals.ts'
import type { Description, Target } from './database.ts'
import type { Lease } from './leases.ts'
import type { TurnName } from './sessions.ts'

export type Message = Words

export const MESSAGES = {
  badName: ({ what, max }: { what: string; max: number }): Message => ({
    message: `The ${what} was refused: it must be 1 to ${max} characters of valid Unicode, without NUL.`,
    fix: `Use an id such as one of newId().`,
  }),
  foreignCall: ({ callId }: { callId: string }): Message => ({
    message: `Call ${callId} was not recorded: it belongs to another project than the store.`,
    fix: 'Open a store for the project of the call.',
  }),
  badNumber: ({ what, least, value }: { what: string; least: number; value: number }): Message => ({
    message: `${what} must be a whole number of at least ${least}, not ${value}.`,
    fix: `Pass ${least} or more.`,
  }),
  badMessage: ({ position }: { position: number }): Message => ({
    message: `Message ${position} is not an object with a role.`,
    fix: 'Pass messages such as { role: "user", content: "…" }.',
  }),
  notJson: ({ what, type }: { what: string; type?: string }): Message => ({
    message: `The ${what} cannot be written as JSON${type === undefined ? '' : `: it is ${type}`}.`,
    fix: 'Pass plain objects, lists, texts, numbers, booleans and null only.',
  }),
  badEventType: ({ type }: { type: string }): Message => ({
    message: `The event type ${JSON.stringify(type)} cannot be used: it must be lower-case words with dots.`,
    fix: 'Use a type such as "skill.changed".',
  }),
  noSuchCall: ({ callId }: { callId: string }): Message => ({
    message: `The ledger of this project has no call ${callId}.`,
    fix: 'Record the call before starting or closing it.',
  }),
  callExists: ({ callId }: { callId: string }): Message => ({
    message: `The ledger of this project already has another call ${callId}.`,
    fix: 'Give every call an id of its own.',
  }),
  callNotStarted: ({ callId, state }: { callId: string; state: string }): Message => ({
    message: `Call ${callId} was not started: it is "${state}", and only a call that a person allowed can start.`,
    fix: 'Wait for the answer to its approval, or close the call.',
  }),
  notYours: ({ what, id, lease }: { what: 'call' | 'turn'; id: string; lease: Lease }): Message => ({
    message: `The ${what} ${id} was not changed: it belongs to another lease than ${lease.name}.`,
    fix: `Pass the lease that the ${what} was begun with.`,
  }),
  badDigest: (): Message => ({
    message: 'The digest of a blob must be a SHA-256 of 64 lower-case hexadecimal digits.',
    fix: 'Save the bytes with the writer of `create`, which knows their digest.',
  }),
  blobExists: ({ id }: { id: string }): Message => ({
    message: `This project already has a saved blob ${id}.`,
    fix: 'Give every reference an id of its own.',
  }),
  approvalMissing: ({ callId }: { callId: string }): Message => ({
    message: `Call ${callId} was not recorded: its decision is "ask" and it has no approval.`,
    fix: 'Pass `approval` with the command as it is shown.',
  }),
  noSuchApproval: ({ id }: { id: string }): Message => ({
    message: `This project has no approval ${id}.`,
    ...commandFix('List the questions:', 'approvals', 'list'),
  }),
  cannotRemember: ({ id }: { id: string }): Message => ({
    message: `Approval ${id} was not answered: a person must be asked about this call each time, so no answer may be remembered.`,
    fix: 'Answer it without remembering.',
  }),
  nothingToRemember: ({ id }: { id: string }): Message => ({
    message: `Approval ${id} was not answered: it shows no prefix that could be remembered.`,
    fix: 'Answer it with remember: "exact", or without remembering.',
  }),
  /** For fronts: why an answer changed nothing. */
  answerNotApplied: ({ id, state, answeredBy }: Approval): Message => ({
    message:
      state === 'expired' || state === 'not run'
        ? `The answer changed nothing: approval ${id} is over (${state}), and its call was not run.`
        : `The answer changed nothing: ${answeredBy ?? 'someone'} already answered approval ${id} (${state}).`,
    fix: 'Send the task again if the call should run.',
  }),
  noSuchSession: ({ id }: { id: string }): Message => ({
    message: `This project has no session ${id}.`,
    fix: 'Create the session first, or list the sessions for their ids.',
  }),
  sessionBusy: ({ id }: { id: string }): Message => ({
    message: `Session ${id} was not removed: one of its turns runs or waits, or a question of it is open.`,
    ...commandFix('Cancel it first:', 'sessions', 'cancel', id),
  }),
  sessionNeeded: ({ id }: { id: string }): Message => ({
    message: `Session ${id} was not removed: it belongs to a living agent, or to a descendant of one.`,
    fix: 'End that agent first.',
  }),
  eventsTrimmed: ({ id, last }: { id: number; last: number }): Message => ({
    message: `Events after ${id} cannot be given: those up to ${last} were removed.`,
    fix: `Look at the rows themselves, then go on after event ${last}.`,
  }),
  sessionExists: ({ id }: { id: string }): Message => ({
    message: `This project already has a session ${id}.`,
    fix: 'Give every session an id of its own.',
  }),
  badAgentId: ({ id }: { id: string }): Message => ({
    message: `The agent id ${JSON.stringify(id.slice(0, 80))} cannot be used: it needs 1 to 63 letters, digits, dots, underscores and hyphens.`,
    fix: 'Use an id such as worker-1, or .1 for a temporary agent.',
  }),
  agentExists: ({ id }: { id: string }): Message => ({
    message: `The agent ${id} was not made: a living agent has that id.`,
    fix: 'Choose another id, or end that agent first.',
  }),
  noSuchAgent: ({ key }: { key: string }): Message => ({
    message: `This project has no agent with the key ${key}.`,
    fix: 'List the agents for their keys.',
  }),
  agentEnded: ({ path }: { path: string }): Message => ({
    message: `The agent ${path} has ended.`,
    fix: 'Make a new one: an ended agent takes no message and makes no child.',
  }),
  tooDeep: ({ max }: { max: number }): Message => ({
    message: `The agent was not made: max nesting depth (${max}) exceeded.`,
    fix: 'Make it as a child of an agent nearer to the root.',
  }),
  noHistory: ({ callId }: { callId: string }): Message => ({
    message: `The answer to the call ${callId} was not written: the call belongs to no session.`,
    fix: 'Leave out the message, or make the call in a session.',
  }),
  noTurn: ({ callId }: { callId: string }): Message => ({
    message: `The call ${callId} was not recorded: it came with an answer of the model and belongs to no turn.`,
    fix: 'Leave out the step, or make the call in a turn.',
  }),
  queueFull: ({ sessionId, limit }: { sessionId: string; limit: number }): Message => ({
    message: `The message was not queued: session ${sessionId} has ${limit} waiting messages, which is its limit.`,
    fix: 'Send it again when one of them has ended, or cancel one.',
  }),
  requestExists: ({ requestId, sessionId }: { requestId: string; sessionId: string }): Message => ({
    message: `The message was not queued: session ${sessionId} has another message with the request id ${requestId}.`,
    fix: 'Give every message of a session a request id of its own.',
  }),
  noSuchTurn: (name: TurnName): Message =>
    typeof name === 'string'
      ? {
          message: `This project has no message ${name}.`,
          ...commandFix('nexus sessions show lists the messages of a session. Find it:', 'sessions', 'list'),
        }
      : {
          message: `Session ${name.sessionId} has no message with the request id ${name.requestId}.`,
          ...commandFix('See its messages:', 'sessions', 'show', name.sessionId),
        },
  turnRunning: ({ sessionId, id }: { sessionId: string; id: string }): Message => ({
    message: `No turn was started: session ${sessionId} still has the running turn ${id}.`,
    fix: 'End that turn first.',
  }),
  wrongLease: ({ expected, name }: { expected: string; name: string }): Message => ({
    message: `The write was refused: it needs the lease ${expected}, and ${name} was given.`,
    fix: `Acquire ${expected} first.`,
  }),
  leaseLost: ({ lease, present }: { lease: Lease; present: Lease | undefined }): Message => ({
    message: `The write was refused: ${lease.owner} does not own ${lease.name} any more. ${
      present ? `${present.owner} owns it now` : 'It has no owner now'
    }; the lease had not been renewed in time, or was released.`,
    fix: 'Stop this work, and acquire the lease again before starting anew.',
  }),
  storeClosed: ({ path }: { path: string }): Message => ({
    message: `The store over ${path} is closed.`,
    fix: 'Open a store of its own for work that goes on after close().',
  }),
  foreignDatabase: ({ path }: { path: string }): Message => ({
    message: `The file ${path} is the database of another program; it was not changed.`,
    fix: 'Name another directory for the state with NEXUS_STATE_DIR.',
  }),
  unreleasedSchema: ({ database, anew, version }: Description & { version: number }): Message => ({
    message: `The ${database} was written by a version of Nexus from before the first release (schema ${version}). This one cannot read it, and did not change it.`,
    fix: anew,
  }),
  newerSchema: ({
    database,
    elsewhere,
    version,
    known,
  }: Description & { version: number; known: number }): Message => ({
    message: `The ${database} was written by a newer Nexus (schema ${version}, this one knows ${known}); it was not changed.`,
    fix: `Update with "npm install -g nexus-skills@latest", or ${elsewhere}.`,
  }),
} as const

const PG_VERSION = '8.23.1'

const databaseAt = ({ host, port, database }: Target) => `Postgres database ${database} on ${host}:${port}`

type Failed = Target & { readonly reason: string }

/** Messages about a Postgres database: never its user, and never a password. */
export const POSTGRES = {
  description: (target: Target): Description => ({
    database: databaseAt(target),
    elsewhere: 'name another database in store.url of your nexus.yaml',
    anew: 'Drop its schema with "drop schema nexus cascade", or name another database in store.url of your nexus.yaml.',
  }),
  noClient: (): Message => ({
    message: 'The store was not opened: store.type is postgres, and the package "pg" is not installed.',
    fix: `npm install pg@${PG_VERSION} (with -g when nexus was installed with -g)`,
  }),
  noUrl: (): Message => ({
    message: 'The store was not opened: store.type is postgres, and store.url is not set.',
    fix: 'Write store.url in your own nexus.yaml, such as postgres://nexus@127.0.0.1:5432/nexus.',
  }),
  urlUnused: ({ type }: { readonly type: string }): Message => ({
    message: `The store was not opened: store.url is set, and store.type is ${type}, which has no url.`,
    fix: 'Write "type: postgres" beside the url in your nexus.yaml, or remove the url.',
  }),
  badUrl: (): Message => ({
    message: 'The store was not opened: store.url is not an address of a Postgres database.',
    fix: 'Write it as postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special characters in percent form (%40 for @).',
  }),
  unreachable: ({ reason, ...target }: Failed): Message => ({
    message: `The ${databaseAt(target)} cannot be reached: ${reason}.`,
    fix: `Start the server, or correct host and port in store.url. Check with: pg_isready -h ${target.host} -p ${target.port}`,
  }),
  noTls: ({ reason, ...target }: Failed): Message => ({
    message: `The ${databaseAt(target)} cannot be reached over TLS: ${reason}.`,
    fix: 'Correct sslmode and the certificates in store.url.',
  }),
  refused: ({ reason, ...target }: Failed): Message => ({
    message: `The ${databaseAt(target)} refused the login: ${reason}.`,
    fix: 'Correct user and password in store.url, or let the user in with pg_hba.conf of the server.',
  }),
  noDatabase: ({ reason, ...target }: Failed): Message => ({
    message: `The ${databaseAt(target)} cannot be opened: ${reason}.`,
    fix: `createdb -h ${target.host} -p ${target.port} ${target.database}`,
  }),
  noPrivilege: ({ reason, ...target }: Failed): Message => ({
    message: `The ${databaseAt(target)} refused a statement: ${reason}.`,
    fix: `Let the user of store.url create the schema "nexus": grant create on database ${JSON.stringify(target.database)} to USER`,
  }),
  noConnections: ({ reason, ...target }: Failed): Message => ({
    message: `The ${databaseAt(target)} takes no more connections: ${reason}.`,
    fix: 'Raise max_connections of the server, or lower store.pool.maxConnections of your nexus.yaml.',
  }),
  full: ({ reason, ...target }: Failed): Message => ({
    message: `The ${databaseAt(target)} could not write: ${reason}.`,
    fix: 'Free disk space or memory of the server and try again; everything recorded before is kept.',
  }),
  busy: ({ reason, ...target }: Failed): Message => ({
    message: `The ${databaseAt(target)} did not answer in time: ${reason}.`,
    fix: 'Find the session that blocks the others with "select * from pg_stat_activity", or raise store.pool.statementTimeoutMs.',
  }),
  failed: ({ reason, state, ...target }: Failed & { readonly state: string }): Message => ({
    message: `The ${databaseAt(target)} refused a statement: ${reason} (SQLSTATE ${state}).`,
    fix: 'Read the log of the server for the statement; nothing of the change was kept.',
  }),
  notCommitted: (target: Target): Message => ({
    message: `The ${databaseAt(target)} rolled the change back instead of committing it.`,
    fix: 'Read the log of the server for the reason, then try again.',
  }),
  damaged: (target: Target): Message => ({
    message: `The ${databaseAt(target)} contains something that Nexus did not write; nothing in it was changed.`,
    fix: 'Put a backup in its place, or name another database in store.url.',
  }),
  foreignSchema: (target: Target): Message => ({
    message: `The ${databaseAt(target)} has a schema "nexus" of another program; it was not changed.`,
    fix: 'Name another database in store.url of your nexus.yaml.',
  }),
  notUtf8: ({ encoding, ...target }: Target & { readonly encoding: string }): Message => ({
    message: `The ${databaseAt(target)} was not used: its encoding is ${encoding}, and Nexus needs UTF8.`,
    fix: `createdb -h ${target.host} -p ${target.port} -E UTF8 -T template0 nexus, then name it in store.url.`,
  }),
} as const

/** About the bytes of saved output. */
export const BLOBS = {
  gone: ({ id, path }: { id: string; path: string }): Message => ({
    message: `The saved output ${id} cannot be read: its file ${path} does not exist.`,
    fix: 'Read it on the machine that ran the command. If it was that one, run the command again.',
  }),
  damaged: ({ id, path }: { id: string; path: string }): Message => ({
    message: `The saved output ${id} is damaged: the bytes of ${path} are not those that were saved.`,
    fix: 'Do not use what was printed. Run the command again.',
  }),
  notSaved: ({ path, why }: { path: string; why: string }): Message => ({
    message: `The output was not saved in ${path}: ${why}.`,
    fix: 'Check the free space and the rights of that directory, then run the command again.',
  }),
}
