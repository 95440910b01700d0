/**
 * files: work on files below one opened directory: read, write, list, walk, copy, remove, in bytes and without following a link.
 * It imports nothing but Node, as it is staged with the runner of the sandbox.
 */
export { codeOf, FileError, isAbsence, isClosed } from './errors.ts'
export { Directory, type Holding, type Owner, syncFile } from './directory.ts'
export { type KeptPlace, keptPlace, readKept, readKeptLines, waysTo, writeKept } from './kept.ts'
export { isDirectory, listNames, type Named, namesIn } from './list.ts'
export { below, bytesOf, nameOf, pathParts } from './names.ts'
export { kindOf, openUnseen, type OpenedFile, readInto } from './open.ts'
export { createPace, forEachPaced, type Pace, paceOf, yieldToEventLoop } from './pace.ts'
export { readAll, readSmall } from './read.ts'
export { removeBelow, type Removed, type RemoveOptions } from './remove.ts'
export { openRoot } from './root.ts'
export { type Entry, entryIn, isStill, Tree, type TreeWrite } from './tree.ts'
export { type Met } from './walk.ts'
export { isOwnerGone, ownerToken, partName, partState } from './write.ts'
