#!/usr/bin/env bash
# Times dump_syms, and its peers where they are installed, on files of the
# corpus (corpus.sh) and prints a Markdown table: of each figure the median.
#
#   bench.sh [--files LIST] [--tools LIST] [--jobs LIST] [--inlines LIST] [--runs N]
#
#   --files    of python3.11d,libc,libjvm,vmlinux,ceph-osd (default: all)
#   --tools    of symkit,floor,breakpad,mozilla (default: symkit, floor and the
#              installed ones); floor inflates and reads the sections that are
#              needed and writes as many bytes as symkit did, and nothing else
#   --jobs     values of -j (default: 1,2); Breakpad's tool has one thread and no
#              -j, floor two
#   --inlines  of no,yes (default: both)
#   --runs     runs of each command (default: 5)
#
# symkit's dump_syms is built from this checkout. The peers are the programs
# $BREAKPAD_DUMP_SYMS and $MOZILLA_DUMP_SYMS name, else breakpad_dump_syms and
# mozilla_dump_syms on PATH. Needs GNU time (Debian's package "time").
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
corpus=${SYMKIT_CORPUS:-${XDG_CACHE_HOME:-$HOME/.cache}/symkit/corpus}
breakpad=${BREAKPAD_DUMP_SYMS:-$(command -v breakpad_dump_syms || true)}
mozilla=${MOZILLA_DUMP_SYMS:-$(command -v mozilla_dump_syms || true)}

die() {
	printf 'bench.sh: error: %s\n' "$*" >&2
	exit 1
}

usage() { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0"; }

# The largest file below directory $1 whose name matches $2.
largest() {
	[[ -d $1 ]] || return 0
	find "$1" -type f -name "$2" -printf '%s %p\n' 2>/dev/null | sort -n | tail -n 1 | cut -d ' ' -f 2-
}

path_of() {
	case $1 in
	python3.11d) largest "$corpus/python3.11-dbg" python3.11d ;;
	libc) largest "$corpus/libc6-dbg" '*.debug' ;;
	libjvm) largest "$corpus/openjdk-17-dbg" '*.debug' ;;
	vmlinux) largest "$corpus" 'vmlinux-*' ;;
	ceph-osd) largest "$corpus/ceph-osd-dbg" '*.debug' ;;
	*) die "unknown file $1" ;;
	esac
}

# Sets command to tool $1's, which writes its output to $temp/out or stdout.
command_line() {
	local tool=$1 inlines=$2 jobs=$3 file=$4
	case $tool in
	symkit) command=("$temp/dump_syms") ;;
	floor)
		command=("$temp/floor" "$file" "${output_bytes[$inlines]}" "$temp/out")
		return
		;;
	breakpad) command=("$breakpad") ;;
	mozilla) command=("$mozilla") ;;
	esac
	case $tool-$inlines in
	symkit-yes | breakpad-yes) command+=(-d) ;;
	mozilla-yes) command+=(--inlines) ;;
	esac
	if [[ $tool != breakpad ]]; then
		command+=(-j "$jobs" -o "$temp/out")
	fi
	command+=("$file")
}

# The size of symkit's output, by $inlines.
declare -A output_bytes=()

# Appends "wall cpu rss bytes" of one run of command to file $1.
run_once() {
	local figures=$1 status=0
	rm -f "$temp/out" "$temp/stdout"
	/usr/bin/time -o "$temp/time" -f '%e %U %S %M' "${command[@]}" \
		>"$temp/stdout" 2>"$temp/stderr" || status=$?
	if ((status != 0)); then
		printf 'bench.sh: exit code %d: %s\n' "$status" "${command[*]}" >&2
		tail -n 3 "$temp/stderr" >&2
		return 1
	fi
	if [[ ! -f $temp/out ]]; then
		mv "$temp/stdout" "$temp/out"
	fi
	tail -n 1 "$temp/time" | awk -v bytes="$(stat -c %s "$temp/out")" \
		'{ printf "%.2f %.2f %d %d\n", $1, $2 + $3, $4, bytes }' >>"$figures"
}

# The median of column $2 of file $1; the lower one of an even number of runs.
median() {
	awk -v column="$2" '{ print $column }' "$1" | sort -n |
		awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}

print_row() {
	local figures=$1
	shift
	if [[ ! -s $figures ]]; then
		printf '| %-11s | %-8s | %-7s | %-2s | %8s | %8s | %9s | %10s |\n' "$@" failed - - -
		return
	fi
	printf '| %-11s | %-8s | %-7s | %-2s | %8.2f | %8.2f | %9.0f | %10.1f |\n' "$@" \
		"$(median "$figures" 1)" "$(median "$figures" 2)" \
		"$(median "$figures" 3 | awk '{ print $1 / 1024 }')" \
		"$(median "$figures" 4 | awk '{ print $1 / 1e6 }')"
}

