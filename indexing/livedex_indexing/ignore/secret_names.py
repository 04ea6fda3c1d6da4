"""Names of files and folders that likely hold secrets: keys, passwords, tokens, what a browser or a shell remembers.

Invariant: a name is judged alone (at most with its folder's name), in any mix of cases, and only names made for
secrets are listed: a document that speaks about passwords keeps its place in the index.
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
# What is a secret in one folder and an ordinary name elsewhere: the folder's name, then the names in it.
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
# .env.local, .env.production; but not a pattern to be filled in, which is meant to be read.
_ENV_EXAMPLES = (b".example", b".sample", b".template")
# A private key under a name of its own (id_ed25519_work), but neither its public half nor a text about it.
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
    """The names (lower case) that are secrets in a folder of that name, beside those that are so everywhere."""
    return SECRETS_INSIDE.get(folder_name.lower(), NOTHING_INSIDE)


def secret_pattern(lower: bytes, suffix: bytes, is_dir: bool) -> str | None:
    """The built-in pattern by which a name (in lower case, ``suffix`` its last one with the dot) is a likely secret;
    None where it is none."""
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
    if lower.endswith(b"~"):  # an editor's backup of one
        plain = lower.rstrip(b"~")
        return secret_pattern(plain, plain[plain.rfind(b".") :] if b"." in plain else b"", False)
    return None
