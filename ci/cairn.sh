#!/bin/sh
# Copyright (c) The cairn authors
# SPDX-License-Identifier: MPL-2.0
#
# A step of a job of CI.
#
#   sh cairn.sh setup | plan | comment | locate | apply
#
# setup installs cairn. plan saves a set of plans, packed as $CAIRN_CI_PLANS.tar. comment shows its
# report in the pull request. locate finds out whether this job is to apply, and which run has the
# plans. apply does so, and applies exactly these.
#
# CAIRN_TOKEN is the token for the API; CAIRN_CI_ID names the comment; CAIRN_CI_ARGUMENTS are options
# of "cairn run plan", and CAIRN_CI_POLICY files to attach to the report, as words; CAIRN_CI_VERSION
# and CAIRN_CI_INSTALL are the version and options of install.sh. Outputs go to GITHUB_OUTPUT, or to
# the file that CAIRN_CI_OUTPUT names.
set -euf

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
# shellcheck source=ci/api.sh
. "$here/api.sh"

id=${CAIRN_CI_ID:-cairn}
number='' merged='' asked='' user='' commit='' keep='' remove='' planned=''
plans=${CAIRN_CI_PLANS:-cairn-plans}
report=${CAIRN_CI_REPORT:-cairn-report.md}

if [ -n "${GITHUB_REPOSITORY:-}" ]; then
	forge=github
	api_url=${GITHUB_API_URL:-https://api.github.com}
	run=${GITHUB_RUN_ID:-}
	link=${GITHUB_SERVER_URL:-https://github.com}/$GITHUB_REPOSITORY/actions/runs/$run
	limit=63000 # of 65536, with a note
else
	forge=gitlab
	api_url=${CI_API_V4_URL:-}
	run=${CI_JOB_ID:-}
	link=${CI_JOB_URL:-}
	limit=990000 # of 1000000, with a note
fi

output() {
	name=$1
	if [ "$forge" = gitlab ]; then # the variables of later jobs
		name=CAIRN_$(printf %s "$1" | tr 'a-z-' 'A-Z_')
	fi
	printf '%s=%s\n' "$name" "$2" >>"${GITHUB_OUTPUT:-${CAIRN_CI_OUTPUT:-/dev/null}}"
}

summary() {
	cat "$1" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
}

# warn TEXT. The text is one of ours.
warn() {
	if [ "$forge" = github ]; then
		printf '::warning::%s\n' "$1"
	else
		printf 'Warning: %s\n' "$1" >&2
	fi
}

# without_token COMMAND... runs a command, which may start programs of others, without the token.
without_token() {
	env -u CAIRN_TOKEN "$@"
}

# to_file FILE COMMAND... keeps the errors of a command in a file, and shows them.
to_file() {
	errors=$1
	shift
	failed=0
	"$@" 2>"$errors" || failed=$?
	cat "$errors" >&2
	return "$failed"
}

# read_lines FILE NAME... sets variables of these names to values of lines "name=value".
read_lines() {
	for name; do
		[ "$name" = "$1" ] || eval "$name=\$(sed -n \"s/^$name=//p\" \"\$1\")"
	done
}

# describe sets number, merged, asked, user and commit: the reason for this job.
describe() {
	without_token cairn ci event >"$work/event" || return 1
	read_lines "$work/event" number merged asked user commit
	if [ -z "$number" ] && [ "$forge" = gitlab ] && [ -n "${CI_COMMIT_SHA:-}" ]; then
		# The pipeline of a branch after a merge.
		api GET "/projects/$CI_PROJECT_ID/repository/commits/$CI_COMMIT_SHA/merge_requests" || return 1
		without_token cairn ci event -requests="$work/response" >"$work/event" || return 1
		read_lines "$work/event" number merged asked user commit
	fi
	: "${commit:=${CI_COMMIT_SHA:-${GITHUB_SHA:-}}}"
	case $forge in
	github)
		comments=/repos/$GITHUB_REPOSITORY/issues/$number/comments
		comment=/repos/$GITHUB_REPOSITORY/issues/comments
		change=PATCH
		;;
	gitlab)
		comments=/projects/$CI_PROJECT_ID/merge_requests/$number/notes
		comment=$comments
		change=PUT
		;;
	esac
}

