// Makes elements. Text of files and names becomes text nodes alone, with what would hide or reorder it escaped.

// Control, direction and zero-width characters, as the command escapes them.
const HIDDEN = new RegExp(
  '[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e' +
    '\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ud800-\\udfff\\ufeff\\uffa0\\ufff0-\\ufffb' +
    '\\u{13430}-\\u{1345f}\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e00ff}' +
    '\\u{e01f0}-\\u{e0fff}]',
  'gu',
)
// Why an answer is not fresh, as the command says it.
const REASONS = {
  deadline: 'the time ran out before the newest changes were indexed',
  indexing: 'the first index is still being made',
  recovering: 'livedex is making up for lost events',
  rebuilding: 'the index is being rebuilt',
  polling: 'a polled folder could not be walked in time',
  paused: 'indexing is paused',
  store: 'the index cannot be written',
  unsettled: 'a file kept changing while it was read',
  unreadable: 'a file or folder cannot be read now',
}
const NAMED = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\x1b': '\\e' }

export function visible(text, keep = '') {
  return text.replace(HIDDEN, (character) => (keep.includes(character) ? character : escaped(character)))
}

function escaped(character) {
  const code = character.codePointAt(0)
  if (character in NAMED) return NAMED[character]
  const [letter, digits] = code < 0x100 ? ['x', 2] : code < 0x10000 ? ['u', 4] : ['U', 8]
  return `\\${letter}${code.toString(16).padStart(digits, '0')}`
}

// element('a', { class: 'path', href: '#/' }, 'text', otherElement): attributes; listeners where the value is a function.
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(key, value)
    else if (value === true) made.setAttribute(key, '')
    else if (value !== false && value != null) made.setAttribute(key, value)
  }
  made.append(...children.filter((child) => child != null && child !== ''))
  return made
}

// Give a parent these children. One that stays in its place is not touched: it keeps the focus, and a click begun on it.
export function arrange(parent, children) {
  const wanted = new Set(children)
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove()
  children.forEach((child, place) => {
    if (parent.children[place] !== child) parent.insertBefore(child, parent.children[place] ?? null)
  })
}

export const one = (id) => document.getElementById(id)

export const counted = (count, noun) => `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`

// The lines of a text, each with its parts: `[text, isMatch]`. `spans`: half-open, in code points, sorted.
export function markedLines(text, spans) {
  const lines = [[]]
  const add = (piece, isMatch) =>
    piece.split('\n').forEach((part, index) => {
      if (index) lines.push([])
      if (part) lines.at(-1).push([part, isMatch])
    })
  const characters = spans.length ? Array.from(text) : []
  let at = 0
  for (const [start, end] of spans) {
    add(characters.slice(at, start).join(''), false)
    add(characters.slice(start, end).join(''), true)
    at = end
  }
  add(spans.length ? characters.slice(at).join('') : text, false)
  return lines
}

// One line of code: its number is drawn by the style sheet, so that it is not copied with the text.
export function codeLine(number, parts, extra = {}) {
  const shown = parts.map(([text, isMatch]) =>
    isMatch ? element('mark', {}, visible(text, '\t')) : visible(text, '\t'),
  )
  return element('div', { 'class': 'line', 'data-line': number, ...extra }, element('code', { dir: 'auto' }, ...shown))
}

// A path with its name in bold, isolated from the direction of the text around it.
export function pathText(path, line) {
  const cut = path.lastIndexOf('/') + 1
  return element(
    'bdi',
    { class: 'path' },
    element('span', { class: 'folder' }, visible(path.slice(0, cut))),
    element('span', { class: 'name' }, visible(path.slice(cut))),
    line ? element('span', { class: 'at' }, `:${line}`) : null,
  )
}

// The path below its root, with the root's name.
export function shownPath({ root, relative_path }) {
  return `${root.slice(root.lastIndexOf('/') + 1)}/${relative_path}`
}

// The notes of an answer: why it is not fresh, and warnings with their remedies.
export function notes(answer, passedOver = []) {
  const shown = answer.warnings
    .filter(({ code }) => !passedOver.includes(code))
    .map(({ message, remedy }) =>
      element(
        'p',
        { class: 'note' },
        visible(message),
        remedy ? element('span', { class: 'remedy' }, ` ${visible(remedy)}`) : null,
      ),
    )
  if (answer.fresh === false && answer.reason) {
    const pending = answer.pending ? `, ${answer.pending.toLocaleString('en')} pending` : ''
    const reason = REASONS[answer.reason] ?? visible(answer.reason)
    shown.unshift(element('p', { class: 'note' }, `Not fresh: ${reason}${pending}`))
  }
  return shown
}
