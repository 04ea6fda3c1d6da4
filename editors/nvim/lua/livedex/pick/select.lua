-- Without a picker: the words by vim.ui.input, the choice by vim.ui.select, which other plugins may have replaced.
local hits = require('livedex.hits')

local function open(item)
  if item then
    vim.cmd.edit(vim.fn.fnameescape(vim.fn.fnamemodify(item.filename, ':.')))
    pcall(vim.api.nvim_win_set_cursor, 0, { item.lnum, item.col - 1 }) -- the file may be shorter now
  end
end

return function(params, begin)
  vim.ui.input({ prompt = 'livedex: ', default = begin }, function(words)
    if not words or vim.trim(words) == '' then
      return
    end
    hits.search(vim.tbl_extend('force', params, { query = words }), function(items, state)
      local prompt = 'livedex ' .. words .. (state and (' (%s)'):format(state) or '')
      vim.ui.select(items, {
        prompt = prompt,
        kind = 'livedex',
        format_item = function(item)
          return hits.place(item) .. ': ' .. item.text
        end,
      }, open)
    end)
  end)
end
