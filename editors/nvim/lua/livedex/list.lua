-- A quickfix list with the hits of a query. Its window opens at once, so that no answer ever moves the cursor later.
local M = {}

local function title(query, state)
  return 'livedex ' .. query .. (state and (' (%s)'):format(state) or '')
end

---Open a new list; return its id.
function M.open(query)
  vim.fn.setqflist({}, ' ', { title = title(query, 'searching') })
  local id = vim.fn.getqflist({ id = 0 }).id
  vim.cmd('botright copen')
  return id
end

---Replace the entries, the title and the current entry (nil: the first).
function M.set(id, query, items, state, idx)
  vim.fn.setqflist({}, 'r', { id = id, title = title(query, state), items = items, idx = idx })
end

return M
