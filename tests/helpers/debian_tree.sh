# Read by the scripts that make Debian trees. As root, on Linux.

# make_debian TREE SUITE PACKAGES [MIRROR]: PACKAGES with commas between; MIRROR: apt's own if it is not given.
make_debian() {
  [ "$(id -u)" = 0 ] || { echo 'a tree can be made only by root' >&2; exit 1; }
  install_program debootstrap
  [ -e "/usr/share/debootstrap/scripts/$2" ] || ln -s sid "/usr/share/debootstrap/scripts/$2"
  mirror=${4:-$(apt-get indextargets --format '$(REPO_URI)' 'Label: Debian' | sort -u | head -n 1)}
  rm -rf "$1"
  mkdir -p "$1"
  debootstrap --variant=minbase --no-check-gpg --include="$3" "$2" "$1" "$mirror" >"$1.log" ||
    { tail -n 3 "$1.log" >&2; exit 1; }
}

install_program() {
  command -v "$1" >/dev/null || apt-get install -y -qq "$1" >/dev/null ||
    { apt-get update -qq && apt-get install -y -qq "$1" >/dev/null; }
}
