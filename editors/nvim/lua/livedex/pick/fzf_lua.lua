-- The picker of fzf-lua. fzf itself runs the command at each key and ends it at the next one: a source written in Lua
-- would cost a start of Neovim for each key, and fzf-lua loses its connection to that while keys come fast.
local connection = require('livedex.connection')

-- The options that are not called as their params.
local OPTIONS = { globs = 'glob', kinds = 'kind', languages = 'lang', paths = 'path', roots = 'root' }

---Return the command for these params of a search, as text for the shell; `<query>` stands for what is typed.
local function command(params)
  local words = vim.list_extend(vim.list_slice(connection.command()), { 'search', '--typing', '--short' })
  params = vim.tbl_extend('keep', params, { limit = require('livedex.hits').limit() })
  for name, value in vim.spairs(params) do
    local option = '--' .. (OPTIONS[name] or name):gsub('_', '-')
    for _, each in ipairs(type(value) == 'table' and value or { value }) do
      words[#words + 1] = each == true and option or ('%s=%s'):format(option, each)
    end
  end
  return table.concat(vim.tbl_map(vim.fn.shellescape, words), ' ') .. ' -- <query>'
end

return function(params, begin)
  local fzf = require('fzf-lua')
  fzf.fzf_live(command(params), {
    prompt = 'livedex> ',
    query = begin,
    previewer = 'builtin',
    exec_empty_query = true,
    fzf_opts = { ['--delimiter'] = ':', ['--multi'] = true },
    actions = fzf.defaults.actions.files,
  })
end
