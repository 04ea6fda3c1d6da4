#!/bin/sh
# Builds the sdist, and a wheel from it; installs the wheel outside the checkout and searches with it: `make dist`.
set -eu
checkout=$1
python=$2

work=$(mktemp -d /tmp/livedex.XXXXXX)
export LIVEDEX_HOME="$work/home"
leave() {
  code=$?
  trap - EXIT INT TERM
  "$work/venv/bin/livedex" down >/dev/null 2>&1 || true
  rm -rf "$work"
  exit "$code"
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir "$LIVEDEX_HOME" "$work/notes"

"$python" -m venv "$work/build"
"$work/build/bin/python" -m pip install -q -c "$checkout/constraints.txt" hatchling
cd "$checkout"
"$work/build/bin/python" -m hatchling build -d "$work/dist" -t sdist
mkdir "$work/unpacked"
tar -xzf "$work"/dist/*.tar.gz -C "$work/unpacked"
"$work/build/bin/python" -m pip wheel -q --no-deps --no-build-isolation -w "$work/from-sdist" "$work"/unpacked/*
"$work/build/bin/python" -m pip wheel -q --no-deps --no-build-isolation -w "$work/dist" "$checkout"

cd "$work"
"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q -c "$checkout/constraints.txt" "$work"/from-sdist/*.whl
version=$("$work/venv/bin/livedex" --version)
wheel=$("$work/venv/bin/python" -c 'import importlib.metadata as m; print("livedex", m.version("livedex"))')
[ "$version" = "$wheel" ] || { echo "livedex --version says $version, the wheel $wheel" >&2; exit 1; }
(cd "$checkout/editors" && find . -type f | sort) >"$work/editors"
wheels=$("$work/venv/bin/python" -c 'import livedex_ipc, os; print(os.path.dirname(livedex_ipc.__file__) + "/editors")')
(cd "$wheels" && find . -type f | sort) | diff "$work/editors" - || { echo 'the wheel has other editors' >&2; exit 1; }
"$work/venv/bin/livedex" editor vim | cmp - "$checkout/editors/vim/livedex.vim"

echo 'Buy a zither for Ada' >"$work/notes/today.md"
"$work/venv/bin/livedex" up "$work/notes" >/dev/null
"$work/venv/bin/livedex" --json search zither | grep -q 'a zither for Ada'
mkdir -p "$checkout/dist"
cp "$work"/dist/*.tar.gz "$work"/dist/*.whl "$checkout/dist/"
echo "$version: sdist and wheel are in dist/; the wheel built from the sdist was installed and found the note"
