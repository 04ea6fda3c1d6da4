'use strict'

// Loads a module of the extension without the editor.

const Module = require('node:module')

/** The module of that name; `vscode`: what it gets of the editor. EXTENSION: the folder of the extension. */
function withEditor(vscode, name) {
  const load = Module._load
  Module._load = (request, ...more) => (request === 'vscode' ? vscode : load(request, ...more))
  try {
    return require(`${process.env.EXTENSION}/${name}`)
  } finally {
    Module._load = load
  }
}

module.exports = { withEditor }
