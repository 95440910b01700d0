/** authority: certificates for the hosts whose connections end here. Its key is made here, and is in no file. */
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'

export interface Authority {
  /** PEM, for whoever is to trust it. */
  readonly certificate: string
  /** The certificate of one host with its key, for the server's side of TLS. */
  contextFor(host: string): SecureContext
}

const DAY_MS = 86_400_000
/** Clients refuse certificates that are valid for longer than 398 days. */
const VALID_DAYS = 390

export function createAuthority(): Authority {
  const [own, hosts] = [newKeys(), newKeys()]
  const issuer = nameOf(`Nexus sandbox ${randomBytes(8).toString('hex')}`)
  const authorityKey = keyIdentifier(own.publicKey)
  const issue = (subject: Buffer, publicKey: KeyObject, extensions: readonly Buffer[]): string => {
    const body = sequence(
      tagged(0xa0, integer(Buffer.from([2]))),
      integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
      ECDSA_SHA256,
      issuer,
      sequence(time(Date.now() - DAY_MS), time(Date.now() + VALID_DAYS * DAY_MS)),
      subject,
      publicKey.export({ type: 'spki', format: 'der' }),
      tagged(0xa3, sequence(...extensions, extension(OID.authorityKey, sequence(tagged(0x80, authorityKey))))),
    )
    const signature = sign('sha256', body, own.privateKey)
    return pemOf(sequence(body, ECDSA_SHA256, bits(signature)))
  }
  const certificate = issue(issuer, own.publicKey, [
    extension(OID.basicConstraints, sequence(TRUE, integer(Buffer.from([0]))), 'critical'),
    extension(OID.keyUsage, KEY_CERT_SIGN, 'critical'),
    extension(OID.subjectKey, tagged(OCTETS, authorityKey)),
  ])
  const key = hosts.privateKey.export({ type: 'pkcs8', format: 'pem' })
  const contexts = new Map<string, SecureContext>()
  const contextOf = (host: string): SecureContext => {
    const leaf = issue(nameOf('Nexus'), hosts.publicKey, [
      extension(OID.basicConstraints, sequence(), 'critical'),
      extension(OID.keyUsage, DIGITAL_SIGNATURE, 'critical'),
      extension(OID.extendedKeyUsage, sequence(OID.serverAuth)),
      extension(OID.subjectKey, tagged(OCTETS, keyIdentifier(hosts.publicKey))),
      extension(OID.alternativeName, sequence(tagged(0x82, Buffer.from(host, 'ascii')))),
    ])
    return createSecureContext({ key, cert: leaf })
  }
  return {
    certificate,
    contextFor(host) {
      const context = contexts.get(host) ?? contextOf(host)
      contexts.set(host, context)
      return context
    },
  }
}

function newKeys(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { publicKey, privateKey: createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' })) }
}

function keyIdentifier(key: KeyObject): Buffer {
  const whole = createHash('sha256').update(key.export({ type: 'spki', format: 'der' }))
  return whole.digest().subarray(0, 20)
}

// DER, as far as a certificate needs it (X.690, RFC 5280). It is only written, never read.

const [OCTETS, UTF8, UTC_TIME] = [0x04, 0x0c, 0x17]

function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const { length } = body
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), body])
  return Buffer.concat([Buffer.from([tag, 0x82, length >> 8, length & 0xff]), body])
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, ...parts)
}

/** The bytes begin with one below 128, so that they are a positive number. */
function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes)
}

function bits(bytes: Buffer, unused = 0): Buffer {
  return tagged(0x03, Buffer.from([unused]), bytes)
}

function oid(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, 'hex'))
}

const OID = {
  commonName: oid('550403'),
  subjectKey: oid('551d0e'),
  keyUsage: oid('551d0f'),
  alternativeName: oid('551d11'),
  basicConstraints: oid('551d13'),
  authorityKey: oid('551d23'),
  extendedKeyUsage: oid('551d25'),
  serverAuth: oid('2b06010505070301'),
} as const
const ECDSA_SHA256 = sequence(oid('2a8648ce3d040302'))
const TRUE = tagged(0x01, Buffer.from([0xff]))
const KEY_CERT_SIGN = bits(Buffer.from([0x04]), 2)
const DIGITAL_SIGNATURE = bits(Buffer.from([0x80]), 7)

function nameOf(commonName: string): Buffer {
  return sequence(tagged(0x31, sequence(OID.commonName, tagged(UTF8, Buffer.from(commonName)))))
}

/** UTCTime has two digits for the year, which is right until 2049. */
function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\D/g, '')
  return tagged(UTC_TIME, Buffer.from(`${digits.slice(2, 14)}Z`))
}

function extension(id: Buffer, value: Buffer, critical?: 'critical'): Buffer {
  return sequence(id, ...(critical ? [TRUE] : []), tagged(OCTETS, value))
}

function pemOf(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
