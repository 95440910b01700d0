/** Not the caller's PATH: a directory that a user can write to must not decide which program gets our rights. */
export const SYSTEM_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']
