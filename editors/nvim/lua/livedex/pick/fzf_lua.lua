-- The picker of fzf-lua. fzf runs a command at each key and ends it at the next one. A source written in Lua would cost
-- a start of Neovim for each key, and `livedex search` one of Python. So the command is a shell that passes what is
-- typed to this Neovim through one named pipe, and prints the answer that comes through another.
local hits = require('livedex.hits')

local uv = vim.uv
-- $1: the folder of the pipes, $2: the number of the picker, $3: what is typed.
local ASK = 'mkfifo "$1/$$" && printf "%s %s %s\\n" "$$" "$2" "$3" >"$1/queries" && exec cat "$1/$$"'
local RETRY_MS, RETRIES = 10, 100 -- for a shell that has not opened its pipe yet; it may have been ended, too

local folder ---@type string? of the pipes
local pickers = {} ---@type table[] the params of each picker, by its number
local cancel = function() end

---Return the line of an entry, without control characters: fzf would obey them.
local function line(item)
  return ('%s:%s'):format(hits.place(item), item.text):gsub('%c', ' ') .. '\n'
end

---Write the answer into the pipe at `path`, and end it.
local function answer(path, text, tries)
  uv.fs_open(path, uv.constants.O_WRONLY + uv.constants.O_NONBLOCK, 0, function(err, descriptor)
    if descriptor then
      local pipe = assert(uv.new_pipe())
      pipe:open(descriptor)
      pipe:write(text, function()
        pipe:close()
      end)
    elseif tries > 0 and err:match('^ENXIO') then
      return vim.defer_fn(function()
        answer(path, text, tries - 1)
      end, RETRY_MS)
    end
    uv.fs_unlink(path)
  end)
end

---Search for what a shell has passed on.
local function search(asked)
  local shell, number, query = asked:match('^(%d+) (%d+) (.*)')
  cancel()
  cancel = hits.typed(pickers[tonumber(number)], query, function(items)
    local lines = vim.tbl_map(line, items or {})
    answer(folder .. '/' .. shell, table.concat(lines), RETRIES)
  end)
end

---Make the pipes' folder, and read what is typed from then on.
local function listen()
  folder = vim.fn.tempname()
  vim.fn.mkdir(folder, 'p', '0700')
  vim.fn.system({ 'mkfifo', folder .. '/queries' })
  local queries, rest = assert(uv.new_pipe()), ''
  queries:open(assert(uv.fs_open(folder .. '/queries', 'r+', 0))) -- to write, too: else it ends with the first shell
  queries:read_start(vim.schedule_wrap(function(_, data)
    local lines = vim.split(rest .. (data or ''), '\n')
    rest = table.remove(lines)
    vim.iter(lines):each(search)
  end))
end

return function(params, begin)
  local fzf = require('fzf-lua')
  if not folder or not uv.fs_stat(folder) then
    listen()
  end
  pickers[#pickers + 1] = params
  local words = vim.tbl_map(vim.fn.shellescape, { 'sh', '-c', ASK, 'sh', folder, tostring(#pickers) })
  fzf.fzf_live(table.concat(words, ' ') .. ' <query>', {
    prompt = 'livedex> ',
    query = begin,
    previewer = 'builtin',
    exec_empty_query = true,
    fzf_opts = { ['--delimiter'] = ':', ['--multi'] = true },
    actions = fzf.defaults.actions.files,
  })
end
