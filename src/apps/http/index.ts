/** http: what all our HTTP servers share: who may call, the key file, and how long and how much a connection may take. */
export {
  createKeyCheck,
  createSiteCheck,
  type Headers,
  type KeyFinding,
  type SiteFinding,
  SITE_TEXTS,
} from './guard.ts'
export { openKeyFile } from './key-file.ts'
export { isLoopback, listen, type Listening, setCertificate, setLimits } from './listen.ts'
