#!/bin/sh
# Copyright (c) The cairn authors
# SPDX-License-Identifier: MPL-2.0
#
# Installs a release of cairn for this machine, after it has verified it.
#
#   sh install.sh [--version VERSION] [--prefix DIR] [--no-verify-signature]
#
# It becomes no other user, and asks nothing.
set -eu

usage() {
	cat <<'END'
Usage: sh install.sh [options]

Installs cairn with its man pages and completions.

  --version VERSION      this version, such as 0.9.0 (default: the newest release)
  --prefix DIR           below this directory: DIR/bin/cairn, DIR/share/man ...
                         (default: /usr/local for root, or else ~/.local)
  --no-verify-signature  compare checksums only, where there is no cosign; then you
                         trust whoever can write to the page of releases
  -h, --help             show this

CAIRN_RELEASES names a mirror of the page of releases.
END
}

identity='https://github.com/cairnstacks/cairn/.github/workflows/release.yml@refs/tags'
issuer='https://token.actions.githubusercontent.com'

fail() {
	printf 'install.sh: %s\n' "$1" >&2
	shift
	for line; do
		printf '%s\n' "$line" >&2
	done
	exit 1
}

has() {
	command -v "$1" >/dev/null 2>&1
}

# fetch URL FILE
fetch() {
	if has curl; then
		curl --fail --silent --show-error --location --retry 2 --output "$2" "$1"
	elif has wget; then
		wget -q -O "$2" "$1"
	else
		fail 'There is neither curl nor wget. Install one of them.'
	fi || fail "$1 could not be downloaded." 'Nothing was installed. Is the version right, and the network there?'
}

sha256() {
	if has sha256sum; then
		sha256sum "$1"
	elif has shasum; then
		shasum -a 256 "$1"
	elif has openssl; then
		openssl dgst -sha256 -r "$1"
	else
		fail 'There is none of sha256sum, shasum and openssl, so the download cannot be verified. Install one of them.'
	fi | cut -d ' ' -f 1
}

# checksum_of NAME prints the checksum of a file, from a list on standard input.
checksum_of() {
	while read -r sum name; do
		if [ "$name" = "$1" ]; then
			printf '%s\n' "$sum"
			return
		fi
	done
}

# platform prints the platform as the names of archives have it.
platform() {
	system=$(uname -s)
	machine=$(uname -m)
	case $system in
	Linux) system=linux ;;
	Darwin)
		system=darwin
		# A shell under Rosetta believes that it is on the other processor.
		if [ "$(sysctl -n hw.optional.arm64 2>/dev/null)" = 1 ]; then
			machine=arm64
		fi
		;;
	*) fail "There is no archive for $system that this script can install." \
		'For Windows, unpack the zip archive of the release, and put cairn.exe on PATH.' ;;
	esac
	case $machine in
	x86_64 | amd64) machine=amd64 ;;
	aarch64 | arm64) machine=arm64 ;;
	esac
	printf '%s_%s\n' "$system" "$machine"
}

# verify_signature FILE BUNDLE VERSION checks that the workflow for the tag of that version has signed a file.
verify_signature() {
	cosign verify-blob "$1" --bundle "$2" \
		--certificate-identity "$identity/v$3" --certificate-oidc-issuer "$issuer" >"$work/cosign.log" 2>&1 || {
		cat "$work/cosign.log" >&2
		fail "The signature of $(basename "$1") is not that of the release v$3." \
			'Nothing was installed. Do not use what was downloaded, and report it: see SECURITY.md.'
	}
}

# put FILE PLACE MODE
put() {
	mkdir -p "$(dirname "$2")"
	cp "$1" "$2.new$$"
	chmod "$3" "$2.new$$"
	mv -f "$2.new$$" "$2" # as a whole, also while it runs
}

