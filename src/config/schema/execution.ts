import * as v from 'valibot'
import { DEFAULTS } from '../../kernel/index.ts'
import {
  type Rules,
  about,
  count,
  countOrNone,
  elsewhere,
  hosts,
  is,
  name,
  names,
  path,
  paths,
  secret,
  time,
  timeOrNone,
  url,
  setting,
} from './parts.ts'

const MIB = 1024 * 1024
const sandboxes = v.picklist(['local', 'e2b', 'none'])

const processLimits = v.strictObject({
  memoryBytes: setting(count, 'Memory of all processes of one command; default half of the machine’s, at most 4 GiB.'),
  cpuSeconds: setting(count, 'CPU time of all processes of one command; default no limit but its time.'),
  freeDiskBytes: setting(count, 'A command ends when less of the disk is left; default 256 MiB.'),
  projectMemoryBytes: setting(
    count,
    'Memory of all commands of a project; default half of the machine’s, at most 8 GiB.',
  ),
  projectProcesses: setting(count, 'Processes and threads of all commands of a project; default 2048.'),
  projectCpuSeconds: setting(count, 'CPU time of the running commands of a project together; default no limit.'),
  processes: setting(count, 'Processes and threads of one command together.'),
  openFiles: setting(count, 'Open files of one process.'),
  fileSizeBytes: setting(count, 'Largest file that can be written.'),
  dataBytes: setting(count, 'Private writable memory of one process; default 2 GiB more than memoryBytes.'),
  sharedMemoryBytes: setting(count, 'Size of /dev/shm.'),
})

const network = v.strictObject({
  allowedDomains: setting(
    is(hosts, { merge: 'add' }),
    'Hosts that commands may reach: a name (ports 443 and 80), name:PORT, *.name for its subdomains, or localhost:PORT of this machine.',
    [],
  ),
  deniedDomains: setting(
    is(hosts, { merge: 'add', untrusted: 'add' }),
    'Hosts that they may not reach, whatever is allowed; without a port: on any port.',
    [],
  ),
})

const filesystem = v.strictObject({
  denyRead: setting(is(paths, { merge: 'add' }), 'Paths that commands do not see.'),
  allowWrite: setting(is(paths, { usersOnly: true }), 'Paths that commands may write, besides their own.'),
  denyWrite: setting(is(paths, { merge: 'add' }), 'Paths that commands may not write, whatever is allowed.'),
})

const workspace = v.strictObject({
  maxFiles: setting(is(count, { usersOnly: true }), 'Most files of a workspace that is mirrored.'),
  maxBytes: setting(is(count, { usersOnly: true }), 'Most bytes of a workspace that is mirrored.'),
  protected: setting(
    is(names, { merge: 'add', untrusted: 'add' }),
    'Patterns of files whose changes are held, such as migrations/** or *.lock; * and ? are in a name, ** is any directories.',
    [],
  ),
  writable: setting(
    is(names, { usersOnly: true }),
    'Names whose changes are not held, and dependency directories that commands may change, such as skills or node_modules.',
    [],
  ),
})

const changes = v.strictObject({
  keepDays: setting(
    is(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(3_650)), { usersOnly: true }),
    'How long change sets are kept, with what they hold.',
    14,
  ),
  maxBytes: setting(
    is(count, { usersOnly: true }),
    'Most earlier bytes of one change set; larger changes are held, as they could not be undone.',
    64 * MIB,
  ),
})

/** Source: contracts §5.7. */
const files = v.strictObject({
  maxInputBytes: setting(count, 'Largest input file of a run.', 20 * MIB),
  maxOutputBytes: setting(count, 'Largest output file of a run.', 20 * MIB),
  maxTotalBytes: setting(count, 'All files of a run together.', 50 * MIB),
})

