#!/usr/bin/env bash
# Fetches the next corpus: ELF files of newer toolchains, of foreign machines
# and of other packagers than Debian.
#
#   corpus-next.sh [all]      packages, wheels and npm
#   corpus-next.sh packages   debug files and programs of Debian's next releases
#                             for all its machines, and of the last release that
#                             had MIPS: 750 MB to fetch, 3 GB unpacked
#   corpus-next.sh wheels     native modules from PyPI: 80 MB
#   corpus-next.sh npm        native modules from npm: 150 MB
#   corpus-next.sh toolchains testdata/src, compiled by the newest gcc, clang,
#                             gnat, gdc, ldc, rustc and Go of Debian in a chroot
#                             that lasts as long as this: 700 MB to fetch. Needs
#                             mmdebstrap, and root or user namespaces
#   corpus-next.sh --list [all|…]
#                             prints the ELF files that are there, one path a line
#   corpus-next.sh --update [all|…]
#                             also replaces what is there by a newer version
#
# Everything is unpacked, never installed, into
# $SYMKIT_CORPUS_NEXT/<release>-<machine>/<package>/, wheels/<name>-<platform>/,
# npm/<name>/ and toolchains/ (by default below
# ${XDG_CACHE_HOME:-~/.cache}/symkit/corpus-next/), with its version in the file
# .version there. What is there is left alone. What a registry does not have now is
# named and left out. apt gets a configuration of its
# own: it uses the mirror that the system's own sources name ($DEBIAN_MIRROR
# names another one), and neither the system's package lists nor its list of
# machines change. No privileges are needed but for toolchains.
set -euo pipefail
shopt -s extglob nullglob

corpus=${SYMKIT_CORPUS_NEXT:-${XDG_CACHE_HOME:-$HOME/.cache}/symkit/corpus-next}
project=$(cd "$(dirname "$0")/.." && pwd)

# The releases, and the machines that packages of each are taken for.
declare -A machines=(
	[sid]='amd64 arm64 armhf i386 loong64 ppc64el riscv64 s390x'
	[trixie]='amd64 armel riscv64'
	[bookworm]='mips64el mipsel'
)

# release, machines ("*": all of the release), packages. A package may be a
# pattern: the one with the highest number is taken.
packages() {
	cat <<-'END'
		sid * libc6 libc6-dbg libstdc++6 libstdc++6-+([0-9])-dbg esbuild
		sid amd64 libx32stdc++6-+([0-9])-dbg libbinutils-dbg libgsl-dbg libkrb5-dbg graphicsmagick graphicsmagick-dbg
		sid amd64 ceph-fuse ceph-fuse-dbg mit-scheme-dbg xen-hypervisor-+([0-9.])-amd64-dbg valgrind
		sid amd64 golang-1.+([0-9])-go gopls delve ripgrep eza nim crystal ocaml mold libllvm+([0-9])
		sid amd64 libgnat-+([0-9]) libxmlada-schema+([0-9]) libgphobos+([0-9]) libphobos2-ldc-shared+([0-9]) libgo+([0-9])
		sid amd64 libasan+([0-9]) libtsan+([0-9]) libgfortran5
		sid loong64 grub-efi-loong64-dbg
		sid s390x python3.+([0-9])-dbg
		sid arm64 libasan+([0-9]) libgnat-+([0-9]) libllvm+([0-9]) mold
		sid armhf libgnat-+([0-9]) libgo+([0-9]) ripgrep
		sid riscv64 libgo+([0-9])
		trixie * libc6 libc6-dbg
		trixie amd64 python3.+([0-9])-dbg
		bookworm * libc6 libc6-dbg
		bookworm mips64el libc6-mips32 libc6-mipsn32 libstdc++6-+([0-9])-dbg
	END
}

# Platform and names. Each is one wheel for CPython 3.13, without dependencies.
wheels() {
	cat <<-'END'
		manylinux_2_28_x86_64 numpy cryptography pydantic-core memray orjson lxml grpcio pyzmq py-spy lief tokenizers
		musllinux_1_2_aarch64 pydantic-core cryptography orjson lxml pyzmq
		manylinux_2_31_armv7l pydantic-core cryptography
		manylinux_2_28_ppc64le pydantic-core lxml
		manylinux_2_28_s390x pydantic-core orjson
	END
}

