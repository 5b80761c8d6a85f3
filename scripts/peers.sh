#!/usr/bin/env bash
# Installs the programs that symkit's can take the place of: rust-minidump's
# minidump-stackwalk and Mozilla's dump_syms, from crates.io; also gimli's addr2line, as
# gimli-addr2line, Sentry's sentry-cli from npm, and LLVM 23's llvm-gsymutil from Debian's packages
# of sid, as llvm23-gsymutil. Breakpad's programs are compared if they
# are there: minidump_stackwalk, microdump_stackwalk, and dump_syms as breakpad-dump_syms.
#
#   peers.sh
#
# They are in $SYMKIT_PEERS (by default ${XDG_CACHE_HOME:-~/.cache}/symkit/peers); programs
# that are there already are not installed again. Needs cargo (Rust 1.88) and npm. With
# PEERS=installed nothing is installed. The tests of a program that is missing are skipped,
# and the file SKIPPED has the reason.
set -euo pipefail

peers=${SYMKIT_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/symkit/peers}
rust_version=0.27.0
mozilla_version=2.3.9
gimli_version=0.27.0
sentry_version=3.8.0
mkdir -p "$peers"
peers=$(cd "$peers" && pwd)

skip() { # PROGRAM REASON
	printf '%s: %s\n' "$1" "$2" >>"$peers/SKIPPED"
	printf 'peers.sh: %s: skipped: %s\n' "$1" "$2" >&2
}

rm -f "$peers/SKIPPED"
if [[ ${PEERS:-} == installed ]]; then
	for program in minidump_stackwalk microdump_stackwalk minidump-stackwalk breakpad-dump_syms mozilla-dump_syms gimli-addr2line sentry-cli samply-server dump-writer \
		llvm23-gsymutil sym_upload bugsnag-cli; do
		[[ -x $peers/$program ]] || skip "$program" "not there; PEERS=installed installs nothing"
	done
	exit
fi
for program in minidump_stackwalk microdump_stackwalk breakpad-dump_syms sym_upload; do
	[[ -x $peers/$program ]] || skip "$program" "not there; Breakpad has no releases: build its repository and copy the program"
done
[[ -x $peers/bugsnag-cli ]] || skip bugsnag-cli "not there; npm's package downloads it from elsewhere: build its repository and copy the program"

# rust NAME CRATE VERSION PROGRAM [FLAG...]: installs a program of crates.io as NAME.
rust() {
	[[ -x $peers/$1 ]] && return
	if cargo install -q --locked --version "$3" --root "$peers/rust" "${@:5}" "$2"; then
		ln -sf "rust/bin/$4" "$peers/$1"
	else
		skip "$1" "cargo install failed"
	fi
}
rust minidump-stackwalk minidump-stackwalk "$rust_version" minidump-stackwalk
rust mozilla-dump_syms dump_syms "$mozilla_version" dump_syms
rust gimli-addr2line addr2line "$gimli_version" addr2line --features bin

if [[ ! -x $peers/sentry-cli ]]; then
	if npm install --silent --no-audit --no-fund --prefix "$peers/npm" "@sentry/cli-linux-x64@$sentry_version"; then
		ln -sf npm/node_modules/@sentry/cli-linux-x64/bin/sentry-cli "$peers/sentry-cli"
	else
		skip sentry-cli "npm install failed"
	fi
fi

# samply-server is a program of test/oracle/symbolicate, with the crates of its Cargo.lock.
if [[ ! -x $peers/samply-server ]]; then
	if cargo build -q --release --locked --target-dir "$peers/rust/samply-server" \
		--manifest-path "$(dirname "$0")/../test/oracle/symbolicate/testdata/samply-server/Cargo.toml"; then
		ln -sf rust/samply-server/release/samply-server "$peers/samply-server"
	else
		skip samply-server "cargo build failed"
	fi
fi

# dump-writer is a program of cmd/stackwalk's tests, with the minidump writers of crates.io.
if [[ ! -x $peers/dump-writer ]]; then
	if cargo build -q --release --locked --target-dir "$peers/rust/dump-writer" \
		--manifest-path "$(dirname "$0")/../cmd/stackwalk/testdata/dump-writer/Cargo.toml"; then
		ln -sf rust/dump-writer/release/dump-writer "$peers/dump-writer"
	else
		skip dump-writer "cargo build failed"
	fi
fi

# llvm-gsymutil runs with the libraries of sid.
llvm() {
	local dir=$peers/sid
	mkdir -p "$dir/apt/lists/partial" "$dir/apt/archives/partial" "$dir/packages"
	: >"$dir/apt/status"
	printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s sid main\n' \
		"$(awk '$1 == "URIs:" && $2 ~ /debian$/ { print $2; exit }' /etc/apt/sources.list.d/*.sources)" >"$dir/apt/sources.list"
	printf '%s\n' "Dir::State \"$dir/apt\"; Dir::State::status \"$dir/apt/status\"; Dir::Cache \"$dir/apt\";" \
		"Dir::Etc::sourcelist \"$dir/apt/sources.list\"; Dir::Etc::sourceparts \"-\"; APT::Sandbox::User \"root\";" >"$dir/apt/conf"
	(
		cd "$dir/packages"
		export APT_CONFIG=$dir/apt/conf
		apt-get update -qq &&
		apt-get download -qq llvm-23 libllvm23 libc6 libstdc++6 libgcc-s1 zlib1g libzstd1 libedit2 libtinfo6 libxml2-16 libbsd0 \
			libmd0 libffi8 liblzma5 libz3-4 libpfm4 &&
		for package in *.deb; do dpkg-deb -x "$package" "$dir" || exit; done
	) || return
	rm -rf "$dir/apt" "$dir/packages"
	local libraries=$dir/usr/lib/x86_64-linux-gnu
	printf '#!/bin/sh\nexec %s/ld-linux-x86-64.so.2 --library-path %s %s/usr/lib/llvm-23/bin/llvm-gsymutil "$@"\n' \
		"$libraries" "$libraries" "$dir" >"$peers/llvm23-gsymutil"
	chmod +x "$peers/llvm23-gsymutil"
}
if [[ ! -x $peers/llvm23-gsymutil ]] && ! llvm; then
	skip llvm23-gsymutil "the packages of sid cannot be fetched"
fi
