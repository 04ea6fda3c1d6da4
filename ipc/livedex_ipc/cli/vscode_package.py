"""Packages the extension for VS Code as a `.vsix` file, which `code --install-extension` takes.

Invariant: the same files and the same command give the same bytes; nothing but the extension's own files is packed.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Final
from xml.sax.saxutils import quoteattr

_CONTENT_TYPES: Final = """\
<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension=".js" ContentType="application/javascript"/>
  <Default Extension=".json" ContentType="application/json"/>
  <Default Extension=".md" ContentType="text/markdown"/>
  <Default Extension=".txt" ContentType="text/plain"/>
  <Default Extension=".vsixmanifest" ContentType="text/xml"/>
</Types>
"""
_MANIFEST: Final = """\
<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id={name} Version={version} Publisher={publisher}/>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value={engine}/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value={kind}/>
    </Properties>
  </Metadata>
  <Installation>
    <InstallationTarget Id="Microsoft.VisualStudio.Code"/>
  </Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
  </Assets>
</PackageManifest>
"""


def package(folder: Path, command: str | None) -> bytes:
    """Return the package of the extension in ``folder``. ``command``: the absolute path of livedex, which becomes the
    default of the setting `livedex.path`, since a program on the desktop may not have the shell's PATH. Raises OSError.
    """
    about = json.loads((folder / "package.json").read_bytes())
    if command is not None:
        about["contributes"]["configuration"]["properties"]["livedex.path"]["default"] = command
    files = {
        "[Content_Types].xml": _CONTENT_TYPES.encode(),
        "extension.vsixmanifest": _manifest(about).encode(),
        "extension/package.json": json.dumps(about, indent=2).encode(),
    }
    for path in sorted(folder.iterdir()):
        if path.suffix in (".js", ".md", ".txt"):
            files[f"extension/{path.name}"] = path.read_bytes()
    return _zipped(files)


def _manifest(about: dict[str, object]) -> str:
    fields = {name: str(about[name]) for name in ("name", "version", "publisher")}
    engines, kinds = about["engines"], about["extensionKind"]
    assert isinstance(engines, dict) and isinstance(kinds, list)
    fields |= {"engine": str(engines["vscode"]), "kind": ",".join(map(str, kinds))}
    return _MANIFEST.format(**{name: quoteattr(value) for name, value in fields.items()})


def _zipped(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)  # ZipInfo: without today's date
    return packed.getvalue()