# All rows of one file. The tools take turns, so that a machine that gets
# slower or faster meanwhile does so for all of them.
bench_file() {
	local name=$1 file=$2 tool inlines jobs round row rows=()
	for inlines in "${inline_list[@]}"; do
		for tool in "${tool_list[@]}"; do
			for jobs in "${job_list[@]}"; do
				case $tool-$jobs in
				breakpad-"${job_list[0]}" | floor-"${job_list[0]}") rows+=("$tool $inlines -") ;;
				breakpad-* | floor-*) ;;
				*) rows+=("$tool $inlines $jobs") ;;
				esac
			done
		done
	done
	rm -f "$temp"/figures.*
	for ((round = 0; round < runs; round++)); do
		for row in "${!rows[@]}"; do
			read -r tool inlines jobs <<<"${rows[row]}"
			command_line "$tool" "$inlines" "$jobs" "$file"
			cat "$file" >/dev/null # no run waits for the disk
			run_once "$temp/figures.$row" || true
			if [[ $tool == symkit ]]; then
				output_bytes[$inlines]=$(stat -c %s "$temp/out" 2>/dev/null || echo 0)
			fi
		done
	done
	for row in "${!rows[@]}"; do
		read -r tool inlines jobs <<<"${rows[row]}"
		print_row "$temp/figures.$row" "$name" "$tool" "$inlines" "$jobs"
	done
}

# What the figures were measured on and with.
print_machine() {
	local tool version
	printf '%s cores, %s, %s, %s\n' "$(nproc)" \
		"$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sort -u | head -n 1)" \
		"$(uname -srm)" "$(go version | cut -d ' ' -f 3)"
	for tool in "${tool_list[@]}"; do
		case $tool in
		symkit) version=$(git -C "$root" describe --always --dirty 2>/dev/null || echo 'no git checkout') ;;
		floor) continue ;;
		breakpad) version=$breakpad ;; # it does not tell its version
		mozilla) version=$("$mozilla" --version) ;;
		esac
		printf '%s: %s\n' "$tool" "$version"
	done
	printf 'median of %d; MB are 10^6 bytes, MiB 2^20\n\n' "$runs"
}

# Refuses tools that are unknown or not there, and builds ours.
prepare_tools() {
	local tool
	for tool in "${tool_list[@]}"; do
		case $tool in
		symkit) (cd "$root" && CGO_ENABLED=0 go build -o "$temp/dump_syms" ./cmd/dump_syms) ;;
		floor)
			[[ ${tool_list[0]} == symkit ]] || die "floor writes as much as symkit: --tools symkit,floor"
			(cd "$root" && CGO_ENABLED=0 go build -o "$temp/floor" ./scripts/floor)
			;;
		breakpad) [[ -x $breakpad ]] || die "Breakpad's dump_syms is not there; set BREAKPAD_DUMP_SYMS" ;;
		mozilla) [[ -x $mozilla ]] || die "Mozilla's dump_syms is not there; set MOZILLA_DUMP_SYMS" ;;
		*) die "unknown tool $tool" ;;
		esac
	done
}

parse_arguments() {
	local -A value=([files]='python3.11d,libc,libjvm,vmlinux,ceph-osd' [jobs]='1,2' [inlines]='no,yes' [runs]=5)
	value[tools]=symkit,floor${breakpad:+,breakpad}${mozilla:+,mozilla}
	while (($# > 0)); do
		case $1 in
		-h | --help) usage && exit 0 ;;
		--files | --tools | --jobs | --inlines | --runs)
			(($# > 1)) || die "$1 needs a value"
			value[${1#--}]=$2
			shift 2
			;;
		*) usage >&2 && die "unknown argument $1" ;;
		esac
	done
	IFS=, read -r -a file_list <<<"${value[files]}"
	IFS=, read -r -a tool_list <<<"${value[tools]}"
	IFS=, read -r -a job_list <<<"${value[jobs]}"
	IFS=, read -r -a inline_list <<<"${value[inlines]}"
	runs=${value[runs]}
	[[ $runs =~ ^[1-9][0-9]*$ ]] || die "--runs $runs: not a number of runs"
	for inlines in "${inline_list[@]}"; do
		[[ $inlines == yes || $inlines == no ]] || die "--inlines $inlines: neither yes nor no"
	done
}

main() {
	local name file
	local -A paths=()
	parse_arguments "$@"
	[[ -x /usr/bin/time ]] || die "GNU time is not there (Debian: apt-get install time)"
	temp=$(mktemp -d)
	trap 'rm -rf "$temp"' EXIT
	for name in "${file_list[@]}"; do
		file=$(path_of "$name")
		[[ -n $file ]] || die "$name is not in $corpus; scripts/corpus.sh fetches it"
		paths[$name]=$file
	done
	prepare_tools
	print_machine
	printf '| %-11s | %-8s | %-7s | %-2s | %8s | %8s | %9s | %10s |\n' \
		file tool inlines -j 'wall s' 'cpu s' 'peak MiB' 'output MB'
	printf '|:--|:--|:--|--:|--:|--:|--:|--:|\n'
	for name in "${file_list[@]}"; do
		bench_file "$name" "${paths[$name]}"
	done
}

main "$@"
