/** masks: puts keys in the place of their placeholders in what a command sends, and placeholders back in what it gets. Pure. */
import type { Duplex } from 'node:stream'
import { allowsHost, type HostPort, type HostRule, MIN_SECRET_CHARS } from '../../kernel/index.ts'
import type { Roots } from '../net/index.ts'
import type { Authority } from './authority.ts'

/** A key that a command does not see. */
export interface Mask {
  /** Letters, digits and `_`, so that it is the same in every form in which programs write it. */
  readonly placeholder: string
  readonly value: string
  /** Only they get the value. */
  readonly hosts: readonly HostRule[]
}

export interface MaskOptions {
  readonly masks: readonly Mask[]
  readonly authority: Authority
  /** Those that servers are checked against. */
  readonly roots: Roots
}

/** Where a connection goes on that begins with TLS: both sides as they are, nothing was sent yet. */
export type TakesTls = (client: Duplex, upstream: Duplex, to: HostPort) => void

export interface Terminator {
  /** Undefined for a host that gets no key. */
  takesTls(to: HostPort): TakesTls | undefined
  close(): void
}

const MAX_BASIC = 100

/** The keys of the hosts on one connection. */
export class Masking {
  readonly #masks: readonly Mask[]
  /** By what may come back, the text that the command gets for it; bytes as latin1. */
  readonly #back = new Map<string, string>()
  #pattern: RegExp | undefined

  constructor(masks: readonly Mask[]) {
    this.#masks = masks
    for (const { placeholder, value } of masks) {
      // A shorter one is found everywhere.
      if (value.length < MIN_SECRET_CHARS) continue
      for (const form of [value, inUrl(value), inJson(value)]) this.#back.set(bytesOf(form), placeholder)
    }
  }

  /** The value of a header with the keys, and the user and password of Basic too. */
  header(name: string, value: string): string {
    const [, scheme = '', encoded] = /^(basic +)(\S+)$/i.exec(value) ?? []
    if (!/^authorization$/i.test(name) || encoded === undefined) return this.#put(value, bytesOf)
    const given = Buffer.from(encoded, 'base64').toString('latin1')
    const put = this.#put(given, bytesOf)
    if (put === given) return value
    const sent = Buffer.from(put, 'latin1').toString('base64')
    if (this.#back.size < MAX_BASIC) this.#addBack(sent, encoded)
    return scheme + sent
  }

  /** The path and the query of a request. */
  target(path: string): string {
    return this.#put(path, inUrl)
  }

  /** A body of text; its type says how a value is written in it. */
  body(text: Buffer, type: string): Buffer {
    const plain = /x-www-form-urlencoded/i.test(type) ? inUrl : String
    const write = /\bjson\b/i.test(type) ? inJson : plain
    return Buffer.from(
      this.#put(text.toString('latin1'), (value) => bytesOf(write(value))),
      'latin1',
    )
  }

  /** Bytes as latin1. `rest` is the beginning of what may be a key, when more follows. */
  restore(text: string, isEnd = true): { readonly done: string; readonly rest: string } {
    const pattern = (this.#pattern ??= new RegExp(
      [...this.#back.keys()]
        .sort(byLength)
        .map((form) => form.replace(/\W/g, '\\$&'))
        .join('|'),
      'g',
    ))
    if (this.#back.size === 0) return { done: text, rest: '' }
    let [done, at] = ['', 0]
    for (const found of text.matchAll(pattern)) {
      done += text.slice(at, found.index) + (this.#back.get(found[0]) ?? '')
      at = found.index + found[0].length
    }
    const last = text.slice(at)
    const kept = isEnd ? 0 : this.#beginningAtEnd(last)
    return { done: done + last.slice(0, last.length - kept), rest: last.slice(last.length - kept) }
  }

  #put(text: string, write: (value: string) => string): string {
    return this.#masks.reduce((made, { placeholder, value }) => made.replaceAll(placeholder, () => write(value)), text)
  }

  #addBack(sent: string, given: string): void {
    this.#back.set(sent, given)
    this.#pattern = undefined
  }

  /** How many characters at the end are the beginning of something that is put back. */
  #beginningAtEnd(text: string): number {
    let most = 0
    for (const form of this.#back.keys())
      for (let length = Math.min(form.length - 1, text.length); length > most; length--)
        if (text.endsWith(form.slice(0, length))) most = length
    return most
  }
}

export function masksFor(masks: readonly Mask[], to: HostPort): readonly Mask[] {
  return masks.filter(({ hosts }) => hosts.some((rule) => allowsHost(rule, to)))
}

/** Bodies in which keys are put. Parts of a form with files are left as they are. */
export function isText(type: string | undefined): boolean {
  return /^\s*(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|graphql|x-www-form-urlencoded|x-ndjson)\b)/i.test(
    type ?? '',
  )
}

function bytesOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

function inUrl(value: string): string {
  return encodeURIComponent(value.toWellFormed())
}

function inJson(value: string): string {
  return JSON.stringify(value).slice(1, -1)
}

function byLength(a: string, b: string): number {
  return b.length - a.length
}
