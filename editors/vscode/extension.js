'use strict'

// Wires the parts to the editor: commands, the view of standing queries, the server for agents.

const vscode = require('vscode')

const { version } = require('./package.json')
const { Daemon } = require('./daemon')
const { openHit } = require('./openHit')
const { SearchPick } = require('./searchPick')
const settings = require('./settings')
const { StandingQueries } = require('./standingQueries')
const { Workspace } = require('./workspace')

const MOST_SEED = 200 // characters of a selection that are searched for

function activate(context) {
  let standing
  const daemon = new Daemon(settings.command, () => standing.lost())
  const workspace = new Workspace(daemon)
  standing = new StandingQueries(daemon, workspace, context.workspaceState)
  const choices = { mode: 'auto', everywhere: false }
  const follow = guarded((query) => followed(standing, query))
  let pick
  const search = async () => {
    await pick?.close()
    pick = new SearchPick(daemon, workspace, choices, follow)
    return pick.open(selected())
  }
  const commands = {
    'livedex.search': search,
    'livedex.follow': follow,
    'livedex.unfollow': (query) => standing.unfollow(query),
    'livedex.openHit': (hit) => openHit(hit, { preview: true }),
    'livedex.indexWorkspace': () => index(workspace, standing),
  }
  context.subscriptions.push(
    ...Object.entries(commands).map(([name, run]) => vscode.commands.registerCommand(name, guarded(run))),
    vscode.window.registerTreeDataProvider('livedex.standingQueries', standing),
    vscode.lm.registerMcpServerDefinitionProvider('livedex', { provideMcpServerDefinitions }),
    vscode.workspace.onDidChangeWorkspaceFolders(() => standing.renew()),
    standing,
    workspace,
    { dispose: () => daemon.close() },
  )
  standing.connect()
}

/** A function that tells the user what fails in it. */
function guarded(run) {
  return async (...given) => {
    try {
      return await run(...given)
    } catch (error) {
      return settings.tell(error)
    }
  }
}

/** The text that is selected, if it may be a query. */
function selected() {
  const editor = vscode.window.activeTextEditor
  const text = editor?.document.getText(editor.selection) ?? ''
  return text.length <= MOST_SEED && !/[\r\n]/.test(text) ? text : ''
}

/** Follow a query; without one, ask for it. */
async function followed(standing, query) {
  const text = query ?? (await vscode.window.showInputBox({ prompt: 'A query to follow', value: selected() }))
  if (!text?.trim()) return
  await standing.follow(text.trim())
  await vscode.commands.executeCommand('livedex.standingQueries.focus')
}

async function index(workspace, standing) {
  if (workspace.folders.length === 0) {
    vscode.window.showWarningMessage('No folder of this machine is open: open the one that livedex is to index.')
    return
  }
  const added = await workspace.index()
  const what = added.length > 0 ? `indexes ${added.join(', ')}` : 'has this workspace in its index already'
  vscode.window.showInformationMessage(`livedex ${what}.`)
  if (added.length > 0) await standing.renew()
}

/** The server for agents in the editor. It runs in the first folder, to which relative paths are relative. */
function provideMcpServerDefinitions() {
  const server = new vscode.McpStdioServerDefinition('livedex', settings.command(), ['mcp'], {}, version)
  server.cwd = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file')?.uri
  return [server]
}

module.exports = { activate }
