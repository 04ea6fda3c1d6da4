#!/bin/sh
# A Debian tree with a systemd of its own, for tests/system/test_booted_systemd.py. As root, on Linux:
#   systemd_tree.sh make TREE SUITE [MIRROR] a tree of SUITE (bookworm: systemd 252, trixie: 257) with livedex's libraries;
#                                            what is there already is kept; MIRROR: apt's own if it is not given
#   systemd_tree.sh boot TREE CHECKOUT       boots it in namespaces of its own, with the checkout's packages; ends with it
set -eu
verb=$1 tree=$2
packages=systemd,systemd-sysv,dbus,dbus-user-session,libpam-systemd,python3,python3-venv,python3-systemd,iproute2
. "$(dirname "$0")/debian_tree.sh"

make_tree() {
  suite=$3
  checkout=$(cd "$(dirname "$0")/../.." && pwd)
  [ -e "$tree/.systemd" ] || make_with_systemd "${4:-}"
  cmp -s "$checkout/constraints.txt" "$tree/opt/livedex/constraints.txt" || install_livedex
}

make_with_systemd() {
  make_debian "$tree" "$suite" "$packages" "$1"
  chroot "$tree" useradd -m -s /bin/bash ada
  mkdir -p "$tree/var/lib/systemd/linger"
  touch "$tree/var/lib/systemd/linger/ada" # its manager runs without a login
  : >"$tree/etc/machine-id"
  touch "$tree/.systemd"
}

install_livedex() {
  version=$(chroot "$tree" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  python=$checkout/.venv/bin/python
  rm -rf "$tree/opt/livedex" "$tree/opt/wheels"
  "$python" -m pip wheel -q --no-deps -w "$tree/opt/wheels" "$checkout"
  "$python" -m pip download -q -d "$tree/opt/wheels" -c "$checkout/constraints.txt" --find-links "$tree/opt/wheels" \
    --python-version "$version" --implementation cp --abi "cp${version%.*}${version#*.}" --abi abi3 --abi none \
    --platform manylinux2014_x86_64 --platform manylinux_2_28_x86_64 --platform any --only-binary=:all: livedex
  chroot "$tree" sh -c 'python3 -m venv /opt/livedex && /opt/livedex/bin/pip install -q --no-index --find-links /opt/wheels livedex'
  cp "$checkout/constraints.txt" "$tree/opt/livedex/"
}

boot_tree() {
  exec unshare --mount --pid --fork --uts --ipc --net --cgroup --kill-child sh -euc '
    tree=$1 checkout=$2
    mount --make-rprivate /
    mount --bind "$tree" "$tree"
    cd "$tree"
    mount -t tmpfs tmpfs home/ada # each boot begins with an empty home
    chown 1000:1000 home/ada
    for package in daemon indexing ipc service; do # copies, which an upgrade may change
      installed=$(echo opt/livedex/lib/python3*/site-packages/livedex_$package)
      mount -t tmpfs tmpfs "$installed"
      cp -r "$checkout/$package/livedex_$package/." "$installed"
    done
    mount -t proc proc proc
    mount -t sysfs sysfs sys
    mount -t tmpfs tmpfs run
    mount -t tmpfs tmpfs tmp
    mount -t cgroup2 cgroup2 sys/fs/cgroup
    mount -t tmpfs tmpfs dev
    for node in null zero full random urandom tty; do
      touch dev/$node
      mount --bind /dev/$node dev/$node
    done
    mkdir dev/pts dev/shm
    mount -t devpts devpts dev/pts -o newinstance,ptmxmode=0666
    ln -s pts/ptmx dev/ptmx
    ln -s /proc/self/fd dev/fd
    mount -t tmpfs tmpfs dev/shm
    pivot_root . mnt
    cd /
    umount -l /mnt
    exec env -i container=unshare PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb LANG=C.UTF-8 \
      /lib/systemd/systemd --system --unit=multi-user.target --log-level=notice' sh "$tree" "$3"
}

"${verb}_tree" "$@"
