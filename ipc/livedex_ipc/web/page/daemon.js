// Calls the server with the token, and follows standing queries.

const KEY = 'livedex-token'
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5000
const NEIGHBOUR_MS = 300
const NOT_SERVED = '`livedex web` does not answer. Start it again, and open the address that it prints.'
const NO_TOKEN = 'This page needs its token. Open the address that `livedex web` printed.'

let token = sessionStorage.getItem(KEY)

// A new tab of the same page has no token yet: other tabs give it.
const tabs = new BroadcastChannel('livedex')
tabs.addEventListener('message', ({ data }) => {
  if (data.wanted && token) tabs.postMessage({ token })
})

// Take the token from the address, and out of it: it must not be in a bookmark, nor in what is shown of the page.
// Return whether there was one.
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get('token')
  if (!given) return false
  token = given
  sessionStorage.setItem(KEY, token)
  history.replaceState(null, '', '#/')
  return true
}

export async function findToken() {
  takeToken()
  if (token) return
  const answer = new Promise((resolve) => {
    tabs.addEventListener('message', ({ data }) => data.token && resolve(data.token))
    setTimeout(resolve, NEIGHBOUR_MS)
  })
  tabs.postMessage({ wanted: true })
  token = (await answer) ?? null
  if (token) sessionStorage.setItem(KEY, token)
}

// An error to show. `code`: that of the daemon, null for one of this server. `data`: its details.
export class Fault extends Error {
  constructor(message, code = null, data = {}) {
    super(message)
    this.code = code
    this.data = data
  }
}

export const CANCELLED = -32800
const WRONG_PARAMS = -32602

async function post(method, params, signal) {
  if (!token) throw new Fault(NO_TOKEN)
  let response
  try {
    response = await fetch(`/api/${method}`, {
      method: 'POST',
      headers: { 'Authorization': `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(params),
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      signal,
    })
  } catch (error) {
    throw error.name === 'AbortError' ? error : new Fault(NOT_SERVED)
  }
  if (response.status === 401) {
    sessionStorage.removeItem(KEY)
    token = null
    throw new Fault(NO_TOKEN)
  }
  if (!response.ok) throw new Fault(await response.text())
  return response
}

export async function call(method, params = {}) {
  const answer = await (await post(method, params)).json()
  if (answer.error) throw new Fault(answer.error.message, answer.error.code, answer.error.data)
  return answer.result
}

// Call `onChange` once the searches are followed and at each change, until `signal` aborts. `onLive` is told whether
// they are followed now.
export async function follow(searches, onChange, signal, onLive = () => {}) {
  let pause = FIRST_PAUSE_MS
  while (!signal.aborted) {
    try {
      for await (const line of lines((await post('changes', { searches }, signal)).body)) {
        if (line.error?.code === WRONG_PARAMS) return
        if (line.error) break
        pause = FIRST_PAUSE_MS
        onLive(true)
        onChange()
      }
    } catch {
      // The stream has broken off, or could not be had: it is begun again.
    }
    if (signal.aborted) return
    onLive(false)
    await new Promise((resolve) => setTimeout(resolve, pause))
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
  }
}

async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    const parts = (rest + value).split('\n')
    rest = parts.pop()
    for (const part of parts) yield JSON.parse(part)
  }
}