# find_ours sets keep, remove and planned: our comment, its repetitions, and the run with the plans.
find_ours() {
	if api GET /user; then
		cp "$work/response" "$work/user"
	elif [ "$forge$status" = github403 ]; then
		# The token of a job has no user. Its comments are by the app of all jobs.
		printf '{"login":"github-actions[bot]"}' >"$work/user"
	else
		return 1
	fi
	rm -rf "$work/pages"
	mkdir "$work/pages"
	page=1
	set --
	while [ "$page" -le 1000 ]; do
		api GET "$comments?per_page=100&page=$page" || return 1
		[ "$(tr -d ' \n' <"$work/response")" != '[]' ] || break
		cp "$work/response" "$work/pages/$page"
		set -- "$@" "$work/pages/$page"
		page=$((page + 1))
	done
	without_token cairn ci find -id="$id" -user="$work/user" -main="$work/main" "$@" >"$work/ours" || return 1
	read_lines "$work/ours" keep remove planned
}

# publish RUN FILE [OPTION...] makes the comment, or changes it. RUN has the plans; options are those
# of "cairn ci body".
publish() {
	of=$1
	main=$2
	shift 2
	find_ours || return 1
	[ -n "$main" ] || main=$work/main
	without_token cairn ci body -id="$id" -run="$of" "$@" "$main" >"$work/body" || return 1
	if [ -z "$keep" ]; then
		api POST "$comments" "$work/body" || return 1
		# A job that runs at the same time may have made one, too.
		find_ours || return 1
		[ -n "$remove" ] || return 0
	fi
	api "$change" "$comment/$keep" "$work/body" || return 1
	for other in $remove; do
		api DELETE "$comment/$other" || [ "$status" = 404 ] || return 1
	done
}

# refuse TITLE FILE ends the job with an explanation in the comment, the summary and the log.
refuse() {
	printf '%s\n' "$1" >&2
	cat "$2" >&2
	{
		printf '## %s\n\n' "$1"
		sed 's/^/    /' "$2"
	} >"$work/refused"
	summary "$work/refused"
	publish "${planned:-}" '' -title="$1" -note="$2" || warn "the comment was not changed: status $status of the API"
	exit 1
}

# in_clear DIR finds out whether a set of plans is not encrypted.
in_clear() {
	grep -q '"format_version"' "$1/index.json"
}

setup() {
	prefix=${RUNNER_TEMP:-${TMPDIR:-/tmp}}/cairn-${CAIRN_CI_VERSION:-newest}
	if [ -n "${CAIRN_BINARY:-}" ]; then
		program=$CAIRN_BINARY
	elif [ -z "${CAIRN_CI_VERSION:-}" ] && command -v cairn >/dev/null; then
		program=$(command -v cairn)
	else
		# shellcheck disable=SC2086 # options are words
		without_token sh "$here/../install.sh" ${CAIRN_CI_VERSION:+--version "$CAIRN_CI_VERSION"} --prefix "$prefix" ${CAIRN_CI_INSTALL:-}
		program=$prefix/bin/cairn
	fi
	without_token "$program" version
	dirname -- "$program" >>"${GITHUB_PATH:-/dev/null}"
}

plan() {
	describe || :
	rm -rf "$plans" "$plans.tar" "$report" "$report.errors"
	for file in ${CAIRN_CI_POLICY:-}; do
		[ ! -f "$file" ] || set -- "$@" -attach="$file"
	done
	code=0
	# shellcheck disable=SC2086 # options are words
	to_file "$report.errors" without_token cairn run plan -out="$plans" -detailed-exitcode -report="$report" -title=Plan \
		-link="$link" -commit="$commit" -limit="$limit" "$@" ${CAIRN_CI_ARGUMENTS:-} || code=$?
	output exit-code "$code"
	output report "$report"
	changes=false
	[ "$code" != 2 ] || changes=true
	output changes "$changes"
	if [ -f "$plans/index.json" ]; then
		if in_clear "$plans"; then
			rm -rf "$plans" "$report"
			echo 'The plans are not encrypted, and an artifact of them would show secrets. Give a key by CAIRN_ENCRYPTION.' |
				tee "$report.errors" >&2
			exit 1
		fi
		tar -cf "$plans.tar" "$plans"
		output plans "$plans.tar"
	fi
	if [ -f "$report" ]; then
		summary "$report"
	fi
	case $code in
	0 | 2) ;;
	*) exit "$code" ;;
	esac
}

