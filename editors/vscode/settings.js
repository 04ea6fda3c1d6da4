'use strict'

// The user's settings, read when they are needed, and the way to them where one is wrong.

const vscode = require('vscode')

const { CommandMissing } = require('./daemon')

const OPEN_SETTINGS = 'Open Settings'

function get(name) {
  return vscode.workspace.getConfiguration('livedex').get(name)
}

/** Say what failed, with a button for the setting if that is the remedy. */
async function tell(error) {
  const buttons = error instanceof CommandMissing ? [OPEN_SETTINGS] : []
  const pressed = await vscode.window.showErrorMessage(`livedex: ${error.message}`, ...buttons)
  if (pressed === OPEN_SETTINGS) await vscode.commands.executeCommand('workbench.action.openSettings', 'livedex.path')
}

/** As `tell`, but only if there is a remedy: the list itself shows the error. */
function offerRemedy(error) {
  return error instanceof CommandMissing ? tell(error) : undefined
}

module.exports = {
  command: () => get('path'),
  maxResults: () => get('maxResults'),
  offerRemedy,
  showsPreview: () => get('preview'),
  tell,
}
