'use strict'

// The folders that are open in the editor, and which of them are indexed.

const fs = require('node:fs')

const vscode = require('vscode')

const { isWithin } = require('./hits')
const { indexedPaths } = require('./queries')

class Workspace {
  #daemon
  #folders
  #listener = vscode.workspace.onDidChangeWorkspaceFolders(() => (this.#folders = undefined))

  constructor(daemon) {
    this.#daemon = daemon
  }

  /** The paths of the open folders, without symbolic links, as the daemon has them. */
  get folders() {
    this.#folders ??= localFolders().map(({ uri }) => realPath(uri.fsPath))
    return this.#folders
  }

  dispose() {
    this.#listener.dispose()
  }

  /** Where to search for what concerns the workspace; nothing if it is not indexed. */
  async indexedPaths() {
    return indexedPaths(this.folders, await this.#roots())
  }

  /** Index the open folders that are in no root yet; resolves to those. */
  async index() {
    const roots = await this.#roots()
    const isNew = (folder) => !roots.some((root) => isWithin(folder, root))
    const isInner = (folder) => this.folders.some((outer) => outer !== folder && isWithin(folder, outer))
    const added = this.folders.filter((folder) => isNew(folder) && !isInner(folder))
    for (const path of added) await this.#daemon.request('roots/add', { path })
    return added
  }

  async #roots() {
    const { roots } = await this.#daemon.request('roots/list')
    return roots.map(({ path }) => path)
  }
}

function localFolders() {
  return (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file')
}

function realPath(path) {
  try {
    return fs.realpathSync(path)
  } catch {
    return path // it was removed
  }
}

module.exports = { Workspace }
