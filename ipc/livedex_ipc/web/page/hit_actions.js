// What can be done with a place in a file: show it, open it in the editor, copy its path and line.

import { element } from './dom.js'

export class Actions {
  // `template`: of the address that opens the editor; empty if there is none.
  constructor(template) {
    this.template = template
  }

  // The address of a file's view. `from`: the values of the search that found it.
  static fileHref(place, from) {
    const values = new URLSearchParams(from)
    values.set('path', place.path)
    if (place.path_b64) values.set('path_b64', place.path_b64)
    if (place.line) values.set('line', place.line)
    return `#/file?${values}`
  }

  // The link that opens the editor; null for a name that is not text, or without an editor.
  editorHref({ path, path_b64, line, column = 1, text = '' }) {
    if (!this.template || path_b64) return null
    const encoded = path.split('/').map(encodeURIComponent).join('/')
    return this.template.replace(
      /\{(path|line|column)\}/g,
      (_, name) => ({ path: encoded, line: line ?? 1, column: columnIn(text, column) })[name],
    )
  }

  buttons(place) {
    const href = this.editorHref(place)
    const copy = element(
      'button',
      { type: 'button', class: 'copy', click: () => Actions.copy(place, copy) },
      'Copy path',
    )
    return element('span', { class: 'actions' }, href ? element('a', { class: 'edit', href }, 'Edit') : null, copy)
  }

  static async copy({ path, line }, button) {
    await navigator.clipboard.writeText(line ? `${path}:${line}` : path)
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy path'
    }, 1500)
  }

  // Run the action of a key in an element that has buttons. Return whether there is one.
  static press(key, around) {
    const wanted = { e: '.edit', c: '.copy' }[key]
    const button = wanted && around?.querySelector(wanted)
    button?.click()
    return Boolean(button)
  }
}

// A column as editors count, in code units of the line; the daemon counts bytes. Of a very long line `text` is a part:
// of what lies behind that, each byte counts.
function columnIn(text, column) {
  const before = new TextEncoder().encode(text).slice(0, column - 1)
  return column - before.length + new TextDecoder('utf-8', { ignoreBOM: true }).decode(before).length
}
