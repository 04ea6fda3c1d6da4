'use strict'

// Opens hits in the editor: for good, or as a preview that can be taken back.

const vscode = require('vscode')

const { columnOf, matchLength } = require('./hits')

const MOVE_MS = 60 // so that holding a key does not open each file on the way
const TYPING_MS = 250 // a file takes the editor longer than a list does, and the list of the next key would wait for it
const MARK = { backgroundColor: new vscode.ThemeColor('editor.findMatchBackground') }

/** Open the file at the first match; resolves to its editor. `options`: of the editor's `showTextDocument`. */
async function openHit(hit, options) {
  const uri = vscode.Uri.file(hit.path)
  let document
  try {
    document = await vscode.workspace.openTextDocument(uri)
  } catch {
    return vscode.commands.executeCommand('vscode.open', uri, options) // an image, a PDF, or a file that is gone
  }
  const { start } = matchIn(document, hit)
  return vscode.window.showTextDocument(document, { ...options, selection: new vscode.Range(start, start) })
}

function matchIn(document, hit) {
  const line = Math.min(hit.line, document.lineCount) - 1
  const start = new vscode.Position(line, columnOf(hit, document.lineAt(line).text))
  return new vscode.Range(start, start.translate(0, matchLength(hit)))
}

/**
 * Shows hits while a list is open. `restore` brings back what was shown before, `end` leaves things as they are.
 *
 * The match is marked, not selected: a key that is pressed as the list closes goes to the file that is shown, and would
 * replace what is selected there.
 */
class Preview {
  #before = where()
  #mark = vscode.window.createTextEditorDecorationType(MARK)
  #shown // the path of the last preview
  #wanted // the hit to show next
  #timer
  #isOver = false
  #work = Promise.resolve()

  /** `isMove`: the user went to the hit; else it is the first one of what is being typed, of which more may come. */
  show(hit, isMove) {
    if (this.#isOver || hit === this.#wanted) return // the editor tells late, and again, of what became active
    clearTimeout(this.#timer)
    this.#wanted = hit
    this.#timer = setTimeout(() => this.#then(() => this.#openWanted(hit)), isMove ? MOVE_MS : TYPING_MS)
  }

  /** Another hit may come first: nothing new is shown until the next `show`. */
  postpone() {
    clearTimeout(this.#timer)
    this.#wanted = undefined
  }

  end() {
    this.postpone()
    this.#isOver = true
    return this.#then(() => this.#mark.dispose())
  }

  restore() {
    this.end()
    return this.#then(() => this.#shown && this.#restore())
  }

  #then(step) {
    this.#work = this.#work.then(step).catch(() => {}) // the list goes on without a preview
    return this.#work
  }

  /** Open it, unless another one is wanted, or none, by the time that those before it are open. */
  async #openWanted(hit) {
    if (this.#isOver || hit !== this.#wanted) return
    this.#shown = hit.path
    const editor = await openHit(hit, { preview: true, preserveFocus: true })
    editor?.setDecorations(this.#mark, [matchIn(editor.document, hit)])
  }

  async #restore() {
    const { editor, isPreview, selections, range } = this.#before
    if (editor) {
      // The focus is there already, or in the next list, which would close without it.
      const options = { viewColumn: editor.viewColumn, preview: isPreview, preserveFocus: true }
      const restored = await vscode.window.showTextDocument(editor.document, options)
      restored.selections = selections
      if (range) restored.revealRange(range, vscode.TextEditorRevealType.AtTop)
    }
    if ((isPreview && editor) || this.#shown === editor?.document.uri.fsPath) return
    // Not the active tab of before: the editor tells late which one that is.
    const ours = vscode.window.tabGroups.activeTabGroup.tabs.find(
      (tab) => tab.isPreview && tab.input?.uri?.fsPath === this.#shown,
    )
    if (ours) await vscode.window.tabGroups.close(ours, true)
  }
}

/** What the user sees now: the text editor, how it is scrolled, and whether it is itself only a preview. */
function where() {
  const editor = vscode.window.activeTextEditor
  return {
    editor,
    isPreview: vscode.window.tabGroups.activeTabGroup.activeTab?.isPreview ?? false,
    selections: editor?.selections,
    range: editor?.visibleRanges[0],
  }
}

module.exports = { Preview, openHit }
