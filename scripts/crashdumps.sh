#!/usr/bin/env bash
# Fetches the crash dumps and symbols that Breakpad and rust-minidump test with,
# at the commits that the recorded results are from.
#
#   crashdumps.sh
#
# They go to $SYMKIT_CRASHDUMPS/breakpad and $SYMKIT_CRASHDUMPS/rust-minidump (by
# default below ${XDG_CACHE_HOME:-~/.cache}/symkit/crashdumps); files that are
# there already are not changed. $BREAKPAD_GIT and $RUST_MINIDUMP_GIT name other
# sources than the projects' own: a mirror or a local repository. If a source cannot
# be reached, its tests are skipped, and the file SKIPPED has the reason. Licences: BSD
# (Breakpad), MIT (rust-minidump).
set -euo pipefail

dumps=${SYMKIT_CRASHDUMPS:-${XDG_CACHE_HOME:-$HOME/.cache}/symkit/crashdumps}

# fetch NAME URL COMMIT PATH...: the paths of the commit, into $dumps/NAME.
fetch() {
	local name=$1 url=$2 commit=$3 tmp repo path
	shift 3
	[[ -e $dumps/$name/.commit && $(<"$dumps/$name/.commit") == "$commit" ]] && return
	mkdir -p "$dumps/$name"
	tmp=$(mktemp -d "$dumps/.fetch.XXXXXX")
	repo=$tmp/repo
	git init -q --bare "$repo"
	if [[ -d $url ]]; then
		repo=$url
	elif ! git -C "$repo" fetch -q --depth 1 "$url" "$commit" 2>"$tmp/error"; then
		printf 'not fetched from %s: %s\n' "$url" "$(tail -n 1 "$tmp/error")" >"$dumps/$name/SKIPPED"
		printf 'crashdumps.sh: %s: skipped: %s\n' "$name" "$(<"$dumps/$name/SKIPPED")" >&2
		rm -rf "$tmp"
		return
	fi
	# One by one: a mirror may lack a file that is not needed.
	git -C "$repo" ls-tree -r --name-only "$commit" -- "$@" | while IFS= read -r path; do
		mkdir -p "$tmp/tree/$(dirname "$path")"
		git -C "$repo" show "$commit:$path" >"$tmp/tree/$path" 2>/dev/null || rm -f "$tmp/tree/$path"
	done
	rm -rf "${dumps:?}/$name"
	mv "$tmp/tree" "$dumps/$name"
	printf '%s\n' "$commit" >"$dumps/$name/.commit"
	rm -rf "$tmp"
}

fetch breakpad "${BREAKPAD_GIT:-https://chromium.googlesource.com/breakpad/breakpad}" \
	418aacd617897c19d960ec3e649f42ea95a6363a src/processor/testdata LICENSE
fetch rust-minidump "${RUST_MINIDUMP_GIT:-https://github.com/rust-minidump/rust-minidump}" \
	98a5141b8eefd3eb917c8ce32de1b0d2ed511eda testdata minidump-stackwalk/tests/snapshots LICENSE
