#!/bin/sh
# Editors newer than the machine's own, from a Debian tree, for tests/editors. As root, on Linux:
#   editor_tree.sh TREE SUITE [MIRROR]   the packages below, of SUITE; what is there already is kept
# TREE/commands has the commands. They run outside of the tree, with the tree's libraries.
set -eu
mkdir -p "$1"
tree=$(cd "$1" && pwd) suite=$2
packages='emacs-nox elpa-consult elpa-vertico hx neovim'
[ "$suite" = trixie ] || packages="$packages neovim-telescope" # the only picker that Debian has
. "$(dirname "$0")/debian_tree.sh"

# command_of_tree NAME PROGRAM VARIABLES [OPTIONS]: TREE/commands/NAME, which runs the PROGRAM of the tree with both.
command_of_tree() {
  program=$tree/$2
  loader=$(patchelf --print-interpreter "$program")
  case $loader in "$tree"*) ;; *)
    patchelf --set-interpreter "$tree$loader" --force-rpath --set-rpath "$(echo "$tree"/usr/lib/*-linux-gnu)" "$program" ;;
  esac
  { echo '#!/bin/sh'; echo "exec env $3 $program ${4:-} \"\$@\""; } >"$tree/commands/$1"
  chmod +x "$tree/commands/$1"
}

[ -e "$tree/.made" ] || { make_debian "$tree" "$suite" ca-certificates "${3:-}" && touch "$tree/.made"; }
if [ "$(cat "$tree/.packages" 2>/dev/null)" != "$packages" ]; then
  chroot "$tree" sh -euc "apt-get -o Acquire::Check-Valid-Until=false update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages" >>"$tree.log" 2>&1 ||
    { tail -n 3 "$tree.log" >&2; exit 1; }
  echo "$packages" >"$tree/.packages"
fi
install_program patchelf
mkdir -p "$tree/commands" "$tree/plugins"
for plugin in plenary telescope; do # under the names of their repositories
  [ ! -e "$tree/usr/share/neovim-$plugin" ] || ln -sfn "../usr/share/neovim-$plugin" "$tree/plugins/$plugin.nvim"
done
command_of_tree nvim usr/bin/nvim "VIMRUNTIME=$tree/usr/share/nvim/runtime"
command_of_tree hx usr/lib/hx/hx "HELIX_RUNTIME=$tree/usr/lib/hx/runtime"
emacs=$(echo "$tree"/usr/share/emacs/[0-9]*) own=$(echo "$tree"/usr/libexec/emacs/*/*)
packaged=$(printf '%s:' "$tree"/usr/share/emacs/site-lisp/elpa/*/)
command_of_tree emacs usr/bin/emacs-nox \
  "EMACSLOADPATH=$packaged$emacs/lisp EMACSDATA=$emacs/etc EMACSDOC=$emacs/etc EMACSPATH=$own" "--dump-file=$(echo "$own"/*.pdmp)"