# show_plan shows in the comment how a plan has ended. That this fails is no failure of the plan.
show_plan() {
	if ! describe || [ -z "$number" ]; then
		warn 'there is no comment, as the pull request of this job is not known'
		return 0
	fi
	[ -f "$plans.tar" ] || run=''
	if [ -f "$report" ]; then
		publish "$run" "$report"
	else
		: >"$work/empty"
		publish "$run" "$work/empty" -title='Not planned' -note="$report.errors"
	fi || warn "there is no comment, or not the newest: status $status of the API"
}

# locate sets go, and planned to the run that has the plans.
locate() {
	go=false
	describe || {
		warn "the event cannot be understood: status ${status:-0} of the API"
		exit 1
	}
	if [ "$merged" = true ] || [ "$asked" = true ]; then
		find_ours || {
			warn "the comment with the plan cannot be found: status $status of the API"
			exit 1
		}
		[ "$asked" = false ] || check_permission
		if [ -z "$planned" ]; then
			echo 'The pull request has no plan that could be applied: there was none yet, or the last one has failed. Plan again.' >"$work/why"
			refuse 'Not applied: no plan' "$work/why"
		fi
		go=true
	fi
	output go "$go"
	output run "$planned"
}

check_permission() {
	case $forge in
	github) api GET "/repos/$GITHUB_REPOSITORY/collaborators/$user/permission" ;;
	gitlab) api GET "/projects/$CI_PROJECT_ID/members/all/$user" ;;
	esac || [ "$status" = 404 ] || {
		warn "the permission of who asks cannot be found: status $status of the API"
		exit 1
	}
	if [ "$status" = 404 ] || ! without_token cairn ci allowed "$work/response"; then
		echo 'Only somebody who may push to the repository may have plans applied by a comment. Nothing was done.' >"$work/why"
		refuse 'Not applied: no permission' "$work/why"
	fi
}

apply() {
	locate
	[ "$go" = true ] || return 0
	if [ "$forge" = gitlab ]; then
		rm -f "$plans.tar"
		if api GET "/projects/$CI_PROJECT_ID/jobs/$planned/artifacts/$(git rev-parse --show-prefix)$plans.tar"; then
			cp "$work/response" "$plans.tar"
		fi
		if [ "$asked" = true ]; then
			# The pipeline that a comment starts is one of the default branch.
			without_token git fetch --quiet origin "refs/merge-requests/$number/head"
			without_token git checkout --quiet --detach FETCH_HEAD
		fi
	fi
	mkdir "$work/set"
	# Apart from the checkout, an archive can replace none of its files.
	if ! tar -xf "$plans.tar" -C "$work/set" "$plans" 2>"$work/why"; then
		echo 'The artifact with the plans is not there any more, or is damaged. Nothing was done. Plan again.' >"$work/why"
		refuse 'Not applied: no artifact' "$work/why"
	fi
	if in_clear "$work/set/$plans"; then
		echo 'The plans in the artifact are not encrypted: they are not those that were made. Nothing was done. Plan again.' >"$work/why"
		refuse 'Not applied: other plans' "$work/why"
	fi
	rm -f "$report"
	code=0
	to_file "$work/why" without_token cairn run apply -same-tree -report="$report" -title=Applied \
		-link="$link" -commit="$commit" -limit="$limit" "$work/set/$plans" || code=$?
	output exit-code "$code"
	output report "$report"
	[ -f "$report" ] || refuse 'Not applied' "$work/why"
	summary "$report"
	set --
	[ "$code" = 0 ] || set -- -title='Not all of it is applied. The same job goes on with the rest when it runs again.' -note="$work/why"
	publish "$planned" "$report" "$@" || warn "the comment is not the newest: status $status of the API"
	exit "$code"
}

case $plans in
'' | -* | .* | */*)
	echo 'The name of the plans is to be that of one directory, without slashes.' >&2
	exit 1
	;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

case ${1:-} in
setup | plan | locate | apply) "$1" ;;
comment) show_plan ;;
*)
	echo 'Usage: sh cairn.sh setup | plan | comment | locate | apply' >&2
	exit 1
	;;
esac
