-- The one connection of this Neovim to the daemon: JSON-RPC, a text a line. Nothing here ever waits.
--
-- `livedex socket` names the socket and starts a daemon if none runs. That happens only for something that the user has
-- just asked for; a lost connection comes back by itself only where a daemon is there again.
local M = {}

local uv = vim.uv
local LOST = { code = -32000, message = 'the daemon has closed the connection' }
local FIRST_RETRY_MS, LAST_RETRY_MS = 200, 5000

local path ---@type string? of the socket, once it was asked for
local pipe ---@type uv.uv_pipe_t? the connection, once it is made
local connecting = false
local retry_ms ---@type integer? the wait before the next attempt, nil while none is planned
local last_id = 0
local callbacks = {} ---@type table<integer, fun(err: table?, result: table?)> by id of the request
local unsent = {} ---@type string[] messages that wait for the connection
local listeners = {} ---@type table<string, fun(params: table)> by method of the notification; "connected", "lost"

---Call `listener` with the params of each notification of `method`; for "connected" and "lost": of each such moment.
function M.on(method, listener)
  listeners[method] = listener
end

function M.is_connected()
  return pipe ~= nil
end

local function tell(method, params)
  if listeners[method] then
    listeners[method](params or {})
  end
end

local function fail_all(err)
  local failed = callbacks
  callbacks, unsent, connecting = {}, {}, false
  for _, done in pairs(failed) do
    done(err)
  end
end

local function lose()
  if pipe then
    pipe:close()
    pipe = nil
    fail_all(LOST)
    tell('lost')
  end
end

local function take(line)
  local ok, message = pcall(vim.json.decode, line, { luanil = { object = true, array = true } })
  if not ok then
    return lose()
  elseif message.method then
    return tell(message.method, message.params)
  end
  local done = callbacks[message.id]
  callbacks[message.id or 0] = nil
  if done then
    done(message.error, message.result)
  end
end

---Return the reader of the pipe `own`: it splits what comes into lines.
local function reader(own)
  local parts = {} ---@type string[] of a line that has not ended yet
  return function(err, data)
    if err or not data then
      return vim.schedule(function()
        if pipe == own then
          lose()
        end
      end)
    end
    local from, lines = 1, {}
    for at in data:gmatch('()\n') do
      parts[#parts + 1] = data:sub(from, at - 1)
      lines[#lines + 1] = table.concat(parts)
      parts, from = {}, at + 1
    end
    parts[#parts + 1] = data:sub(from)
    vim.schedule(function()
      for _, line in ipairs(lines) do
        if pipe == own then
          take(line)
        end
      end
    end)
  end
end

---Connect to `path`; call `done` with whether that worked.
local function open(done)
  local own = assert(uv.new_pipe())
  own:connect(
    path,
    vim.schedule_wrap(function(err)
      if err then
        own:close()
        return done(false)
      end
      pipe, connecting = own, false
      own:read_start(reader(own))
      for _, text in ipairs(unsent) do
        own:write(text)
      end
      unsent = {}
      tell('connected')
      done(true)
    end)
  )
end

---Return the configured command as words.
function M.command()
  local command = (vim.g.livedex or {}).command or 'livedex'
  return type(command) == 'table' and command or { command }
end

---Start a daemon if none runs, learn where its socket is, and connect.
local function start()
  local function failed(why)
    fail_all({ code = 4, message = vim.trim(why) })
  end
  local words = vim.list_extend(vim.list_slice(M.command()), { 'socket' })
  local ran, err = pcall(vim.system, words, { text = true }, function(done)
    vim.schedule(function()
      if done.code ~= 0 then
        return failed(done.stderr:gsub('^livedex: ', ''))
      end
      path = vim.trim(done.stdout)
      open(function(opened)
        if not opened then
          failed('nothing answers on ' .. path)
        end
      end)
    end)
  end)
  if not ran then
    failed(('%s cannot be run: see :checkhealth livedex (%s)'):format(words[1], err))
  end
end

local function connect()
  if pipe or connecting then
    return
  end
  connecting = true
  if not path then
    return start()
  end
  open(function(opened)
    if not opened and unsent[1] then
      start()
    elseif not opened then
      connecting = false
    end
  end)
end

---Connect as soon as a daemon is there again, without starting one.
function M.retry()
  if retry_ms or not path then
    return
  end
  retry_ms = FIRST_RETRY_MS
  local function attempt()
    if pipe then
      retry_ms = nil
      return
    end
    connect()
    retry_ms = math.min(retry_ms * 2, LAST_RETRY_MS)
    vim.defer_fn(attempt, retry_ms)
  end
  vim.defer_fn(attempt, retry_ms)
end

local function send(message)
  local text = vim.json.encode(vim.tbl_extend('error', { jsonrpc = '2.0' }, message)) .. '\n'
  if pipe then
    pipe:write(text)
  else
    unsent[#unsent + 1] = text
    connect()
  end
end

---Ask the daemon; call `done` with the error or the result, in the main loop, once. Must be called there, too.
---@return fun() cancel
function M.request(method, params, done)
  last_id = last_id + 1
  local id = last_id
  callbacks[id] = done
  send({ id = id, method = method, params = params })
  return function()
    if callbacks[id] then
      callbacks[id] = nil
      if pipe then
        send({ method = '$/cancelRequest', params = { id = id } })
      end
    end
  end
end

return M
