-- What users and keys call: `pick`, `search`, `follow`, `unfollow`. Each takes the words of a query, or a table with
-- the params of the method `search`.
local M = {}

local hits = require('livedex.hits')

-- The pickers in the order in which they are looked for, and what tells that one is there.
local PICKERS = {
  { name = 'snacks', module = 'snacks.picker' },
  { name = 'telescope', module = 'telescope' },
  { name = 'fzf_lua', module = 'fzf-lua' },
  { name = 'mini', module = 'mini.pick' },
}

---Return the name of the picker to use: the configured one, else one that is in use, else one that is installed.
function M.picker()
  local named = (vim.g.livedex or {}).picker
  if named then
    return named
  end
  for _, is_there in ipairs({
    function(module) return package.loaded[module] end,
    function(module) return pcall(require, module) end,
  }) do
    for _, picker in ipairs(PICKERS) do
      if is_there(picker.module) then
        return picker.name
      end
    end
  end
  return 'quickfix'
end

local function params_of(query)
  return type(query) == 'table' and query or { query = query or '' }
end

---Call `use` with the params once they have words: those given, or typed now.
local function with_words(query, use)
  local params = params_of(query)
  if vim.trim(params.query or '') ~= '' then
    return use(params)
  end
  vim.ui.input({ prompt = 'livedex: ' }, function(words)
    if words and vim.trim(words) ~= '' then
      use(vim.tbl_extend('force', params, { query = words }))
    end
  end)
end

---Search as you type, in the picker; `query` is there to begin with.
function M.pick(query)
  local name = M.picker()
  if name == 'quickfix' then
    return M.search(query)
  end
  local params = vim.deepcopy(params_of(query))
  local begin = params.query or ''
  params.query = nil
  require('livedex.pick.' .. name)(params, begin)
end

---Search once, into a new quickfix list.
function M.search(query)
  with_words(query, function(params)
    local list = require('livedex.list')
    local id = list.open(params.query)
    hits.search(params, function(items, state)
      list.set(id, params.query, items, state)
    end)
  end)
end

---Search into a new quickfix list that follows its query from then on.
function M.follow(query)
  with_words(query, require('livedex.follow').follow)
end

---End the following of the quickfix list that is shown; its entries stay.
function M.unfollow()
  require('livedex.follow').unfollow()
end

return M
