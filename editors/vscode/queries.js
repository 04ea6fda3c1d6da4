'use strict'

// What is asked of the daemon, and what the title of the list says of its answer. Nothing here knows the editor.

const { isWithin } = require('./hits')

// A mode of the protocol, and its name for people.
const MODES = { auto: 'Words', exact: 'Exact text', regex: 'Regular expression' }

/** Of the workspace what is indexed: its folders that are inside a root, and the roots inside its folders. */
function indexedPaths(folders, roots) {
  const inside = folders.filter((folder) => roots.some((root) => isWithin(folder, root)))
  const below = roots.filter((root) => folders.some((folder) => root !== folder && isWithin(root, folder)))
  return [...inside, ...below]
}

/** The params of a search as it is typed. `paths`: where it searches; none for everywhere. */
function searchParams(query, mode, paths, limit) {
  const params = { query, mode, limit, supersedes: 'search', typing: mode === 'auto' }
  return paths.length > 0 ? { ...params, paths } : params
}

/** The params of a standing query. */
function standingParams(query, paths, limit) {
  return paths.length > 0 ? { query, limit, paths } : { query, limit }
}

/** The title of the list: how and where it searches, and then what came of it. */
function title(mode, where, outcome = '') {
  return [`${MODES[mode]} in ${where}`, outcome].filter(Boolean).join(' · ')
}

/** What came of a search, in a few words. */
function outcomeOf(answer) {
  const count = answer.hits.length
  const words = [`${count}${answer.next_offset === null ? '' : '+'} ${count === 1 ? 'hit' : 'hits'}`]
  if (answer.did_you_mean?.applied) words.push(`for ${answer.did_you_mean.query}`)
  if (!answer.fresh) words.push(`not fresh: ${answer.reason}`)
  const warning = answer.warnings.find(({ code }) => code.startsWith('query_'))
  if (warning) words.push(warning.message)
  return words.join(' · ')
}

module.exports = { MODES, indexedPaths, outcomeOf, searchParams, standingParams, title }
