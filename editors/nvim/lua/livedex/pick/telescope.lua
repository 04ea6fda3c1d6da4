-- The picker of telescope.nvim.
local channel = require('plenary.async.control').channel
local conf = require('telescope.config').values
local finders = require('telescope.finders')
local hits = require('livedex.hits')

return function(params, begin, opts)
  opts = opts or {}
  local cancel = function() end
  local function ask(prompt)
    local answer, wait = channel.oneshot()
    cancel()
    cancel = hits.typed(params, prompt, answer)
    return wait() or {}
  end
  require('telescope.pickers')
    .new(opts, {
      prompt_title = 'livedex',
      default_text = begin,
      finder = finders.new_dynamic({
        entry_maker = require('telescope.make_entry').gen_from_quickfix(opts),
        fn = ask,
      }),
      previewer = conf.qflist_previewer(opts),
      sorter = require('telescope.sorters').highlighter_only(opts), -- any other would change the order
    })
    :find()
end
