import * as v from 'valibot'
import { DEFAULTS } from '../../kernel/index.ts'
import { CONFIG_DEFAULTS } from '../config.ts'
import { about, count, countOrNone, name, names, path, paths, secret, time, timeOrNone, url } from './parts.ts'

const MIB = 1024 * 1024
const sandboxes = v.picklist(['local', 'e2b', 'none'])

const processLimits = v.strictObject({
  processes: v.optional(v.pipe(count, about('Processes and threads of one command together.'))),
  openFiles: v.optional(v.pipe(count, about('Open files of one process.'))),
  fileSizeBytes: v.optional(v.pipe(count, about('Largest file that can be written.'))),
  dataBytes: v.optional(v.pipe(count, about('Private writable memory of one process.'))),
  sharedMemoryBytes: v.optional(v.pipe(count, about('Size of /dev/shm.'))),
})

const network = v.strictObject({
  allowedDomains: v.optional(v.pipe(names, about('Domains that commands may reach.'))),
  deniedDomains: v.optional(v.pipe(names, about('Domains that they may not reach, whatever is allowed.'))),
  allowLocalBinding: v.optional(v.pipe(v.boolean(), about('Whether commands may listen on ports.'))),
})

const filesystem = v.strictObject({
  denyRead: v.optional(v.pipe(paths, about('Paths that commands do not see.'))),
  allowWrite: v.optional(v.pipe(paths, about('Paths that commands may write, besides their own.'))),
  denyWrite: v.optional(v.pipe(paths, about('Paths that commands may not write, whatever is allowed.'))),
})

const workspace = v.strictObject({
  mode: v.optional(
    v.pipe(
      v.picklist(['mirror', 'direct']),
      about(
        'mirror: commands work in a copy, and what they may change is taken over; direct: in the workspace itself.',
      ),
    ),
    'mirror',
  ),
  maxFiles: v.optional(v.pipe(count, about('Most files of a workspace that is mirrored.'))),
  maxBytes: v.optional(v.pipe(count, about('Most bytes of a workspace that is mirrored.'))),
})

/** Source: contracts §5.7. */
const files = v.strictObject({
  maxInputBytes: v.optional(v.pipe(count, about('Largest input file of a run.')), 20 * MIB),
  maxOutputBytes: v.optional(v.pipe(count, about('Largest output file of a run.')), 20 * MIB),
  maxTotalBytes: v.optional(v.pipe(count, about('All files of a run together.')), 50 * MIB),
})

/** Source: contracts §5.8. */
const e2b = v.strictObject({
  apiKey: v.optional(v.pipe(secret, about('Default: the variable E2B_API_KEY.'))),
  apiUrl: v.optional(v.pipe(url, about('Address of an E2B-compatible service, such as nexus sandboxd.'))),
  domain: v.optional(v.pipe(name, about('Domain of the service.'))),
  template: v.optional(v.pipe(name, about('Template that sandboxes are made from.'))),
  reuse: v.optional(
    v.pipe(v.picklist(['none', 'project_agent']), about('none: one sandbox per run; project_agent: one per agent.')),
    'project_agent',
  ),
  idleTtlMs: v.optional(v.pipe(time, about('An unused sandbox is ended after this time.')), 1_800_000),
  hardTtlMs: v.optional(v.pipe(time, about('Any sandbox is ended after this time.')), 21_600_000),
  lockTimeoutMs: v.optional(v.pipe(time, about('How long a run waits for its sandbox.')), 600_000),
})

/** Source: contracts §5.7 and §5.8, and the plans of seed 004. */
const reaper = v.strictObject({
  enabled: v.optional(v.pipe(v.boolean(), about('Look for what was left behind, at start and regularly.')), true),
  intervalMs: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(5_000), v.maxValue(86_400_000), about('Time between two looks.')),
    60_000,
  ),
  pageSize: v.optional(v.pipe(count, about('Rows read at once.')), 200),
  maxPages: v.optional(v.pipe(count, about('Most pages of one look.')), 10),
  maxScanMs: v.optional(v.pipe(time, about('Most time of one look.')), 5_000),
  sandboxBatch: v.optional(v.pipe(count, about('Most remote sandboxes ended in one look.')), 50),
})

