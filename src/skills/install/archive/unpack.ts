/** unpack: a process of its own that reads an archive from stdin and writes its files to stdout; it can open no file and start nothing. */
import { type ArchiveFile, ARCHIVE_LIMITS, Refused } from './limits.ts'
import { readTarGz } from './tar.ts'
import { readZip } from './zip.ts'

/** The first line of the output; the bytes of the files follow, one after the other. */
export type Unpacked =
  | { readonly files: readonly { readonly path: string; readonly size: number; readonly executable: boolean }[] }
  | { readonly refused: string; readonly isLimit: boolean }

async function main(): Promise<void> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > ARCHIVE_LIMITS.archiveBytes) break
    chunks.push(chunk)
  }
  const { head, files } = unpack(Buffer.concat(chunks), length)
  process.stdout.write(`${JSON.stringify(head)}\n`)
  for (const { bytes } of files) process.stdout.write(bytes)
}

function unpack(archive: Buffer, length: number): { head: Unpacked; files: readonly ArchiveFile[] } {
  try {
    if (length > ARCHIVE_LIMITS.archiveBytes)
      throw new Refused(`has more than ${ARCHIVE_LIMITS.archiveBytes} bytes`, true)
    const isGzip = archive[0] === 0x1f && archive[1] === 0x8b
    const files = isGzip ? readTarGz(archive) : readZip(archive)
    return {
      files,
      head: { files: files.map(({ path, bytes, executable }) => ({ path, size: bytes.length, executable })) },
    }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return { files: [], head: { refused: error.message, isLimit: error.isLimit } }
  }
}

await main()
