#!/usr/bin/env bash
# Makes or updates an apt repository of the packages that packaging/deb.sh built,
# signed with a key of its own: a folder that any web server can publish.
# Usage: packaging/repository.sh REPOSITORY KEYS [PACKAGES]
#   REPOSITORY  the folder to publish; earlier versions in it are replaced
#   KEYS        folder of GnuPG with the archive's secret key; made if it is not
#               there. Never publish it; whoever has it can replace the programs
#               of everybody who installs from here. Keep a copy off this machine.
#   PACKAGES    where deb.sh put them (build/packages)
set -euo pipefail
if (($# < 2 || $# > 3)); then
  sed -n 's/^# Usage: /usage: /p' "$0" >&2
  exit 2
fi
root=$(realpath "$(dirname "$0")/..")
repository=$(realpath -m "$1")
keys=$(realpath -m "$2")
packages=$(realpath -m "${3:-$root/build/packages}")
if ! compgen -G "$packages/*.deb" >/dev/null; then
  echo "packaging/repository.sh: no packages in $packages: make them with packaging/deb.sh" >&2
  exit 1
fi
"$root/packaging/setup.sh" --packages >/dev/null

export GNUPGHOME=$keys
if [[ ! -d $keys ]]; then
  mkdir -m 700 "$keys"
  gpg --batch --quiet --passphrase '' --quick-generate-key \
    "Quorate packages" ed25519 sign never
  echo "made the archive's key in $keys"
fi
key=$(gpg --batch --with-colons --list-secret-keys | awk -F: '/^fpr/ {print $10; exit}')

mkdir -p "$repository/conf" # not for the public
cat >"$repository/conf/distributions" <<END
Codename: bookworm
Suite: stable
Components: main
Architectures: amd64 arm64
Origin: Quorate
Label: Quorate
Description: Volunteer computing for training networks
SignWith: $key
END
for package in "$packages"/*.deb; do
  [[ $package == *-dbgsym_* ]] ||
    reprepro --silent --basedir "$repository" includedeb bookworm "$package"
done
gpg --batch --armor --export "$key" >"$repository/quorate-archive.asc"

cat <<END
$repository holds:
$(reprepro --basedir "$repository" list bookworm)
Publish it without its folders conf and db. On a volunteer's computer:
  sudo wget -O /etc/apt/keyrings/quorate-archive.asc https://YOUR-SERVER/quorate-archive.asc
  echo 'deb [signed-by=/etc/apt/keyrings/quorate-archive.asc] https://YOUR-SERVER bookworm main' |
    sudo tee /etc/apt/sources.list.d/quorate.list
  sudo apt update && sudo apt install quorate-client
The key's fingerprint, to be told by another way than this server: $key
END
