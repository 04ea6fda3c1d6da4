"""The names livedex leaves out by default: version control, caches, build results, binary files, likely secrets.

Invariant: these rules rank below every ignore file, except for secrets and for entries that no rule can let in
(``.git``, ignore files). A folder with an everyday name (``build``, ``env``) is left out only if a marker next to it
or inside it shows its purpose.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from livedex_indexing.ignore.secret_names import SECRET_FOLDERS, SECRET_NAMES, SECRET_SUFFIXES, secret_pattern

VerdictKind = Literal["ignored", "secret", "default", "vcs", "ignore_file", "own", "let_in"]


def _words(text: str) -> list[str]:
    return text.split()


IGNORE_FILES = frozenset((b".gitignore", b".livedexignore"))
_VCS = [".hg", ".svn", ".bzr", ".jj", ".sl", ".pijul", "_darcs", "CVS"]
_CACHES = _words("""
node_modules bower_components jspm_packages __pycache__ __pypackages__ .venv .tox .nox .mypy_cache .pytest_cache
.ruff_cache .import_linter_cache .hypothesis .pyre .pytype .ipynb_checkpoints .gradle .cache .ccache .npm .pnpm-store
.parcel-cache .turbo .next .nuxt .svelte-kit .angular .nyc_output .sass-cache .terraform .terragrunt-cache .dart_tool
.bundle .stack-work .metals .bloop .direnv .eggs .yarn-cache .Trash .Spotlight-V100 .fseventsd
""")
_BINARY = _words("""
.png .jpg .jpeg .jpe .jfif .gif .bmp .ico .icns .webp .tif .tiff .heic .heif .avif .jxl .jp2 .psd .psb .xcf .cr2 .cr3
.nef .arw .dng .blend .mp3 .wav .flac .ogg .oga .opus .m4a .aac .wma .aif .aiff .mid .midi .mp4 .m4v .mkv .mov .avi
.webm .wmv .flv .mpg .mpeg .3gp .ogv .zip .tar .gz .tgz .bz2 .tbz2 .xz .txz .zst .lz .lz4 .lzma .7z .rar .cab .jar
.war .ear .whl .apk .aab .ipa .deb .rpm .dmg .iso .img .msi .xpi .crx .nupkg .flatpak .appimage .exe .dll .so .dylib
.o .ko .a .pdb .class .dex .pyc .pyo .pyd .elc .beam .wasm .rlib .rmeta .node .nib .ttf .otf .woff .woff2 .eot .ttc
.sqlite .sqlite3 .db3 .mdb .accdb .ldb .parquet .feather .arrow .orc .avro .h5 .hdf5 .npy .npz .pkl .pickle .joblib
.pth .ckpt .onnx .safetensors .gguf .tflite .vmdk .vdi .qcow2 .vhd .vhdx .swf .bin .gpg .pgp
""")
_LOCK_FILES = _words("""
package-lock.json npm-shrinkwrap.json pnpm-lock.yaml bun.lockb go.sum packages.lock.json gradle.lockfile
package.resolved cartfile.resolved .terraform.lock.hcl conda-lock.yml .ds_store thumbs.db ehthumbs.db ___jb_tmp___
___jb_old___
""")
_LOCK_SUFFIXES = [".lock"]
_SWAP_SUFFIXES = [".swp", ".swo", ".swn", ".swx", ".bak", ".kate-swp"]
# Folders with everyday names: the markers next to them, the markers inside them.
_PACKAGE = "package.json"
_TAG = "CACHEDIR.TAG"
_MARKERS: dict[str, tuple[str, str]] = {
    "target": (f"Cargo.toml pom.xml build.sbt {_PACKAGE}", f"{_TAG} .rustc_info.json"),
    "build": (
        f"Cargo.toml {_PACKAGE} pyproject.toml setup.py build.gradle build.gradle.kts settings.gradle pubspec.yaml",
        f"{_TAG} CMakeCache.txt build.ninja",
    ),
    "dist": (f"Cargo.toml {_PACKAGE} pyproject.toml setup.py", _TAG),
    "out": (f"Cargo.toml {_PACKAGE} build.gradle build.gradle.kts", f"{_TAG} CMakeCache.txt build.ninja"),
    "vendor": ("Cargo.toml composer.json", f"modules.txt autoload.php {_TAG}"),
    "venv": ("", f"pyvenv.cfg conda-meta {_TAG}"),
    "env": ("", f"pyvenv.cfg conda-meta {_TAG}"),
    ".env": ("", f"pyvenv.cfg {_TAG}"),
}


class Markers(NamedTuple):
    """The names that show the purpose of a folder: any of ``siblings`` in its parent folder, or of ``inside`` in it."""

    siblings: tuple[bytes, ...]
    inside: tuple[bytes, ...]


class Builtin(NamedTuple):
    """The built-in rule that matched a name. ``why`` shows it as ``pattern``."""

    kind: VerdictKind
    pattern: str


FOLDER_MARKERS = {
    name.encode(): Markers(tuple(siblings.encode().split()), tuple(inside.encode().split()))
    for name, (siblings, inside) in _MARKERS.items()
}
MARKER_NAMES = frozenset(
    marker for markers in FOLDER_MARKERS.values() for marker in (*markers.siblings, *markers.inside)
)

FOLDER_RULES = {
    **{name.encode(): Builtin("vcs", name + "/") for name in _VCS},
    **{name.encode(): Builtin("default", name + "/") for name in _CACHES},
}
FILE_RULES = {name.encode(): Builtin("default", name) for name in _LOCK_FILES}
SUFFIX_RULES = {
    suffix.encode(): Builtin("default", "*" + suffix) for suffix in (*_BINARY, *_LOCK_SUFFIXES, *_SWAP_SUFFIXES)
}
# Names that begin or end like this need a closer look; two look-ups settle all others.
_STARTS = (b".#", b"#", b"~$", b".~lock.", b".goutputstream-", b".nfs0", b".fuse_hidden", b".env.", b"id_", b"ssh_")
_SECRET_STARTS = (b"client_secret", b"service")
_ENDS = (b"~", b"service_account.json", b"service-account.json")


def builtin(name: bytes, is_dir: bool) -> Builtin | None:
    """Return the built-in rule for a name, likely secrets first; None for an ordinary name. Ignore markers."""
    if is_dir:
        lower = name.lower()
        if lower in SECRET_FOLDERS:
            return Builtin("secret", secret_pattern(lower, b"", True) or "")
        return FOLDER_RULES.get(name)
    lower = name.lower()
    dot = lower.rfind(b".")
    suffix = lower[dot:] if dot >= 0 else b""
    if lower in SECRET_NAMES or suffix in SECRET_SUFFIXES or lower.startswith(_SECRET_STARTS):
        pattern = secret_pattern(lower, suffix, False)
        if pattern is not None:
            return Builtin("secret", pattern)
    found = SUFFIX_RULES.get(suffix) or FILE_RULES.get(lower)
    if lower.startswith(_STARTS) or lower.endswith(_ENDS):
        return _unusual(lower, suffix) or found
    return found


def _unusual(lower: bytes, suffix: bytes) -> Builtin | None:
    """Return the rule for a name that begins or ends like a secret, or like an editor's swap or backup file."""
    pattern = secret_pattern(lower, suffix, False)
    if pattern is not None:
        return Builtin("secret", pattern)
    if lower.endswith(b"~"):
        return Builtin("default", "*~")
    if lower.startswith(b"#") and lower.endswith(b"#") and len(lower) > 2:
        return Builtin("default", "#*#")
    for start, shown in (
        (b".#", ".#*"),
        (b"~$", "~$*"),
        (b".goutputstream-", ".goutputstream-*"),
        (b".nfs0", ".nfs0*"),
    ):
        if lower.startswith(start):
            return Builtin("default", shown)
    if lower.startswith(b".~lock.") and lower.endswith(b"#"):
        return Builtin("default", ".~lock.*#")
    return Builtin("default", ".fuse_hidden*") if lower.startswith(b".fuse_hidden") else None
