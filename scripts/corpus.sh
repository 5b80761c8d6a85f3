#!/usr/bin/env bash
# Fetches the corpus: real ELF files with DWARF, from Debian 12's packages.
#
#   corpus.sh [all]     everything: 1.2 GB to fetch, 3 GB unpacked
#   corpus.sh small     what CI needs: 130 MB to fetch, 300 MB unpacked
#   corpus.sh --list [all|small]
#                       prints the ELF files that are there, one path a line
#   corpus.sh --update [all|small]
#                       also replaces what is there by a newer version
#
# Each package is unpacked, never installed, into $SYMKIT_CORPUS/<package>/
# (by default ${XDG_CACHE_HOME:-~/.cache}/symkit/corpus/<package>/), with its
# version in the file .version there. A package that is there is left alone, so
# figures stay comparable; one without .version was unpacked by hand and is
# taken as it is. No privileges are needed.
set -euo pipefail

corpus=${SYMKIT_CORPUS:-${XDG_CACHE_HOME:-$HOME/.cache}/symkit/corpus}

# bash, coreutils and sqlite3 are there without debug information: stripped
# programs. python3.11-minimal has the program whose debug file python3.11-dbg has.
# Stripped twins (libc6, ceph-osd, …) are there so that a debug file can be
# joined with the .eh_frame that only the binary has.
small=(python3.11-dbg libc6 libc6-dbg libstdc++6 libstdc++6-12-dbg valgrind valgrind-dbg bash coreutils sqlite3 python3.11-minimal)
large=(openjdk-17-jre-headless openjdk-17-dbg ceph-osd ceph-osd-dbg libssl3 libnode108)
kernel='^linux-image-6\.1\.0-[0-9]+-cloud-amd64-dbg$'

say() { printf 'corpus.sh: %s\n' "$*" >&2; }
die() {
	say "error: $*"
	exit 1
}

usage() { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0"; }

# The version apt would fetch; empty when it knows none.
candidate() {
	apt-cache policy "$1:amd64" | sed -n 's/^ *Candidate: //p' | grep -vFx '(none)' || true
}

# The kernel package has its ABI number in its name: the one already unpacked,
# else (and with --update) the newest the archive has.
kernel_package() {
	local have='' newest=''
	if [[ -d $corpus ]]; then
		have=$(find "$corpus" -mindepth 1 -maxdepth 1 -printf '%f\n' | grep -E "$kernel" | sort -V | tail -n 1 || true)
	fi
	if [[ -n $have && $update == no ]]; then
		printf '%s\n' "$have"
		return
	fi
	newest=$(apt-cache search --names-only "$kernel" | awk '{print $1}' | sort -V | tail -n 1)
	printf '%s\n' "${newest:-$have}"
}

# Reports whether package $1 has to be fetched.
wanted() {
	local dir=$corpus/$1 have version
	if [[ ! -d $dir || -z $(ls -A "$dir") ]]; then
		return 0
	fi
	if [[ ! -f $dir/.version ]]; then
		say "$1: taken as it is (unpacked by hand); remove $dir to fetch it"
		return 1
	fi
	have=$(<"$dir/.version")
	version=$(candidate "$1")
	if [[ -z $version || $have == "$version" ]]; then
		say "$1: $have is there"
		return 1
	fi
	if [[ $update == no ]]; then
		say "$1: $have is there; --update replaces it by $version"
		return 1
	fi
}

# Unpacks beside the final place and renames, so that an interrupted run
# leaves no half package.
fetch() {
	local package=$1 version new=$corpus/.new.$1 options=()
	version=$(candidate "$package")
	if [[ -z $version ]]; then
		die "apt knows no package $package: the corpus is made of Debian 12's (bookworm) amd64 packages; is it in the sources, and was 'apt-get update' run?"
	fi
	say "$package: fetching $version"
	if [[ $(id -u) == 0 ]]; then
		# apt's sandbox user cannot write into a private directory.
		options=(-o APT::Sandbox::User=root)
	fi
	rm -rf "$temp" "$new"
	mkdir -p "$temp" "$new"
	(cd "$temp" && apt-get -q "${options[@]}" download "$package:amd64=$version" >&2) ||
		die "$package $version: download failed"
	dpkg-deb -x "$temp"/*.deb "$new"
	printf '%s\n' "$version" >"$new/.version"
	rm -rf "${corpus:?}/$package" "$temp"
	mv "$new" "$corpus/$package"
}

# Prints the ELF files of the packages named.
list() {
	local package file magic
	for package in "$@"; do
		if [[ ! -d $corpus/$package ]]; then
			say "$package: not there"
			continue
		fi
		while IFS= read -r -d '' file; do
			IFS= read -r -n 4 magic <"$file" || true
			if [[ $magic == $'\x7fELF' ]]; then
				printf '%s\n' "$file"
			fi
		done < <(find "$corpus/$package" -type f -size +0 -print0 | LC_ALL=C sort -z)
	done
}

main() {
	local mode=fetch set=all packages package
	update=no
	for argument in "$@"; do
		case $argument in
		all | small) set=$argument ;;
		--list) mode=list ;;
		--update) update=yes ;;
		-h | --help) usage && exit 0 ;;
		*) usage >&2 && die "unknown argument $argument" ;;
		esac
	done

	packages=("${small[@]}")
	if [[ $set == all ]]; then
		packages+=("${large[@]}")
		package=$(kernel_package)
		if [[ -n $package ]]; then
			packages+=("$package")
		elif [[ $mode == fetch ]]; then
			die "apt knows no package that matches $kernel"
		fi
	fi
	if [[ $mode == list ]]; then
		LC_ALL=C list "${packages[@]}"
		return
	fi

	mkdir -p "$corpus"
	temp=$corpus/.download
	trap 'rm -rf "$temp" "$corpus"/.new.*' EXIT
	for package in "${packages[@]}"; do
		if wanted "$package"; then
			fetch "$package"
		fi
	done
	say "the corpus is in $corpus"
}

main "$@"
