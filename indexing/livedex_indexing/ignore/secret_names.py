"""Names of files and folders that likely contain secrets: keys, passwords, tokens, browser data, shell histories.

Invariant: a name is judged alone (at most with its folder's name), without case, and only names that are typical for
secrets are listed. A document about passwords stays in the index.
"""

from __future__ import annotations

import re

_NAMES = """
.env .envrc .netrc _netrc .authinfo .npmrc .pypirc .git-credentials .pgpass .my.cnf .mylogin.cnf .mysql_secret .s3cfg
.boto .dockercfg .htpasswd .htdigest .vault-token .terraformrc .smbcredentials .cifscredentials .fetchmailrc .msmtprc
.rclone.conf rclone.conf .npm-token .passwd .esmtprc .muttrc.secret .ftpconfig .remote-sync.json .sftp.json
credentials.json credentials.tfrc.json client_secret.json client_secrets.json application_default_credentials.json
service-account.json service_account.json serviceaccount.json secrets.yml secrets.yaml secrets.json secrets.toml
.secrets secring.gpg trustdb.gpg id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk id_xmss identity.age
wallet.dat logins.json logins-backup.json key3.db key4.db signons.sqlite cookies.sqlite formhistory.sqlite
places.sqlite login.keychain krb5.keytab .bash_history .zsh_history .zhistory .history .histfile .sh_history
.ash_history .ksh_history .tcsh_history .csh_history .local_history fish_history .python_history .ipython_history
.node_repl_history .psql_history .mysql_history .sqlite_history .rediscli_history .dbshell .mongosh_repl_history
.irb_history .pry_history .php_history .lesshst .viminfo .rhistory .lua_history .gdb_history .units_history
.erlang.cookie .recently-used .xauthority .iceauthority
"""
_FOLDERS = """
.ssh .gnupg .aws .azure .kube .password-store .gcloud .mozilla .thunderbird .waterfox .librewolf .zen .tor-browser
.keychain .bitcoin .electrum .ethereum .1password .pki
"""
_SUFFIXES = """
.pem .key .p12 .pfx .pkcs12 .pkcs8 .p8 .pk8 .ppk .pvk .jks .keystore .bks .jceks .keytab .kdb .kdbx .psafe3
.agilekeychain .opvault .keychain .keychain-db .keyring .ovpn .mobileprovision .tfstate .age-key
"""
# Names that are secret in one folder but ordinary elsewhere: the folder's name, then the names in it.
_INSIDE = {
    ".docker": "config.json",
    ".gem": "credentials",
    ".cargo": "credentials credentials.toml",
    ".m2": "settings.xml settings-security.xml",
    ".gradle": "gradle.properties",
    ".composer": "auth.json",
    "composer": "auth.json",
    "gh": "hosts.yml",
    "glab-cli": "config.yml",
    "doctl": "config.yaml",
    "openstack": "clouds.yaml secure.yaml",
    ".terraform.d": "credentials.tfrc.json",
    "git": "credentials",
    "containers": "auth.json",
    "wireguard": "wg0.conf wg1.conf",
    ".databricks": "token-cache.json",
    ".config": "google-chrome google-chrome-beta google-chrome-unstable chromium bravesoftware microsoft-edge vivaldi"
    " opera yandex-browser gcloud op keepassxc filezilla",
    "application support": "google chromium bravesoftware firefox thunderbird vivaldi com.operasoftware.opera arc",
    ".vscode": "sftp.json",
    "library": "keychains cookies",
    "share": "keyrings kwalletd",
}
# .env.local and .env.production are secrets; a template to fill in is meant to be read.
_ENV_EXAMPLES = (b".example", b".sample", b".template")
# A private key with a custom name (id_ed25519_work), but neither its public half nor a text about it.
_KEY_NAME = re.compile(
    rb"id_(?:rsa|dsa|ecdsa|ed25519|ecdsa_sk|ed25519_sk|xmss)(?:[_-][^.]*)?(?:\.(?:old|bak|orig|backup|priv|private))?"
    rb"|ssh_host_[a-z0-9]+_key|client_secret[_-].*\.json|.*[._-]service[_-]account\.json|service[_-]account[_-].*\.json"
)
_KEY_STARTS = (b".env.", b"id_", b"ssh_host_", b"client_secret", b"service")
_KEY_ENDS = (b"service_account.json", b"service-account.json", b"service_account-key.json")

SECRET_NAMES = frozenset(name.encode() for name in _NAMES.split())
SECRET_FOLDERS = frozenset(name.encode() for name in _FOLDERS.split())
SECRET_SUFFIXES = frozenset(name.encode() for name in _SUFFIXES.split())
SECRETS_INSIDE = {
    parent.encode(): frozenset(name.encode() for name in names.split()) for parent, names in _INSIDE.items()
}
NOTHING_INSIDE: frozenset[bytes] = frozenset()


def secrets_inside(folder_name: bytes) -> frozenset[bytes]:
    """Return the names (lower case) that are secrets only in a folder of this name, not everywhere."""
    return SECRETS_INSIDE.get(folder_name.lower(), NOTHING_INSIDE)


def secret_pattern(lower: bytes, suffix: bytes, is_dir: bool) -> str | None:
    """Return the built-in pattern that makes a name a likely secret; None if it is not one.

    ``lower`` is the name in lower case, ``suffix`` its last suffix with the dot.
    """
    if is_dir:
        return lower.decode() + "/" if lower in SECRET_FOLDERS else None
    if lower in SECRET_NAMES:
        return lower.decode()
    if suffix in SECRET_SUFFIXES:
        return "*" + suffix.decode()
    if lower.startswith(_KEY_STARTS) or lower.endswith(_KEY_ENDS):
        if lower.startswith(b".env."):
            return None if suffix in _ENV_EXAMPLES else ".env.*"
        if _KEY_NAME.fullmatch(lower):
            return lower.decode("utf-8", "replace")
    if lower.endswith(b"~"):  # an editor's backup of a secret
        plain = lower.rstrip(b"~")
        return secret_pattern(plain, plain[plain.rfind(b".") :] if b"." in plain else b"", False)
    return None
