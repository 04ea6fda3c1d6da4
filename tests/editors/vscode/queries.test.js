'use strict'

const assert = require('node:assert/strict')
const test = require('node:test')

const { indexedPaths, outcomeOf, searchParams, standingParams, title } = require(`${process.env.EXTENSION}/queries`)

test('a workspace is searched where it is indexed', () => {
  assert.deepEqual(indexedPaths(['/a/src'], ['/a']), ['/a/src'])
  assert.deepEqual(indexedPaths(['/a'], ['/a']), ['/a'])
  assert.deepEqual(indexedPaths(['/a'], ['/a/src', '/a/docs', '/b']), ['/a/src', '/a/docs'])
  assert.deepEqual(indexedPaths(['/a', '/b', '/c'], ['/a', '/b/x']), ['/a', '/b/x'])
  assert.deepEqual(indexedPaths(['/a'], ['/ab', '/b']), [])
  assert.deepEqual(indexedPaths([], ['/a']), [])
})

test('words are searched for as they are typed', () => {
  const wanted = { query: 'lea', mode: 'auto', limit: 100, supersedes: 'search', typing: true }
  assert.deepEqual(searchParams('lea', 'auto', [], 100), wanted)
  assert.deepEqual(searchParams('lea', 'auto', ['/a'], 100), { ...wanted, paths: ['/a'] })
  assert.equal(searchParams('lea.*', 'regex', [], 100).typing, false)
  assert.deepEqual(standingParams('lease', [], 5), { query: 'lease', limit: 5 })
  assert.deepEqual(standingParams('lease', ['/a'], 5), { query: 'lease', limit: 5, paths: ['/a'] })
})

const ANSWER = { hits: [{}], next_offset: null, fresh: true, warnings: [] }

test('an outcome is in a few words', () => {
  assert.equal(outcomeOf(ANSWER), '1 hit')
  assert.equal(outcomeOf({ ...ANSWER, hits: [{}, {}], next_offset: 2 }), '2+ hits')
  assert.equal(outcomeOf({ ...ANSWER, fresh: false, reason: 'indexing' }), '1 hit · not fresh: indexing')
  assert.equal(outcomeOf({ ...ANSWER, did_you_mean: { query: 'lease', applied: true } }), '1 hit · for lease')
  assert.equal(outcomeOf({ ...ANSWER, did_you_mean: { query: 'lease', applied: false } }), '1 hit')
  const warnings = [{ code: 'backlog', message: 'b' }, { code: 'query_cut', message: 'the query was cut' }]
  assert.equal(outcomeOf({ ...ANSWER, warnings }), '1 hit · the query was cut')
})

test('a title says how and where it searches', () => {
  assert.equal(title('regex', 'this workspace', '1 hit'), 'Regular expression in this workspace · 1 hit')
  assert.equal(title('auto', 'all indexed folders'), 'Words in all indexed folders')
})
