#!/bin/sh
# The README's tour, run for real: `make run`. The daemon lives in a temporary home and nothing in the checkout changes;
# what is edited is a note in a folder of the tour's own.
set -eu
checkout=$1

tour=$(mktemp -d /tmp/livedex.XXXXXX)
export LIVEDEX_HOME="$tour/home"
notes="$tour/notes"
mkdir "$LIVEDEX_HOME" "$notes"

leave() {
  code=$?
  trap - EXIT INT TERM
  livedex down >/dev/null 2>&1 || true
  if [ "$code" -ne 0 ] && [ -e "$LIVEDEX_HOME/log/livedex.log" ]; then
    tail -n 20 "$LIVEDEX_HOME/log/livedex.log" >&2
  fi
  rm -rf "$tour"
  exit "$code"
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

show() {
  printf '\n$ livedex %s\n' "$*"
  livedex "$@"
}

echo "# Groceries" >"$notes/today.md"
show up "$checkout" "$notes"
show search -n 2 --lang python "who may connect to the socket"

printf '\n$ echo "Buy a zither for Ada" >> %s\n' "$notes/today.md"
echo "Buy a zither for Ada" >>"$notes/today.md"
show search zither --root "$notes"
livedex --json search zither --root "$notes" | grep -q 'a zither for Ada' || {
  echo 'the search did not see the edit' >&2
  exit 1
}

show status
show down