npm=(
	@esbuild/linux-{x64,ia32,arm,arm64,loong64,mips64el,ppc64,riscv64,s390x} @esbuild/android-arm64 @esbuild/netbsd-x64
	@swc/core-linux-x64-gnu @swc/core-linux-arm64-musl
	@rollup/rollup-linux-{loong64-gnu,ppc64-gnu,riscv64-gnu,s390x-gnu} @rollup/rollup-{android-arm64,freebsd-x64}
	@biomejs/cli-linux-x64 @oven/bun-linux-x64 @typescript/native-preview-linux-x64
	@img/sharp-libvips-linux-x64 @parcel/watcher-linux-x64-glibc lightningcss-linux-x64-gnu sass-embedded-linux-x64
)

# Packages of sid for toolchains.
gcc=16 clang=23
compilers=(
	{g++,gfortran,gnat,gdc}-$gcc g++-$gcc-multilib clang-$clang lld-$clang flang-$clang mold ldc rustc golang-go dwz
)

say() { printf 'corpus-next.sh: %s\n' "$*" >&2; }
die() {
	say "error: $*"
	exit 1
}

# lost names and counts what could not be fetched. The rest is fetched all the same.
losses=0
lost() {
	say "left out: $*"
	losses=$((losses + 1))
}

usage() { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0"; }

# place DIR VERSION: puts $new, with its version, where DIR is. An interrupted
# run leaves no half package.
place() {
	printf '%s\n' "$2" >"$new/.version"
	mkdir -p "$(dirname "$1")"
	rm -rf "$1"
	mv "$new" "$1"
	mkdir "$new"
}

# wanted DIR: reports whether DIR is to be fetched.
wanted() { [[ $update == yes || ! -e $1/.version ]]; }

# The mirror with Debian itself among the system's sources, without a slash at
# its end. Only there a release that the system does not have can be expected.
mirror() {
	local found=${DEBIAN_MIRROR:-}
	if [[ -z $found ]]; then
		found=$(apt-get indextargets --format '$(SITE) $(ORIGIN) $(LABEL)' 2>/dev/null | sed -n 's/ Debian Debian$//p' | sort -u | head -n 1)
	fi
	if [[ -z $found ]]; then
		die "apt has no sources of Debian, or no lists of them ('apt-get update'): name a mirror in DEBIAN_MIRROR"
	fi
	printf '%s\n' "${found%/}"
}

# The private apt configuration, below $corpus/.apt: lists of packages last from
# one run to the next, as the fetched archives of an interrupted run do.
configure() {
	local release machine all=() seen=' '
	apt=$corpus/.apt
	mkdir -p "$apt"/{lists/partial,archives/partial}
	: >"$apt/status"
	: >"$apt/sources.list"
	for release in "${!machines[@]}"; do
		for machine in ${machines[$release]}; do
			if [[ $seen != *" $machine "* ]]; then
				seen+="$machine "
				all+=("\"$machine\";")
			fi
		done
	done
	cat >"$apt/apt.conf" <<-END
		#clear APT::Architectures;
		APT::Architectures { ${all[*]} };
		APT::Get::List-Cleanup "false";
		APT::Sandbox::User "";
		Acquire::Languages "none";
		Acquire::Retries "3";
		Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
		Dir::Etc::sourcelist "$apt/sources.list";
		Dir::Etc::sourceparts "/dev/null";
		Dir::Etc::preferences "/dev/null";
		Dir::Etc::preferencesparts "/dev/null";
		Dir::State "$apt";
		Dir::State::lists "lists";
		Dir::State::status "$apt/status";
		Dir::Cache "$apt";
		Dir::Cache::archives "archives";
		Dir::Cache::pkgcache "pkgcache.bin";
		Dir::Cache::srcpkgcache "srcpkgcache.bin";
	END
	export APT_CONFIG=$apt/apt.conf
}

# source_line MIRROR RELEASE MACHINES: a line of a list of sources.
source_line() {
	printf 'deb [arch=%s signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' "${3// /,}" "$1" "$2"
}

# read_lists MIRROR reads the list of each release and machine alone: while a mirror
# is updated, some lists do not fit the release's index, and apt then takes none of
# that release. The list of an earlier run is used, if there is one.
read_lists() {
	local release machine one=$apt/one.list have
	local -A readable=()
	for release in "${!machines[@]}"; do
		for machine in ${machines[$release]}; do
			source_line "$1" "$release" "$machine" >"$one"
			if ! apt-get -q update --error-on=any -o Dir::Etc::sourcelist="$one" >&2; then
				lost "the list of packages of $release for $machine cannot be read now"
			fi
			have=$(apt-get indextargets -o Dir::Etc::sourcelist="$one" --format '$(FILENAME)' 'Created-By: Packages' 2>/dev/null)
			if [[ $have == *binary-"$machine"_* ]]; then
				readable[$release]+="${readable[$release]:+ }$machine"
			fi
		done
	done
	for release in "${!readable[@]}"; do
		source_line "$1" "$release" "${readable[$release]}"
	done >"$apt/sources.list"
}

# known prints a line for each package of the lists: release, machine, name.
known() {
	local release machine file
	while read -r release machine file; do
		/usr/lib/apt/apt-helper cat-file "$file" | sed -n "s/^Package: /$release $machine /p"
	done < <(apt-get indextargets --format '$(CODENAME) $(ARCHITECTURE) $(FILENAME)' 'Created-By: Packages')
}

# resolve RELEASE MACHINE PATTERN: the newest package of that kind.
resolve() {
	local name
	while read -r name; do
		if [[ $name == $3 ]]; then
			printf '%s\n' "$name"
		fi
	done < <(sed -n "s/^$1 $2 //p" "$apt/known") | sort -V | tail -n 1
}

# missing prints a line for each package that is to be fetched: release, machine,
# package or pattern.
missing() {
	local release list machine pattern patterns have
	while read -r release list patterns; do
		if [[ $list == '*' ]]; then
			list=${machines[$release]}
		fi
		for machine in $list; do
			while read -r pattern; do
				have=("$corpus/$release-$machine"/$pattern/.version)
				if [[ $update == yes || ! -e ${have[0]:-} ]]; then
					printf '%s %s %s\n' "$release" "$machine" "$pattern"
				fi
			done < <(printf '%s\n' "$patterns" | tr ' ' '\n')
		done
	done < <(packages)
}

# fetch_packages calls apt once for each release: it reads the lists of all
# machines whenever it starts.
fetch_packages() {
	local release machine pattern name specs=() spec dir deb version from
	if [[ -z $(missing) ]]; then
		say "packages: all are there"
		return
	fi
	from=$(mirror)
	configure
	say "reading the lists of packages"
	read_lists "$from"
	known >"$apt/known"

	for release in "${!machines[@]}"; do
		specs=()
		while read -r machine pattern; do
			name=$(resolve "$release" "$machine" "$pattern")
			if [[ -z $name ]]; then
				lost "$release has no $pattern for $machine"
				continue
			fi
			specs+=("$name:$machine/$release")
		done < <(missing | sed -n "s/^$release //p")
		if ((${#specs[@]} == 0)); then
			continue
		fi

		say "fetching ${#specs[@]} packages of $release"
		dir=$apt/debs/$release
		mkdir -p "$dir"
		download "$dir" "${specs[@]}"
		for spec in "${specs[@]}"; do
			name=${spec%%:*} machine=${spec#*:} machine=${machine%/*}
			deb=("$dir/${name}_"*"_$machine.deb")
			if [[ ! -e ${deb[0]:-} ]]; then
				lost "$spec cannot be fetched now"
				continue
			fi
			version=$(dpkg-deb -f "$deb" Version)
			dpkg-deb -x "$deb" "$new"
			place "$corpus/$release-$machine/$name" "$version"
		done
		rm -rf "$dir"
	done
}

# download DIR PACKAGE...: fetches all at once; apt stops there at the first package
# that the mirror does not have, so it then tries each one that is missing alone.
download() {
	local dir=$1 spec name machine deb
	shift
	if (cd "$dir" && apt-get -q download "$@" >&2); then
		return
	fi
	for spec in "$@"; do
		name=${spec%%:*} machine=${spec#*:} machine=${machine%/*}
		deb=("$dir/${name}_"*"_$machine.deb")
		if [[ ! -e ${deb[0]:-} ]]; then
			(cd "$dir" && apt-get -q download "$spec" >&2) || true
		fi
	done
}

# fetch_wheels fetches each wheel alone: pip has one platform per call.
fetch_wheels() {
	local platform names name dir file found
	while read -r platform names; do
		for name in $names; do
			dir=$corpus/wheels/$name-$platform
			if ! wanted "$dir"; then
				continue
			fi
			say "fetching the wheel $name for $platform"
			found=()
			for file in $(platforms "$platform"); do
				found+=(--platform "$file")
			done
			rm -rf "$temp" && mkdir "$temp"
			if ! pip -q download --no-deps --only-binary=:all: --implementation cp --python-version 3.13 --abi cp313 --abi abi3 --abi none \
				"${found[@]}" -d "$temp" "$name" </dev/null >&2; then
				lost "$name: no wheel for $platform"
				continue
			fi
			file=("$temp"/*.whl)
			unpack_zip "$file" "$new"
			place "$dir" "$(basename "$file")"
		done
	done < <(wheels)
}

# platforms prints the platform and the older ones that pip is to accept.
platforms() {
	local machine=${1##@(many|musl)linux_+([0-9])_+([0-9])_}
	printf '%s\n' "$1"
	case $1 in
	manylinux*) printf '%s\n' "manylinux_2_"{5,12,17,24,26,27,28,31,34}"_$machine" manylinux{1,2010,2014}"_$machine" ;;
	musllinux*) printf '%s\n' "musllinux_1_"{1,2}"_$machine" ;;
	esac
}

# A wheel is a zip file; Python is there, since pip is.
unpack_zip() { python3 -m zipfile -e "$1" "$2"; }

fetch_npm() {
	local name dir file
	for name in "${npm[@]}"; do
		dir=$corpus/npm/${name//\//+}
		if ! wanted "$dir"; then
			continue
		fi
		say "fetching $name from npm"
		rm -rf "$temp" && mkdir "$temp"
		if ! (cd "$temp" && npm --silent pack "$name" >/dev/null); then
			lost "$name: npm pack failed"
			continue
		fi
		file=("$temp"/*.tgz)
		tar -C "$new" --no-same-owner -xzf "$file"
		place "$dir" "$(basename "$file")"
	done
}

# fetch_toolchains compiles with the programs of sid in a chroot, which only
# exists within mmdebstrap.
fetch_toolchains() {
	local dir=$corpus/toolchains
	if ! wanted "$dir"; then
		say "toolchains: there"
		return
	fi
	command -v mmdebstrap >/dev/null || die "toolchains: mmdebstrap is missing"
	say "making a chroot with the compilers of sid"
	rm -rf "$temp" && mkdir "$temp"
	chmod 755 "$temp"
	cp -r "$project/testdata/src" "$temp/src"
	cp "$project/scripts/corpus-next-build.sh" "$temp/build.sh"
	# The chroot uses the system's mirror and proxies, too.
	apt-config dump --format '%F "%v";%n' | grep -E '^Acquire::(Check-|https?::)' >"$temp/apt.conf" || true
	mmdebstrap -q --variant=apt --aptopt="$temp/apt.conf" \
		--include="$(IFS=, && printf '%s' "${compilers[*]}")" \
		--customize-hook="copy-in $temp/src $temp/build.sh /tmp" \
		--customize-hook='chroot "$1" bash /tmp/build.sh /tmp/src /tmp/out '"$gcc $clang" \
		--customize-hook="sync-out /tmp/out $new" \
		sid /dev/null "$(mirror)" >&2 || die "toolchains: mmdebstrap failed"
	place "$dir" "$(cat "$new/versions")"
}

# list prints the ELF files below the directories.
list() {
	local file magic
	while IFS= read -r -d '' file; do
		IFS= read -r -n 4 magic <"$file" || true
		if [[ $magic == $'\x7fELF' ]]; then
			printf '%s\n' "$file"
		fi
	done < <(find "$@" -type f -size +0 -print0 | LC_ALL=C sort -z)
}

main() {
	local mode=fetch set=all argument dirs
	update=no
	for argument in "$@"; do
		case $argument in
		all | packages | wheels | npm | toolchains) set=$argument ;;
		--list) mode=list ;;
		--update) update=yes ;;
		-h | --help) usage && exit 0 ;;
		*) usage >&2 && die "unknown argument $argument" ;;
		esac
	done

	if [[ $mode == list ]]; then
		case $set in
		all) dirs=("$corpus"/*/) ;;
		packages) dirs=("$corpus"/@(sid|trixie|bookworm)-*/) ;;
		*) dirs=("$corpus/$set"/) ;;
		esac
		if [[ ! -d ${dirs[0]:-} ]]; then
			die "nothing is in $corpus"
		fi
		LC_ALL=C list "${dirs[@]}"
		return
	fi

	mkdir -p "$corpus"
	exec 9>"$corpus/.lock"
	flock -n 9 || die "another run is at work in $corpus"
	temp=$corpus/.download
	new=$corpus/.new
	rm -rf "$new"
	mkdir "$new"
	trap 'rm -rf "$temp" "$new"' EXIT
	case $set in
	all)
		fetch_packages
		fetch_wheels
		fetch_npm
		;;
	*) "fetch_$set" ;;
	esac
	say "the next corpus is in $corpus"
	if ((losses > 0)); then
		say "$losses parts could not be had; the next run tries them again"
	fi
}

main "$@"