export const execution = v.pipe(
  v.strictObject({
    sandbox: v.optional(
      v.pipe(sandboxes, about('Where commands run; none confines nothing and must be asked for by name.')),
      'local',
    ),
    mode: v.optional(v.pipe(sandboxes, about('Another name of sandbox.'))),
    timeoutMs: v.optional(v.pipe(count, about('Time limit of one command.')), DEFAULTS.commandTimeoutMs),
    maxOutputBytes: v.optional(
      v.pipe(count, about('Most bytes kept of stdout and of stderr, each.')),
      DEFAULTS.maxOutputBytes,
    ),
    uidBase: v.optional(
      v.pipe(
        v.number(),
        v.integer(),
        v.minValue(1_000),
        v.maxValue(4_000_000_000),
        about('First uid that commands may run as when we are root.'),
      ),
    ),
    limits: v.optional(v.pipe(processLimits, about('What one command may use; the local sandbox only.'))),
    workspace: v.optional(v.pipe(workspace, about('How commands see the workspace; never read from a workspace.'))),
    network: v.optional(v.pipe(network, about('What commands may reach. Without it: nothing.'))),
    filesystem: v.optional(v.pipe(filesystem, about('What commands may see and write besides their own places.'))),
    files: v.optional(v.pipe(files, about('Sizes of inputs and artifacts.'))),
    e2b: v.optional(v.pipe(e2b, about('Remote sandboxes.'))),
    reaper: v.optional(v.pipe(reaper, about('How what was left behind is found and ended.'))),
  }),
  about('Where commands run, and within which limits.'),
)

export const limits = v.pipe(
  v.strictObject({
    maxIterations: v.optional(
      v.pipe(count, about('Most rounds of model and tools in one turn.')),
      DEFAULTS.maxIterations,
    ),
    toolTimeoutMs: v.optional(
      v.pipe(countOrNone, about('Time limit of one tool call; 0 means none.')),
      DEFAULTS.toolTimeoutMs,
    ),
    maxConcurrentTools: v.optional(
      v.pipe(count, about('Most tool calls that run at the same time.')),
      CONFIG_DEFAULTS.maxConcurrentTools,
    ),
  }),
  about('Limits of one turn.'),
)

const pool = v.strictObject({
  maxConnections: v.optional(count),
  connectTimeoutMs: v.optional(timeOrNone),
  statementTimeoutMs: v.optional(timeOrNone),
  idleTimeoutMs: v.optional(timeOrNone),
})

const blobs = v.strictObject({
  type: v.optional(
    v.pipe(v.picklist(['files', 's3', 'gcs', 'nats']), about('Where artifacts and packages lie.')),
    'files',
  ),
  path: v.optional(v.pipe(path, about('With files: the directory.'))),
  bucket: v.optional(name),
  prefix: v.optional(name),
  region: v.optional(name),
  endpoint: v.optional(url),
  accessKeyId: v.optional(secret),
  secretAccessKey: v.optional(secret),
})

export const store = v.pipe(
  v.strictObject({
    type: v.optional(v.pipe(v.picklist(['sqlite', 'postgres', 'memory']), about('Where state is kept.')), 'sqlite'),
    path: v.optional(v.pipe(path, about('With sqlite: the file; default in the state directory.'))),
    url: v.optional(v.pipe(secret, about('With postgres: its address, which holds the password.'))),
    synchronous: v.optional(
      v.pipe(v.picklist(['full', 'normal']), about('With sqlite: full survives loss of power.')),
      'full',
    ),
    pool: v.optional(v.pipe(pool, about('With postgres: connections and their time limits.'))),
    blobs: v.optional(v.pipe(blobs, about('Packages and artifacts.'))),
  }),
  about('Durable state and blobs.'),
)
