-- `:checkhealth livedex`.
local M = {}

local connection = require('livedex.connection')
local health = vim.health

---Run livedex with these words; return what it printed, or nil and why it failed. Only here anything is waited for.
local function run(...)
  local words = vim.list_extend(vim.list_slice(connection.command()), { ... })
  local ran, done = pcall(function()
    return vim.system(words, { text = true, timeout = 10000 }):wait()
  end)
  if not ran then
    return nil, tostring(done)
  end
  return done.code == 0 and vim.trim(done.stdout) or nil, vim.trim(done.stderr)
end

local function check_command()
  local version, why = run('--version')
  if not version then
    health.error('the command livedex cannot be run: ' .. why, "put it on the PATH, or set `command` in g:livedex")
    return false
  end
  health.ok(version)
  local here = vim.fs.normalize(vim.uv.fs_realpath(debug.getinfo(1, 'S').source:sub(2)) or '')
  local folder = vim.uv.fs_realpath(run('editor', 'nvim') or '')
  if folder and vim.startswith(here, vim.fs.normalize(folder) .. '/') then
    health.ok('this plugin came with it')
  else
    health.warn('this plugin is not the one of that livedex', 'use the folder that `livedex editor nvim` prints')
  end
  return true
end

local function check_daemon()
  local text, why = run('--json', '--no-spawn', 'status')
  if not text then
    return health.info('no daemon runs; the first search starts one (' .. why .. ')')
  end
  local status = vim.json.decode(text)
  health.ok(('the daemon is %s: %d files in %d roots'):format(status.state, status.files, #status.roots))
  if #status.roots == 0 then
    health.warn('nothing is indexed', 'livedex up FOLDER')
  end
  for _, warning in ipairs(status.warnings) do
    health.warn(warning.message, warning.remedy)
  end
end

function M.check()
  health.start('livedex')
  if vim.fn.has('nvim-0.10') == 0 then
    return health.error('Neovim 0.10 or later is needed')
  end
  if check_command() then
    check_daemon()
  end
  health.info('searches as you type use: ' .. require('livedex').picker())
  health.info(connection.is_connected() and 'this Neovim is connected' or 'this Neovim has not connected yet')
  for _, list in ipairs(require('livedex.follow').followed()) do
    health.info(('a quickfix list follows %s: %s'):format(list.query, list.state))
  end
end

return M
