-- Hits as Neovim's lists want them, and the searches that bring them.
local M = {}

local connection = require('livedex.connection')

M.CANCELLED = -32800
local ONCE = 200 -- hits of a search that is not typed
local PATIENCE_MS = 10000 -- nothing waits for it but a list that says so, and nobody likes to ask again
local said ---@type string? the last message while typing: not to be repeated at each key

---Return the most hits in a picker. Each costs the daemon 0.2 ms a key.
function M.limit()
  return (vim.g.livedex or {}).limit or 30
end

---Return the entry of a hit, for a quickfix list and for pickers.
function M.item(hit)
  return {
    filename = hit.path_b64 and vim.base64.decode(hit.path_b64) or hit.path,
    lnum = hit.line,
    col = hit.column,
    text = vim.trim(hit.text),
  }
end

---Return where an entry is, as short as it can be said.
function M.place(item)
  return ('%s:%d:%d'):format(vim.fn.fnamemodify(item.filename, ':~:.'), item.lnum, item.col)
end

function M.say(text, level)
  vim.notify('livedex: ' .. text, level or vim.log.levels.ERROR)
end

---Return what a user should know of an answer besides its hits, nil if there is nothing.
function M.state(result)
  local parts = {}
  if not result.fresh then
    parts[1] = 'not fresh: ' .. (result.reason or 'unknown')
  end
  if result.did_you_mean and result.did_you_mean.applied then
    parts[#parts + 1] = ('showing "%s"'):format(result.did_you_mean.query)
  end
  return parts[1] and table.concat(parts, ', ')
end

---Search once; call `done` with the entries and the state of the answer. A fault is said: there are no entries then.
function M.search(params, done)
  params = vim.tbl_extend('keep', params, { limit = ONCE, timeout_ms = PATIENCE_MS })
  connection.request('search', params, function(err, result)
    if err then
      M.say(err.message)
      return done({}, 'failed')
    end
    local items, state = vim.tbl_map(M.item, result.hits), M.state(result)
    done(items, not items[1] and table.concat({ 'nothing found', state }, ', ') or state)
  end)
end

---Search for a query that is being typed; it ends the search for what was typed before. `done` is called with the
---entries, with none after a fault, and with nil if something else was typed meanwhile.
---@return fun() cancel
function M.typed(params, query, done)
  local is_of_words = not vim.tbl_contains({ 'exact', 'regex' }, params.mode)
  if query == '' and not is_of_words then
    done({})
    return function() end
  end
  local own = { query = query, typing = is_of_words, supersedes = 'typed' }
  return connection.request('search', vim.tbl_extend('force', { limit = M.limit() }, params, own), function(err, result)
    if err and err.code == M.CANCELLED then
      return done(nil)
    end
    local text = err and err.message or M.state(result)
    if text and text ~= said then
      M.say(text, vim.log.levels.WARN)
    end
    said = text
    done(err and {} or vim.tbl_map(M.item, result.hits))
  end)
end

return M
