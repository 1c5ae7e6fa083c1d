#!/bin/sh
# Copyright (c) The cairn authors
# SPDX-License-Identifier: MPL-2.0
#
# Plans, applies and destroys the quickstart in a temporary copy. Run it with: make demo
set -eu

cairn=${CAIRN:-cairn}
source=$(cd "$(dirname "$0")/quickstart" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cp -R "$source" "$work/quickstart"
cd "$work/quickstart"
rm -rf .cairn .terraform ./*.state.db* # of someone who tried the original in place

# The quickstart uses the built-in provider only: nothing needs to be downloaded, whatever the user's own CLI
# configuration says.
: >"$work/cli.tfrc"
export TF_CLI_CONFIG_FILE="$work/cli.tfrc" CHECKPOINT_DISABLE=1
unset CAIRN_STATE

step() {
	printf '\n$ cairn %s\n' "$*"
	"$cairn" "$@"
}

step plan -out="$work/quickstart.plan"
step apply "$work/quickstart.plan"
step output

# 0 says that there is nothing to change; 2 would say that there is.
step plan -detailed-exitcode

step destroy -auto-approve

printf '\nPlanned, applied, unchanged when planned again, and destroyed.\n'