main() {
	version='' prefix='' signature=yes
	while [ $# -gt 0 ]; do
		case $1 in
		--version | --prefix)
			[ $# -gt 1 ] || fail "The option $1 needs a value."
			case $1 in
			--version) version=${2#v} ;;
			--prefix) prefix=$2 ;;
			esac
			shift
			;;
		--no-verify-signature) signature=no ;;
		-h | --help)
			usage
			exit 0
			;;
		*) fail "There is no option $1." 'Run: sh install.sh --help' ;;
		esac
		shift
	done
	if [ -z "$prefix" ]; then
		prefix=/usr/local
		if [ "$(id -u)" != 0 ]; then
			prefix=${HOME:?--prefix is needed where there is no HOME}/.local
		fi
	fi
	if [ $signature = yes ] && ! has cosign; then
		fail 'There is no cosign, so the signature of the release cannot be verified. Nothing was installed.' \
			'Either install it: https://docs.sigstore.dev/cosign/system_config/installation/' \
			'or give --no-verify-signature: then only checksums are compared, which come from the same place as the archive.'
	fi
	case $version in
	*[!0-9A-Za-z.+-]*) fail "$version is no version." ;;
	esac
	case $prefix in
	/*) ;;
	*) prefix=$PWD/$prefix ;;
	esac
	releases=${CAIRN_RELEASES:-https://github.com/cairnstacks/cairn/releases}
	platform=$(platform)

	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM

	if [ -n "$version" ]; then
		fetch "$releases/download/v$version/checksums.txt" "$work/checksums.txt"
	else
		fetch "$releases/latest/download/checksums.txt" "$work/checksums.txt"
		version=$(sed -n '/^[0-9a-f]*  cairn_\([0-9A-Za-z.+-]*\)_linux_amd64\.tar\.gz$/{s//\1/p;q;}' "$work/checksums.txt")
		[ -n "$version" ] || fail 'The newest release has no checksums that this script understands. Nothing was installed.'
	fi
	if [ $signature = yes ]; then
		fetch "$releases/download/v$version/checksums.txt.sigstore.json" "$work/bundle.json"
		verify_signature "$work/checksums.txt" "$work/bundle.json" "$version"
	fi

	archive=cairn_${version}_$platform.tar.gz
	want=$(checksum_of "$archive" <"$work/checksums.txt")
	[ -n "$want" ] || fail "The release v$version has no archive for $platform. Nothing was installed."
	fetch "$releases/download/v$version/$archive" "$work/$archive"
	got=$(sha256 "$work/$archive")
	[ "$got" = "$want" ] || fail "The checksum of $archive is $got, and should be $want." \
		'Nothing was installed. The download is damaged, or not what was released.'

	mkdir "$work/unpacked"
	tar -xzf "$work/$archive" -C "$work/unpacked"
	cd "$work/unpacked"
	./cairn version >/dev/null || fail 'The program does not run on this machine. Nothing was installed.'
	if ! mkdir -p "$prefix/bin" 2>/dev/null || ! [ -w "$prefix/bin" ]; then
		fail "$prefix/bin cannot be written. Nothing was installed." \
			'Give another directory by --prefix, or run this as a user who may write there.'
	fi
	for page in man/*.1; do
		put "$page" "$prefix/share/man/man1/$(basename "$page")" 644
	done
	put completions/cairn.bash "$prefix/share/bash-completion/completions/cairn" 644
	put completions/cairn.zsh "$prefix/share/zsh/site-functions/_cairn" 644
	put completions/cairn.fish "$prefix/share/fish/vendor_completions.d/cairn.fish" 644
	put LICENSE "$prefix/share/doc/cairn/LICENSE" 644
	put LICENSES.txt "$prefix/share/doc/cairn/LICENSES.txt" 644
	put cairn "$prefix/bin/cairn" 755 # last: if it is there, all of it is

	printf 'cairn %s is in %s/bin.\n' "$version" "$prefix"
	case ":$PATH:" in
	*":$prefix/bin:"*) ;;
	*) printf 'Put that on PATH.\n' ;;
	esac
}

# As the last line, so that a script that was cut off does nothing.
main "$@"
