#!/bin/sh
# Copyright (c) The cairn authors
# SPDX-License-Identifier: MPL-2.0
#
# Writes the files that accompany the program in archives and packages into .cache/release: man pages, completions and
# licence texts. The program itself writes them, so that they are those of the commit. Also the flags of the linker with
# which .goreleaser.yaml builds the programs for all platforms.
#
#   packaging/files.sh VERSION COMMIT DATE MODIFIED
#
# OUT names another directory, and BUILDFLAGS other flags of the go command than -trimpath.
set -eu
cd "$(dirname "$0")/.."

out=${OUT:-.cache/release}
rm -rf "$out"
mkdir -p "$out/completions" "$out/man" "$out/man.gz"

# What cairn version says, and nothing that differs from machine to machine.
info=github.com/cairnstacks/cairn/internal/buildinfo
printf '%s' "-s -w -X $info.version=v$1 -X $info.commit=$2 -X $info.date=$3 -X $info.modified=$4" >"$out/ldflags"

# For this machine, whatever the release is built for.
# shellcheck disable=SC2086 # flags are several words
GOOS='' GOARCH='' CGO_ENABLED=0 go build ${BUILDFLAGS--trimpath} -buildvcs=false -ldflags="$(cat "$out/ldflags")" -o "$out/cairn" ./cmd/cairn
for shell in bash zsh fish; do
	"$out/cairn" completion "$shell" >"$out/completions/cairn.$shell"
done
"$out/cairn" help -man="$out/man"
"$out/cairn" version -licenses >"$out/LICENSES.txt"

# Debian asks for compressed pages; without the time, so that they are the same in each build.
for page in "$out"/man/*.1; do
	gzip -9nc "$page" >"$out/man.gz/$(basename "$page").gz"
done
