#!/usr/bin/env bash
# The work of action.yml, whose inputs are in SYMKIT_...: fetches the archive for this
# system, verifies its SHA-256, adds the programs to PATH, dumps.
set -euo pipefail
version=${SYMKIT_VERSION:-$SYMKIT_REF}
version=${version#v}
case $version in
[0-9]*.[0-9]*) ;;
*) echo "::error::symkit: ${SYMKIT_VERSION:-${SYMKIT_REF:-no tag}} is no version: set the input version (with: version: 1.2.3)," \
	"which an action that is pinned to a commit or a branch needs, or use the action with a tag"; exit 1 ;;
esac
url=${SYMKIT_URL:-${GITHUB_SERVER_URL:-https://github.com}/$SYMKIT_REPOSITORY/releases/download/v$version}

case $(uname -s) in
Linux) system=linux end=tar.gz ;;
Darwin) system=macos end=tar.gz ;;
FreeBSD) system=freebsd end=tar.gz ;;
*) system=windows end=zip ;;
esac
case $(uname -m) in
x86_64 | amd64) processor=amd64 ;;
aarch64 | arm64) processor=arm64 ;;
armv7l | armv8l) processor=armv7 ;;
i[3-6]86) processor=386 ;;
*) processor=$(uname -m) ;;
esac

dir=${RUNNER_TEMP:?}/symkit-$version
name=symkit-$version-$system-$processor
mkdir -p "$dir"
cd "$dir"
for file in "$name.$end" SHA256SUMS; do
	curl -fsSL --retry 3 -o "$file" "$url/$file" || { echo "::error::symkit: $url/$file cannot be fetched"; exit 1; }
done

# Exactly one line must be about the archive.
grep -F "  $name.$end" SHA256SUMS >sum
if command -v sha256sum >/dev/null; then sha256sum -c sum; else shasum -a 256 -c sum; fi
case $end in
zip) unzip -qo "$name.$end" ;;
*) tar xzf "$name.$end" ;;
esac
cd - >/dev/null

export PATH="$dir/$name/bin:$PATH"
if [ "$system" = windows ]; then cygpath -w "$dir/$name/bin" >>"$GITHUB_PATH"; else echo "$dir/$name/bin" >>"$GITHUB_PATH"; fi
dump_syms --version

paths=()
while IFS= read -r path; do
	[ -z "$path" ] || paths+=("$path")
done <<<"$SYMKIT_PATHS"
[ ${#paths[@]} -gt 0 ] || exit 0
# shellcheck disable=SC2086 # flags are separated by spaces
dump_syms $SYMKIT_FLAGS -R -s "$SYMKIT_STORE" -- "${paths[@]}"
