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
  const buttons = canMend(error) ? [OPEN_SETTINGS] : []
  const pressed = await vscode.window.showErrorMessage(`livedex: ${error.message}`, ...buttons)
  if (pressed === OPEN_SETTINGS) await vscode.commands.executeCommand('workbench.action.openSettings', 'livedex.path')
}

/** Whether a setting is the remedy. */
function canMend(error) {
  return error instanceof CommandMissing
}

module.exports = {
  canMend,
  command: () => get('path'),
  maxResults: () => get('maxResults'),
  showsPreview: () => get('preview'),
  tell,
}