/** Source: contracts §5.8. */
const e2b = v.strictObject({
  apiKey: setting(secret, 'Default: the variable E2B_API_KEY.'),
  apiUrl: setting(url, 'Address of an E2B-compatible service, such as nexus sandboxd.'),
  domain: setting(name, 'Domain of the service.'),
  template: setting(name, 'Template that sandboxes are made from.'),
  reuse: setting(
    v.picklist(['none', 'project_agent']),
    'none: one sandbox per run; project_agent: one per agent.',
    'project_agent',
  ),
  idleTtlMs: setting(time, 'An unused sandbox is ended after this time.', 1_800_000),
  hardTtlMs: setting(time, 'Any sandbox is ended after this time.', 21_600_000),
  lockTimeoutMs: setting(time, 'How long a run waits for its sandbox.', 600_000),
})

/** Source: contracts §5.7 and §5.8, and the plans of seed 004. */
const reaper = v.strictObject({
  enabled: setting(v.boolean(), 'Look for what was left behind, at start and regularly.', true),
  intervalMs: setting(
    v.pipe(v.number(), v.integer(), v.minValue(5_000), v.maxValue(86_400_000)),
    'Time between two looks; at least 5000.',
    60_000,
  ),
  pageSize: setting(count, 'Rows read at once.', 200),
  maxPages: setting(count, 'Most pages of one look.', 10),
  maxScanMs: setting(time, 'Most time of one look.', 5_000),
  sandboxBatch: setting(count, 'Most remote sandboxes ended in one look.', 50),
})

export const execution = v.pipe(
  v.strictObject({
    sandbox: setting(
      is(sandboxes, {
        untrusted: 'this-machine',
        usersOnly: 'none',
        unused: elsewhere('e2b'),
      }),
      'Where commands run; none confines nothing and must be asked for by name.',
      'local',
    ),
    timeoutMs: setting(is(count, { untrusted: 'lower' }), 'Time limit of one command.', DEFAULTS.commandTimeoutMs),
    maxOutputBytes: setting(
      is(count, { untrusted: 'lower' }),
      'Most bytes kept of stdout and of stderr, each.',
      DEFAULTS.maxOutputBytes,
    ),
    uidBase: setting(
      is(v.pipe(v.number(), v.integer(), v.minValue(1_000), v.maxValue(4_000_000_000)), { usersOnly: true }),
      'First uid that commands may run as when we are root.',
    ),
    limits: setting(processLimits, 'What one command may use; the local sandbox only.', {}),
    programs: setting(
      is(names, { merge: 'add', usersOnly: true }),
      'Programs of your home that commands may use, such as gh, uv or node; each is mounted read-only with what it needs.',
      [],
    ),
    workspace: setting(workspace, 'How commands see the workspace, and which of their changes are held.', {}),
    changes: setting(changes, 'What is kept of the changes of commands and tools: nexus changes.', {}),
    network: setting(
      network,
      'What commands may reach, all of them. For commands of one skill: skills.entries.<key>.network. Without both: nothing.',
      {},
    ),
    filesystem: setting(
      is(filesystem, { unused: { what: 'add paths to the sandbox or take them away', severity: 'warning' } }),
      'What commands may see and write besides their own places.',
    ),
    files: setting(
      is(files, { unused: { what: 'limit inputs and artifacts of runs', severity: 'info' } }),
      'Sizes of inputs and artifacts.',
    ),
    e2b: setting(
      is(e2b, { merge: 'whole', texts: 'value', unused: { what: elsewhere().what, severity: 'info' } }),
      'Remote sandboxes.',
    ),
    reaper: setting(
      is(reaper, { unused: { what: 'run a reaper', severity: 'info' } }),
      'How what was left behind is found and ended.',
    ),
  }),
  about('Where commands run, and within which limits.'),
)

