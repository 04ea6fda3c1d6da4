-- Quickfix lists that follow their queries: standing queries of the daemon.
--
-- A list ends when the user ends it, or when Neovim has forgotten it after newer ones. While there is no connection it
-- keeps its entries and says so; it is complete again with the next one.
local M = {}

local connection = require('livedex.connection')
local hits = require('livedex.hits')
local quickfix = require('livedex.list')

local MOST_FIRST = 1000

---@class livedex.List
---@field id integer of the quickfix list
---@field params table
---@field subscription integer?
---@field entries table<string, table<integer, table>> by the hit's lines, then by its column
---@field rows table[] the entries in the order shown
---@field state string
---@field is_due boolean whether `show` is to be called already

local lists = {} ---@type livedex.List[]

---Return what is known of a hit in `removed`, too: all hits of a long line have it, and go at the same time.
local function lines_of(hit)
  return table.concat({ hit.path_b64 or hit.path, hit.kind, hit.start_line, hit.end_line, hit.content_hash }, '\0')
end

local function add(list, found)
  for _, hit in ipairs(found) do
    local lines = lines_of(hit)
    local key = lines .. '\0' .. hit.start_column
    list.entries[lines] = list.entries[lines] or {}
    list.entries[lines][hit.start_column] = vim.tbl_extend('error', hits.item(hit), { key = key })
  end
end

local function is_before(one, other)
  if one.filename ~= other.filename then
    return one.filename < other.filename
  elseif one.lnum ~= other.lnum then
    return one.lnum < other.lnum
  elseif one.col ~= other.col then
    return one.col < other.col
  end
  return one.key < other.key
end

---Return the entries in the order of the list.
local function rows_of(list)
  local rows = {}
  for _, entries in pairs(list.entries) do
    vim.list_extend(rows, vim.tbl_values(entries))
  end
  table.sort(rows, is_before)
  return rows
end

local function unsubscribe(list)
  lists = vim.tbl_filter(function(each)
    return each ~= list
  end, lists)
  if list.subscription and connection.is_connected() then
    connection.request('search/unsubscribe', { subscription = list.subscription }, function() end)
  end
end

---Return the row in which the entry with `key` is now; else one near to `old`.
local function row_of(rows, key, old)
  for row, entry in ipairs(rows) do
    if entry.key == key then
      return row
    end
  end
  return math.max(1, math.min(old, #rows))
end

---Write the entries into the list. The current entry and the one under the cursor stay so while they are there.
local function show(list)
  list.is_due = false
  local now = vim.fn.getqflist({ id = list.id, idx = 0, winid = 0 })
  if now.id == 0 then -- freed: there are newer lists
    return unsubscribe(list)
  end
  local is_shown = now.winid ~= 0 and vim.fn.getqflist({ id = 0 }).id == list.id
  local row = is_shown and vim.api.nvim_win_get_cursor(now.winid)[1] or 0
  local before = list.rows
  list.rows = rows_of(list)
  local idx = before[now.idx] and row_of(list.rows, before[now.idx].key, now.idx) or 1
  quickfix.set(list.id, list.params.query, list.rows, list.state, idx)
  if before[row] then
    vim.api.nvim_win_set_cursor(now.winid, { row_of(list.rows, before[row].key, row), 0 })
  end
end

local function show_soon(list)
  if not list.is_due then
    list.is_due = true
    vim.schedule(function()
      show(list)
    end)
  end
end

local function subscribe(list)
  local params = vim.tbl_extend('keep', list.params, { limit = MOST_FIRST })
  connection.request('search/subscribe', params, function(err, result)
    if err and connection.is_connected() then -- the query itself was refused
      hits.say(err.message)
      unsubscribe(list)
    elseif err then
      connection.retry()
    end
    if err then
      list.state = connection.is_connected() and 'refused' or 'not connected'
      return show_soon(list)
    end
    list.subscription, list.entries, list.state = result.subscription, {}, hits.state(result) or 'following'
    add(list, result.hits)
    show_soon(list)
  end)
end

connection.on('search/changed', function(params)
  for _, list in ipairs(lists) do
    if list.subscription == params.subscription then
      for _, hit in ipairs(params.removed) do
        list.entries[lines_of(hit)] = nil
      end
      add(list, params.added)
      if params.fresh then
        list.state = 'following'
      end
      show_soon(list)
    end
  end
end)

connection.on('lost', function()
  for _, list in ipairs(lists) do
    list.subscription, list.state = nil, 'not connected'
    show_soon(list)
  end
  if lists[1] then
    connection.retry()
  end
end)

connection.on('connected', function()
  for _, list in ipairs(lists) do
    if list.state == 'not connected' then
      list.state = 'connecting'
      subscribe(list)
    end
  end
end)

---Return the query and the state of each list that follows.
function M.followed()
  return vim.tbl_map(function(list)
    return { query = list.params.query, state = list.state }
  end, lists)
end

---Open a new quickfix list that follows the query of `params`.
function M.follow(params)
  local list = { id = quickfix.open(params.query), params = params, entries = {}, rows = {}, state = 'searching' }
  table.insert(lists, list)
  subscribe(list)
end

function M.unfollow()
  local id = vim.fn.getqflist({ id = 0 }).id
  for _, list in ipairs(lists) do
    if list.id == id then
      unsubscribe(list)
      list.state = 'ended'
      return show_soon(list)
    end
  end
  hits.say('the quickfix list does not follow a query', vim.log.levels.INFO)
end

return M
