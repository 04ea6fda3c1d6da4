-- The commands. Nothing else is loaded before one of them is used.
if vim.g.loaded_livedex then
  return
end
vim.g.loaded_livedex = true

local TERMS = { 'path:', 'ext:', 'lang:', 'kind:', 'tag:', 'meta:' }

local function complete(word)
  return vim.tbl_filter(function(term)
    return vim.startswith(term, word)
  end, TERMS)
end

vim.api.nvim_create_user_command('Livedex', function(command)
  require('livedex')[command.bang and 'search' or 'pick'](command.args)
end, { nargs = '*', bang = true, complete = complete, desc = 'Search as you type; with !: into the quickfix list' })

vim.api.nvim_create_user_command('LivedexFollow', function(command)
  require('livedex')[command.bang and 'unfollow' or 'follow'](command.args)
end, { nargs = '*', bang = true, complete = complete, desc = 'A list that follows its query; with !: end that' })