export const limits = v.pipe(
  v.strictObject({
    maxIterations: setting(
      is(count, { untrusted: 'lower' }),
      'Most rounds of model and tools in one turn.',
      DEFAULTS.maxIterations,
    ),
    toolTimeoutMs: setting(
      is(countOrNone, { untrusted: 'lower-or-none' }),
      'Time limit of one tool call; 0: none.',
      DEFAULTS.toolTimeoutMs,
    ),
    maxConcurrentTools: setting(
      is(count, { untrusted: 'lower' }),
      'Most tool calls that run at the same time.',
      DEFAULTS.maxConcurrentTools,
    ),
    maxRunning: setting(
      is(count, { untrusted: 'lower' }),
      'Most agents of one process that ask models at the same time.',
      DEFAULTS.maxRunning,
    ),
  }),
  about('Limits of turns.'),
)

export const approvals = v.pipe(
  v.strictObject({
    expiresMs: setting(
      time,
      'How long a question may be answered while a process waits for it.',
      DEFAULTS.approvalsExpiresMs,
    ),
    waitingExpiresMs: setting(
      time,
      'How long a question may be answered after its process ended.',
      DEFAULTS.approvalsWaitingExpiresMs,
    ),
  }),
  about('Questions to people about calls.'),
)

const pool = v.strictObject({
  maxConnections: setting(count, 'Most connections; 4 when absent.'),
  connectTimeoutMs: setting(timeOrNone, 'Time limit to connect; 5000 when absent.'),
  statementTimeoutMs: setting(timeOrNone, 'Time limit of one statement; 10000 when absent.'),
  idleTimeoutMs: setting(timeOrNone, 'An unused connection is closed after this time; 30000 when absent.'),
})

const events = v.strictObject({
  maxAgeMs: setting(count, 'Older ones are removed; in milliseconds.', DEFAULTS.eventsMaxAgeMs),
  maxRows: setting(count, 'Only so many of the newest are kept.', DEFAULTS.eventsMaxRows),
})

const kept = v.strictObject({
  maxAgeMs: setting(count, 'Those unused for longer are removed, in milliseconds; never when absent.'),
  maxRows: setting(count, 'Only so many of the newest are kept; all when absent.'),
})

const retention = v.strictObject({
  sessions: setting(kept, 'Sessions with their messages; one that runs, waits or is open stays.', {}),
  ledger: setting(kept, 'The record of calls that ended, with the events until then.', {}),
})

const blobs = v.strictObject({
  type: setting(v.picklist(['files', 's3', 'gcs', 'nats']), 'Where artifacts and packages lie.', 'files'),
  path: setting(path, 'With files: the directory.'),
  bucket: setting(name, 'With s3 and gcs: the bucket.'),
  prefix: setting(name, 'Begins every key in the bucket.'),
  region: setting(name, 'With s3: the region.'),
  endpoint: setting(url, 'Address of a service that speaks S3.'),
  accessKeyId: setting(secret, 'The key’s name.'),
  secretAccessKey: setting(secret, 'The key.'),
})

export const store = v.pipe(
  v.strictObject({
    type: setting(v.picklist(['sqlite', 'postgres', 'memory']), 'Where state is kept.', 'sqlite'),
    path: setting(path, 'With sqlite: the file; default in the state directory.'),
    url: setting(secret, 'With postgres: its address, which contains the password.'),
    synchronous: setting(
      is(v.picklist(['full', 'normal']), {
        unused: {
          value: 'normal',
          what: 'choose how SQLite waits for the disk',
          severity: 'info',
          instead: 'every commit waits for it',
        },
      }),
      'With sqlite: full survives loss of power.',
      'full',
    ),
    events: setting(events, 'Which events are kept, to follow a turn and to replay it.', {}),
    retention: setting(retention, 'Which sessions and calls are kept.', {}),
    pool: setting(pool, 'With postgres: connections and their time limits.', {}),
    blobs: setting(is(blobs, { unused: { what: 'keep artifacts', severity: 'info' } }), 'Packages and artifacts.'),
  }),
  about('Durable state and blobs.'),
  // Else a repository could send all that is said and done to a server of its own.
  v.metadata({ merge: 'whole', usersOnly: true, texts: 'value' } satisfies Rules),
)
