'use strict'

// What the lists show of a hit, and where it is in the file. Nothing here knows the editor.
//
// Invariant: columns are counted as the editor counts them, in code units of UTF-16, from 0.

const { basename, relative } = require('node:path').posix

const BEFORE_MATCH = 40 // of a long line, the characters of a label before its match
const MOST_LABEL = 200
const LONG_LINE = 2000 // of a longer line, a hit's `text` is only a part

/** The column, from 0 in code units, of a hit's first match. `line`: its line as the editor has it, if known. */
function columnOf(hit, line = undefined) {
  const text = line !== undefined && line.length > LONG_LINE ? line : hit.text
  return Buffer.from(text).subarray(0, hit.column - 1).toString().length
}

/** The match at the hit's place, else the first in its line, else the first of all; an empty one if there is none. */
function markedIn(hit) {
  const ahead = hit.line - hit.snippet_line
  const letters = Array.from(hit.snippet)
  const inLine = hit.highlights.filter(
    ([start]) => letters.slice(0, start).filter((letter) => letter === '\n').length === ahead,
  )
  const behind = hit.text.slice(columnOf(hit))
  const isThere = ([start, end]) => start < end && behind.startsWith(letters.slice(start, end).join(''))
  return inLine.find(isThere) ?? inLine[0] ?? hit.highlights[0] ?? [0, 0]
}

/** The length of that match in code units, as far as its line goes; 0 if it has none. */
function matchLength(hit) {
  const [start, end] = markedIn(hit)
  const match = Array.from(hit.snippet).slice(start, end).join('')
  return match.split(/\r?\n/, 1)[0].length
}

/** One line of plain text for a list: the hit's line around its match. */
function label(hit) {
  const indent = hit.text.length - hit.text.trimStart().length
  const match = matchIndex(hit)
  const start = match - indent > MOST_LABEL / 2 ? boundary(hit.text, match - BEFORE_MATCH) : indent
  const text = hit.text.slice(start, boundary(hit.text, start + MOST_LABEL)).trimEnd()
  return plain(start > indent ? `…${text}` : text) || plain(hit.relative_path)
}

/** Where that match begins in the hit's `text`, which may be only the part of a line that the snippet has. */
function matchIndex(hit) {
  const before = Array.from(hit.snippet).slice(0, markedIn(hit)[0]).join('')
  const start = before.lastIndexOf('\n') + 1
  const isPart = hit.snippet.startsWith(hit.text, start)
  return isPart ? before.length - start : columnOf(hit)
}

/** An index near `index` that is not inside a surrogate pair. */
function boundary(text, index) {
  const code = text.charCodeAt(index)
  return code >= 0xdc00 && code <= 0xdfff ? index - 1 : index
}

/** The text without characters that move other text. */
function plain(text) {
  return text
    .replace(/\t/g, ' ')
    .replace(/[\u0000-\u001f]/g, (control) => String.fromCharCode(0x2400 + control.charCodeAt(0)))
    .replace(/[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, '\ufffd')
}

/** The text for a list that makes icons of `$(name)`, which is also what jQuery looks like. */
function withoutIcons(text) {
  return text.replace(/\$\((?=[A-Za-z0-9-]+(~[A-Za-z]+)?\))/g, '\\$&')
}

/**
 * The path and line for a list: below a folder of the workspace relative to it, else with the name of its root. The
 * folder's name comes first if several are open.
 */
function place(hit, folders) {
  const within = folders.filter((each) => isWithin(hit.path, each))
  const folder = within.sort((a, b) => b.length - a.length)[0] // the innermost
  const path = folder === undefined ? hit.relative_path : relative(folder, hit.path)
  const name = folder !== undefined && folders.length === 1 ? '' : `${basename(folder ?? hit.root)}/`
  return `${plain(name + path)}:${hit.line}`
}

/** Whether a path is a folder or below it. */
function isWithin(path, folder) {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : folder + '/')
}

/** The hits of a standing query. A hit belongs to one state of its file; equal ones count as often as they are. */
class StandingHits {
  #hits = new Map() // identity → hits
  #count = 0
  #isPart = false

  /** The first result, or that of a new connection. `limit`: how many hits it has at most. */
  reset(hits, limit) {
    this.#hits.clear()
    this.#count = 0
    this.#isPart = hits.length >= limit
    for (const hit of hits) this.#add(hit)
  }

  apply({ added, removed }) {
    for (const hit of removed) this.#remove(hit)
    for (const hit of added) this.#add(hit)
  }

  /** How many there are; `1000+` if the first result was cut. */
  get count() {
    return this.#isPart ? `${this.#count}+` : `${this.#count}`
  }

  /** All, in the order of their paths and lines. */
  sorted() {
    const inOrder = (a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1)
    return [...this.#hits.values()].flat().sort(inOrder)
  }

  #add(hit) {
    const key = identity(hit)
    this.#hits.set(key, [...(this.#hits.get(key) ?? []), hit])
    this.#count += 1
  }

  #remove(hit) {
    const key = identity(hit)
    const rest = this.#hits.get(key)?.slice(1)
    if (rest === undefined) return // it was beyond the limit
    if (rest.length > 0) this.#hits.set(key, rest)
    else this.#hits.delete(key)
    this.#count -= 1
  }
}

function identity(hit) {
  return JSON.stringify([hit.path, hit.kind, hit.start_line, hit.end_line, hit.content_hash])
}

module.exports = { StandingHits, columnOf, isWithin, label, matchLength, place, withoutIcons }
