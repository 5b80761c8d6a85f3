#!/usr/bin/env bash
# Builds the programs that stackwalk can take the place of: Breakpad's minidump_stackwalk
# and microdump_stackwalk, and rust-minidump's minidump-stackwalk; and Mozilla's dump_syms.
# Breakpad's dump_syms is compared if it is there as breakpad-dump_syms.
#
#   peers.sh
#
# They go to $SYMKIT_PEERS (by default ${XDG_CACHE_HOME:-~/.cache}/symkit/peers); programs
# that are there already are not built again. $BREAKPAD_GIT names another source than the
# project's own. Needs git, g++ and cargo (Rust 1.88). With PEERS=installed nothing is built.
# The tests of a program that is missing are skipped, and the file SKIPPED has the reason.
set -euo pipefail

peers=${SYMKIT_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/symkit/peers}
commit=418aacd617897c19d960ec3e649f42ea95a6363a # as in crashdumps.sh
rust_version=0.27.0
mozilla_version=2.3.9
mkdir -p "$peers"
peers=$(cd "$peers" && pwd)

skip() { # PROGRAM REASON
	printf '%s: %s\n' "$1" "$2" >>"$peers/SKIPPED"
	printf 'peers.sh: %s: skipped: %s\n' "$1" "$2" >&2
}

# breakpad compiles the processor: it needs neither a configure script nor submodules.
breakpad() {
	local url=${BREAKPAD_GIT:-https://chromium.googlesource.com/breakpad/breakpad} tmp repo path
	tmp=$(mktemp -d "$peers/.build.XXXXXX")
	repo=$tmp/repo
	git init -q --bare "$repo"
	if [[ -d $url ]]; then
		repo=$url
	elif ! git -C "$repo" fetch -q --depth 1 "$url" "$commit" 2>"$tmp/error"; then
		skip breakpad "not fetched from $url: $(tail -n 1 "$tmp/error")"
		rm -rf "$tmp"
		return
	fi
	# One by one: a mirror may lack a file that is not needed.
	git -C "$repo" ls-tree -r --name-only "$commit" -- src/processor src/common src/google_breakpad src/third_party/libdisasm |
		grep -v testdata | while IFS= read -r path; do
		mkdir -p "$tmp/tree/$(dirname "$path")"
		git -C "$repo" show "$commit:$path" >"$tmp/tree/$path" 2>/dev/null || rm -f "$tmp/tree/$path"
	done
	(
		cd "$tmp/tree"
		: >src/config.h
		ls src/processor/*.cc src/common/path_helper.cc src/common/linux/scoped_{pipe,tmpfile}.cc src/third_party/libdisasm/*.c |
			grep -Ev 'unittest|selftest|synth_minidump|minidump_dump' |
			xargs -P "$(nproc)" -I{} sh -c '
				cc="gcc"; case {} in *.cc) cc="g++ -std=c++20" ;; esac
				$cc -O1 -w -Isrc -D__STDC_FORMAT_MACROS -c {} -o "$(echo {} | tr / _).o"'
		for name in minidump_stackwalk microdump_stackwalk; do
			ls ./*.o | grep -v _stackwalk.cc.o | xargs g++ -o "$peers/$name" "src_processor_$name.cc.o" -lpthread
		done
	) || skip breakpad "it does not compile"
	rm -rf "$tmp"
}

rm -f "$peers/SKIPPED"
if [[ ${PEERS:-} == installed ]]; then
	for program in minidump_stackwalk microdump_stackwalk minidump-stackwalk breakpad-dump_syms mozilla-dump_syms; do
		[[ -x $peers/$program ]] || skip "$program" "not installed, and not built with PEERS=installed"
	done
	exit
fi
[[ -x $peers/minidump_stackwalk && -x $peers/microdump_stackwalk ]] || breakpad

# rust NAME CRATE VERSION PROGRAM: installs a program of crates.io as NAME.
rust() {
	[[ -x $peers/$1 ]] && return
	if cargo install -q --locked --version "$3" --root "$peers/rust" "$2"; then
		ln -sf "rust/bin/$4" "$peers/$1"
	else
		skip "$1" "cargo install failed"
	fi
}
rust minidump-stackwalk minidump-stackwalk "$rust_version" minidump-stackwalk
rust mozilla-dump_syms dump_syms "$mozilla_version" dump_syms
[[ -x $peers/breakpad-dump_syms ]] || skip breakpad-dump_syms "not there: it is not built here"
