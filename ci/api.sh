# shellcheck shell=sh
# Copyright (c) The cairn authors
# SPDX-License-Identifier: MPL-2.0
#
# Requests to the REST API of the forge. The token, CAIRN_TOKEN, is in no variable of the shell and
# in no argument of a process: a trace of the shell does not show it, nor does a list of processes.

forge='' api_url='' work='' status='' # set by the script that reads this

# credentials prints the header with the token, as a line of a configuration of curl.
credentials() {
	case $forge in
	github) printenv CAIRN_TOKEN | sed 's/.*/header = "Authorization: Bearer &"/' ;;
	gitlab) printenv CAIRN_TOKEN | sed 's/.*/header = "PRIVATE-TOKEN: &"/' ;;
	esac
}

# api METHOD PATH [FILE] sends a request, with FILE as its body. The response is in $work/response,
# its status in $status. What may succeed later is tried again, when the server says so.
api() {
	attempt=1
	while :; do
		status=$(credentials | curl --config - --globoff --silent --show-error --max-time 60 \
			--request "$1" ${3:+--header 'Content-Type: application/json' --data-binary "@$3"} \
			--dump-header "$work/headers" --output "$work/response" --write-out '%{http_code}' "$api_url$2") || status=000
		case $status in
		2??) return 0 ;;
		30?) # to a store of artifacts, which is not to see the token
			sed -n 's/^[Ll]ocation: *\([^\r]*\).*/url = "\1"/p' "$work/headers" |
				curl --config - --globoff --silent --show-error --fail --location --max-time 300 --output "$work/response"
			return
			;;
		esac
		pause=$(sed -n 's/^[Rr]etry-[Aa]fter: *\([0-9]*\).*/\1/p' "$work/headers" 2>/dev/null || :)
		case $status in
		429 | 5?? | 000) : "${pause:=$attempt}" ;;
		403) ;; # a limit of requests if there is a time to wait, or else it is not allowed
		*) pause='' ;;
		esac
		if [ -z "$pause" ] || [ "$attempt" -ge "${CAIRN_CI_TRIES:-4}" ]; then
			return 1
		fi
		[ "$pause" -le 60 ] || pause=60
		sleep "$pause"
		attempt=$((attempt + 1))
	done
}
