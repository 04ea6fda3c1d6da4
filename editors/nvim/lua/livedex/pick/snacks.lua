-- The picker of snacks.nvim.
local hits = require('livedex.hits')

---Return the finder of snacks: it runs in a coroutine, which only its own code may resume.
local function finder(params)
  return function(_, ctx)
    local query = ctx.filter.search
    return function(emit)
      local cancel, found = function() end, nil
      ctx.async:on('abort', function()
        cancel()
      end)
      vim.schedule(function() -- the finder may run where most of the API is not allowed
        cancel = hits.typed(params, query, function(items)
          found = items or {}
          ctx.async:resume()
        end)
      end)
      while not found do
        ctx.async:suspend()
      end
      for _, item in ipairs(found) do
        emit({ text = item.text, line = item.text, file = item.filename, pos = { item.lnum, item.col - 1 } })
      end
    end
  end
end

return function(params, begin)
  require('snacks').picker.pick({
    source = 'livedex',
    title = 'livedex',
    search = begin,
    live = true,
    supports_live = true,
    finder = finder(params),
    format = 'file',
    sort = { fields = { 'idx' } }, -- the order of the search
  })
end
