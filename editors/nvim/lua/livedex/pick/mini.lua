-- The picker of mini.nvim.
local hits = require('livedex.hits')

local function entry(item)
  return { path = item.filename, lnum = item.lnum, col = item.col, text = hits.place(item) .. ': ' .. item.text }
end

return function(params, begin)
  local pick = require('mini.pick')
  local cancel, asked = function() end, nil
  local function match(_, _, letters)
    local query = table.concat(letters)
    if query == asked then -- called again for the items that it has just set
      return
    end
    asked = query
    cancel()
    cancel = hits.typed(params, query, function(items)
      if items and query == asked and pick.is_picker_active() then
        pick.set_picker_items(vim.tbl_map(entry, items), { do_match = false })
      end
    end)
  end
  if begin ~= '' then
    vim.schedule(function()
      pick.set_picker_query(vim.fn.split(begin, '\\zs'))
    end)
  end
  pick.start({ source = { name = 'livedex', items = {}, match = match, show = pick.default_show } })
  cancel()
end
