#!/bin/sh
# Copyright (c) The cairn authors
# SPDX-License-Identifier: MPL-2.0
#
# Writes the files that accompany cairn in archives and packages into .cache/release: man pages, completions and
# licence texts. The program itself writes them, so that they are those of the commit. Also the flags of the linker with
# which .goreleaser.yaml builds cairn and cairn-server for all platforms.
#
#   packaging/files.sh VERSION COMMIT DATE MODIFIED
#
# OUT names another directory, and BUILDFLAGS other flags of the go command than -trimpath.
set -eu
cd "$(dirname "$0")/.."

out=${OUT:-.cache/release}
rm -rf "$out"
mkdir -p "$out/completions" "$out/man" "$out/man.gz"

# What the commands version say, and nothing that differs from machine to machine. The linker leaves out variables of
# packages that a program does not have.
printf '%s' '-s -w' >"$out/ldflags"
for package in internal/buildinfo server/internal/cli; do
	package=github.com/cairnstacks/cairn/$package
	printf '%s' " -X $package.version=v$1 -X $package.commit=$2 -X $package.date=$3 -X $package.modified=$4" >>"$out/ldflags"
done

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
