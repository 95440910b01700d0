/** environment: which variables a caller may give to a command. Pure. */
import { VARIABLE_NAME } from '../../kernel/index.ts'
import { REQUESTS, sandboxError } from './messages.ts'

/** One value must fit one argument of a process with room to spare; all of them together must fit the process. */
const MAX_VALUE_BYTES = 100_000
const MAX_TOTAL_BYTES = 500_000

/** Whole families that decide what a loader, an interpreter, a shell, git, a package manager or a network client does. */
const PREFIXES = [
  'LD_', 'DYLD_', 'GLIBC_', 'MALLOC_', 'NODE_', 'NPM_', 'PNPM_', 'YARN_', 'BUN_', 'DENO_', 'PYTHON', 'PIP_', 'UV_', 'CONDA_',
  'PERL', 'RUBY', 'GEM_', 'BUNDLE_', 'PHP', 'LUA_', 'JAVA_', 'JDK_', 'MAVEN_', 'GRADLE_', 'DOTNET_', 'CORECLR_', 'COMPLUS_',
  'RUST', 'CARGO_', 'CGO_', 'GIT_', 'SSH_', 'GPG_', 'GNUPG', 'BASH', 'ZDOT', 'LESS', 'XDG_', 'SSL_', 'OPENSSL_', 'DOCKER_', 'NEXUS_',
] as const // oxfmt-ignore

/** Single names of the same kinds. */
const NAMES: ReadonlySet<string> = new Set([
  // the process and its shell
  'PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'PWD', 'OLDPWD', 'TMPDIR', 'TMP', 'TEMP', 'TZDIR', 'LOCPATH', 'NLSPATH', 'GCONV_PATH',
  'ENV', 'IFS', 'CDPATH', 'GLOBIGNORE', 'SHELLOPTS', 'PS0', 'PS1', 'PS2', 'PS3', 'PS4', 'PROMPT_COMMAND', 'FPATH', 'HISTFILE', 'EXECIGNORE',
  'INPUTRC', 'TERMINFO', 'TERMCAP', 'UID', 'EUID', 'PPID', 'SHLVL', '_', 'POSIXLY_CORRECT', 'FUNCNEST', 'TIMEFORMAT', 'DIRSTACK', 'GROUPS',
  // names and networks
  'HOSTALIASES', 'LOCALDOMAIN', 'RES_OPTIONS', 'RESOLV_HOST_CONF', 'SSLKEYLOGFILE', 'CURL_CA_BUNDLE', 'CURL_HOME', 'REQUESTS_CA_BUNDLE',
  'AWS_CA_BUNDLE', 'AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE', 'AWS_ENDPOINT_URL', 'WGETRC', 'NETRC', 'RSYNC_RSH', 'CVS_RSH', 'SVN_SSH',
  // programs that other programs start
  'EDITOR', 'VISUAL', 'PAGER', 'MANPAGER', 'BROWSER', 'SUDO_ASKPASS', 'SUDO_EDITOR', 'FCEDIT', 'TAR_OPTIONS', 'GREP_OPTIONS', 'RIPGREP_CONFIG_PATH',
  'MAKEFLAGS', 'MFLAGS', 'MAKEFILES', 'CC', 'CXX', 'LDFLAGS', 'CFLAGS', 'CXXFLAGS', 'CPATH', 'LIBRARY_PATH', 'C_INCLUDE_PATH', 'COMPILER_PATH',
  // interpreters and package managers without a family prefix
  'CLASSPATH', '_JAVA_OPTIONS', 'IBM_JAVA_OPTIONS', 'ANT_OPTS', 'SBT_OPTS', 'KOTLIN_HOME', 'GOPATH', 'GOROOT', 'GOFLAGS', 'GOPROXY', 'GOENV',
  'GOPRIVATE', 'GONOSUMDB', 'GOSUMDB', 'GONOPROXY', 'GOINSECURE', 'GOTOOLCHAIN', 'GODEBUG', 'R_PROFILE', 'R_ENVIRON', 'R_LIBS', 'JULIA_LOAD_PATH',
  'VIRTUAL_ENV', 'IPYTHONDIR', 'MPLCONFIGDIR', 'ERL_FLAGS', 'ERL_AFLAGS', 'ELIXIR_ERL_OPTIONS', 'TS_NODE_PROJECT', 'TSX_TSCONFIG_PATH',
  'ELECTRON_RUN_AS_NODE', 'COREPACK_NPM_REGISTRY', 'HOMEBREW_PREFIX', 'VIMINIT', 'EXINIT', 'EMACSLOADPATH',
  // which database its clients use, and as whom
  'PGHOST', 'PGHOSTADDR', 'PGPORT', 'PGUSER', 'PGDATABASE', 'PGPASSWORD', 'PGPASSFILE', 'PGSERVICE', 'PGSERVICEFILE', 'PGSYSCONFDIR', 'PGOPTIONS',
  'PGSSLMODE', 'PGSSLCERT', 'PGSSLKEY', 'PGSSLROOTCERT', 'PSQLRC', 'PSQL_EDITOR', 'MYSQL_PWD', 'MYSQL_HOST', 'MYSQL_TCP_PORT', 'MYSQL_UNIX_PORT',
  'MYSQL_HOME', 'MYSQL_TEST_LOGIN_FILE', 'REDISCLI_AUTH', 'SQLCMDPASSWORD', 'SQLCMDSERVER', 'TNS_ADMIN', 'CLICKHOUSE_PASSWORD',
  // the configuration of clusters and of services such as ours
  'KUBECONFIG', 'HELM_HOME', 'DATABASE_URL', 'REDIS_URL', 'NATS_URL', 'TERRAFORM_CONFIG', 'TF_CLI_CONFIG_FILE',
]) // oxfmt-ignore

/** Names of a refused family that steer nothing. */
const HARMLESS: ReadonlySet<string> = new Set(['NODE_ENV'])

/** Why a command may not be given that variable; undefined when it may. The case of the letters does not matter. */
export function refusedVariable(name: string): string | undefined {
  if (!VARIABLE_NAME.test(name) || name.length > 200) return 'is not a name of letters, digits and _'
  if (name === '__proto__') return 'is a name that JavaScript reserves for objects'
  const upper = name.toUpperCase()
  if (HARMLESS.has(upper)) return undefined
  if (NAMES.has(upper) || PREFIXES.some((prefix) => upper.startsWith(prefix)) || /_PROXY$/.test(upper)) {
    return 'controls a loader, an interpreter or another program'
  }
  return undefined
}

/** Throws INVALID_ARGUMENT that names the first variable that cannot be given to a command. */
export function checkEnvironment(env: Readonly<Record<string, string>>): void {
  let total = 0
  for (const [name, value] of Object.entries(env)) {
    const refused = refusedVariable(name)
    if (refused) {
      throw sandboxError(REQUESTS.refusedVariable({ name, why: refused }))
    }
    if (typeof value !== 'string' || value.includes('\0')) {
      throw sandboxError(REQUESTS.variableWithNul(name))
    }
    const bytes = Buffer.byteLength(value)
    total += bytes + name.length + 2
    if (bytes > MAX_VALUE_BYTES || total > MAX_TOTAL_BYTES) {
      throw sandboxError(REQUESTS.longVariable(name, bytes, { one: MAX_VALUE_BYTES, all: MAX_TOTAL_BYTES }))
    }
  }
}
