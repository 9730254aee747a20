#!/bin/sh
# Lays out what every package has, as it is installed: the stripped binary, manual pages, completions, the unit, settings.
# usage: stage.sh FOLDER BINARY PROGRAM     PROGRAM prints the manual page and the completions
set -eu
. "$(dirname "$0")/common.sh"
folder=$1
binary=$2
program=$3
rm -rf "$folder"
mkdir -p "$folder"
if objdump -p "$binary" | grep -q "NEEDED.*libswift"; then
    fail "$binary needs the libraries of Swift; build it with --static-swift-stdlib, as make static does"
fi

install -D -m 755 "$binary" "$folder/usr/bin/paydesk"
"${STRIP:-strip}" --strip-all --remove-section=.comment --remove-section=.note "$folder/usr/bin/paydesk"
install -D -m 755 "$source/deploy/paydeskctl" "$folder/usr/sbin/paydeskctl"
install -D -m 644 "$source/deploy/systemd/paydesk.service" "$folder/lib/systemd/system/paydesk.service"

manuals=$folder/usr/share/man
mkdir -p "$manuals/man1" "$manuals/man8"
"$program" man >"$manuals/man1/paydesk.1"
[ -s "$manuals/man1/paydesk.1" ] || fail "$program man printed nothing"
cp "$source/deploy/paydeskctl.8" "$manuals/man8/"

completion() {
    mkdir -p "$(dirname "$folder/usr/share/$2")"
    "$program" --generate-completion-script "$1" >"$folder/usr/share/$2"
    [ -s "$folder/usr/share/$2" ] || fail "there are no completions for $1"
}
completion bash bash-completion/completions/paydesk
# It is read by a shell and not run.
sed -i '1{/^#!/d}' "$folder/usr/share/bash-completion/completions/paydesk"
completion zsh zsh/vendor-completions/_paydesk
completion fish fish/vendor_completions.d/paydesk.fish

# The settings for trying it on this machine alone; `paydesk init --production` writes others.
mkdir -p "$folder/etc/paydesk/providers"
cp "$source/Config/paydesk.yaml" "$source/Config/catalog.yaml" "$folder/etc/paydesk/"
cp "$source"/Config/providers/*.yaml "$folder/etc/paydesk/providers/"
cp "$source/deploy/debian/environment" "$folder/etc/paydesk/environment"
chmod 750 "$folder/etc/paydesk" "$folder/etc/paydesk/providers"
find "$folder/etc/paydesk" -type f -exec chmod 640 {} +
mkdir -p "$folder/var/lib/paydesk"
chmod 750 "$folder/var/lib/paydesk"
ln -s /etc/paydesk "$folder/var/lib/paydesk/Config"

documents=$folder/usr/share/doc/paydesk
mkdir -p "$documents/examples/providers" "$documents/examples/prometheus" "$documents/examples/grafana"
cp "$source/CHANGELOG.md" "$documents/"
cp "$source"/Config/providers/*.example "$documents/examples/providers/"
cp "$source/deploy/compose.yaml" "$source/deploy/compose.env.example" "$source/deploy/Caddyfile" "$documents/examples/"
cp "$source"/deploy/prometheus/*.yaml "$documents/examples/prometheus/"
cp "$source"/deploy/grafana/*.json "$documents/examples/grafana/"
find "$documents" "$manuals" "$folder/usr/share" -type d -exec chmod 755 {} +
find "$folder/usr/share" -type f -exec chmod 644 {} +
gzip -9n "$manuals"/man?/* "$documents/CHANGELOG.md"
