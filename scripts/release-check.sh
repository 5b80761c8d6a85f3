#!/usr/bin/env bash
# Checks the files of a release, as far as this machine has the programs for that:
#
#   scripts/release-check.sh dist [OTHER]
#
# With OTHER, the files of another build, both must be equal. Needs Debian, root (chroot), the
# packages mandoc, man-db, bash-completion, zsh, fish, ruby, rpm, skopeo, umoci, cmake and
# bazel-bootstrap. The fixtures are compared by scripts/everywhere.sh --dist.
set -euo pipefail
dist=$(cd "$1" && pwd)
other=${2:+$(cd "$2" && pwd)}
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ok() { printf 'ok    %s\n' "$*"; }

(cd "$dist" && sha256sum --quiet --strict -c SHA256SUMS)
[ "$(wc -l <"$dist/SHA256SUMS")" = "$(find "$dist" -type f ! -name SHA256SUMS | wc -l)" ]
ok "SHA256SUMS of $(wc -l <"$dist/SHA256SUMS") files"
if [ -n "$other" ]; then
	diff -r "$dist" "$other"
	ok "equal to $other"
fi

# The archive for this processor: programs run in a root that has nothing else.
mkdir "$work/root"
tar xzf "$dist"/symkit-*-linux-amd64.tar.gz --strip-components=1 -C "$work/root"
cp testdata/elf/hello-x86_64-gcc12-O2-dw5.elf "$work/root/hello"
chroot "$work/root" /bin/dump_syms -o hello.sym hello
chroot "$work/root" /bin/symcheck hello.sym hello >/dev/null
for p in dump_syms symcheck stackwalk symaddr symserve; do
	chroot "$work/root" "/bin/$p" --version | grep -q "^$p v[0-9].* (commit [0-9a-f]\{12\}, .*, go1\..*, linux/amd64)\$"
	[ "$(head -c 4 "$work/root/bin/$p" | tail -c 3)" = ELF ] && ! readelf -lW "$work/root/bin/$p" | grep -q INTERP
done
ok "programs run in an empty root"

for f in "$work"/root/bin/*; do
	[ -f "$work/root/share/man/man1/$(basename "$f").1" ]
done
for f in "$work"/root/share/man/man1/*; do
	[ -z "$(mandoc -Tlint -Wwarning "$f" | tee /dev/stderr)" ]
done
for f in "$work"/root/share/bash-completion/completions/*; do bash -n "$f"; done
for f in "$work"/root/share/zsh/site-functions/*; do zsh -n "$f"; done
for f in "$work"/root/share/fish/vendor_completions.d/*; do fish --no-execute "$f"; done
ok "manual pages and completions have no errors"

# contents prints paths of packages with the names that they have in an archive.
contents() {
	sed -e 's|^\.\?/usr/||' -e 's|\.1\.gz$|.1|' -e 's|/vendor-completions/|/site-functions/|' \
		-e 's|doc/symkit/copyright|doc/symkit/LICENSE|' | LC_ALL=C sort
}
tar tzf "$dist"/symkit-*-linux-amd64.tar.gz | sed 's|^[^/]*/||' | grep -v -e '/$' -e '^$' | contents >"$work/contents"
dpkg-deb --fsys-tarfile "$dist"/*_amd64.deb | tar t | grep -v '/$' | contents | diff "$work/contents" -
rpm -qp --nosignature --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "$dist"/*.x86_64.rpm | sed -n 's/^[^d][^ ]* //p' | contents | diff "$work/contents" -
ok "the archive and the packages have the same $(wc -l <"$work/contents") files"

# A root with this machine's dpkg, man, bash, zsh and fish, as a user has them. The packages of a
# machine's Debian are copied, since a network may be missing, and mounts may be forbidden.
system=$work/system
for dir in bin lib lib32 lib64 libx32 sbin; do
	mkdir -p "$system/usr/$dir"
	if [ -L "/$dir" ]; then cp -a "/$dir" "$system/"; fi
done
packages=$(apt-cache depends --recurse --installed --no-recommends --no-suggests --no-conflicts --no-breaks \
	--no-replaces --no-enhances base-files bash bash-completion coreutils dash diffutils dpkg fish grep libc-bin man-db \
	ncurses-base perl-base sed tar zsh | grep '^[a-z0-9]' | sort -u)
# shellcheck disable=SC2086 # packages are separated by line breaks; some are virtual, and have no files
{ dpkg -L $packages 2>/dev/null || true; } | grep '^/.' | LC_ALL=C sort -u | while read -r f; do
	if [ -e "$f" ] || [ -L "$f" ]; then echo "$f"; fi
done >"$work/files"
tar -c --no-recursion -C / -T "$work/files" 2>/dev/null | tar -x -C "$system"
cp -a /var/lib/dpkg "$system/var/lib/"
cp -a /bin/sh "$system/usr/bin/"
cp -a /etc/alternatives /etc/passwd /etc/group /etc/profile "$system/etc/"
mkdir -p "$system/dev" "$system/tmp"
mknod -m 666 "$system/dev/null" c 1 3

# files lists a root, without what dpkg and man write about all packages.
files() { (cd "$1" && find . -path ./var -prune -o -path ./root -prune -o ! -type d -print | LC_ALL=C sort); }
files "$system" >"$work/before"

# Packages install, own all of their files, are found by man and the shells, and leave nothing
# after removal.
for deb in "$dist"/*_amd64.deb; do
	cp "$deb" "$system/tmp/symkit.deb"
	chroot "$system" dpkg -i /tmp/symkit.deb >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
	rm "$system/tmp/symkit.deb"
	chroot "$system" dump_syms --version >/dev/null
	[ -f "$system/usr/share/doc/symkit/copyright" ]
	scripts/release-shells.py "$system"
	chroot "$system" dpkg --purge symkit >"$work/log" 2>&1
	files "$system" | diff "$work/before" -
	ok "$(basename "$deb") installs, is found by man, bash, zsh and fish, and is removed"
done

# Systems of RPM have zsh's completions of packages in site-functions of /usr, where Debian's zsh
# looks in /usr/local only.
mkdir -p "$system/usr/local/share/zsh"
ln -s /usr/share/zsh/site-functions "$system/usr/local/share/zsh/site-functions"
for rpm in "$dist"/*.x86_64.rpm; do
	rpm --root "$system" --dbpath /var/lib/rpm --initdb
	rpm --root "$system" --dbpath /var/lib/rpm --nosignature --ignorearch --nodeps -i "$rpm"
	chroot "$system" symcheck --version >/dev/null
	rpm --root "$system" --dbpath /var/lib/rpm -V symkit
	scripts/release-shells.py "$system"
	rpm --root "$system" --dbpath /var/lib/rpm -e symkit
	rm -f "$system/usr/local/share/zsh/site-functions"
	files "$system" | diff "$work/before" -
	ok "$(basename "$rpm") installs, verifies, is found by man, bash, zsh and fish, and is removed"
done

# What make install installs.
make -s install DESTDIR="$system" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
scripts/release-shells.py "$system"
make -s uninstall DESTDIR="$system" >"$work/log" 2>&1
files "$system" | diff "$work/before" -
ok "make install is found by man, bash, zsh and fish; make uninstall removes all"

# The image: each processor's manifest is complete, and its programs run in its root.
mkdir "$work/oci"
tar xf "$dist"/symkit-*-oci.tar -C "$work/oci"
tag=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"])' "$work/oci/index.json")
skopeo copy --quiet --all "oci:$work/oci:$tag" "oci:$work/copied:copied"
images=$(skopeo inspect --raw "oci:$work/oci:$tag" | python3 -c 'import json,sys; print(len(json.load(sys.stdin)["manifests"]))')
skopeo copy --quiet --override-os linux --override-arch amd64 "oci:$work/oci:$tag" "oci:$work/one:one"
umoci unpack --image "$work/one:one" "$work/bundle" >/dev/null 2>&1
cp testdata/elf/hello-x86_64-gcc12-O2-dw5.elf "$work/bundle/rootfs/hello"
chroot "$work/bundle/rootfs" /usr/bin/dump_syms /hello | cmp - <(sed 's/^$//' "$work/root/hello.sym")
grep -q 'BEGIN CERTIFICATE' "$work/bundle/rootfs/etc/ssl/certs/ca-certificates.crt"
ok "image of $images processors"

ruby -c "$dist/symkit.rb" >/dev/null
ruby -e 'class Formula; def self.test; end; def self.method_missing(n, *a) = (yield if block_given?); end; load ARGV[0]' "$dist/symkit.rb"
ok "formula"

python3 - "$dist"/*.cdx.json <<'PY'
import json, sys
bill = json.load(open(sys.argv[1]))
assert bill["bomFormat"] == "CycloneDX" and bill["specVersion"] == "1.6"
names = [c["name"] for c in bill["components"] if c["type"] == "library"]
assert "std" in names and "github.com/alecthomas/kong" in names, names
assert all(c["licenses"] for c in bill["components"] if c["type"] == "library")
PY
ok "bill of materials"

# The GitHub Action against a server of this machine; then CMake with what it fetched.
version=$(basename "$dist"/symkit-*-oci.tar -oci.tar)
version=${version#symkit-}
mkdir -p "$work/job/temp"
PYTHONUNBUFFERED=1 python3 - "$dist" "$work/port" <<'PY' &
import functools, http.server, sys
class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass

handler = functools.partial(Handler, directory=sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
with open(sys.argv[2], "w") as f:
    print(server.server_port, file=f)
server.serve_forever()
PY
server=$!
trap 'kill $server; rm -rf "$work"' EXIT
until [ -s "$work/port" ]; do sleep 0.1; done
cp testdata/elf/hello-x86_64-gcc12-O2-dw5.elf "$work/job/hello"
(
	export RUNNER_TEMP=$work/job/temp GITHUB_PATH=$work/job/path SYMKIT_REF=
	SYMKIT_URL=http://127.0.0.1:$(cat "$work/port")
	export SYMKIT_URL SYMKIT_VERSION=v$version SYMKIT_PATHS=hello SYMKIT_STORE=symbols SYMKIT_FLAGS="--inlines --check --strict"
	action=$PWD/packaging/action.sh
	cd "$work/job"
	bash "$action" >/dev/null 2>&1
	[ -n "$(find symbols -name hello.sym)" ] && "$(cat path)/symcheck" --version >/dev/null
	! SYMKIT_VERSION=9.9.9 bash "$action" >/dev/null 2>&1
)
ok "GitHub Action"

mkdir "$work/app"
cat >"$work/app/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.16)
project(app C)
set(CMAKE_BUILD_TYPE RelWithDebInfo)
find_package(symkit REQUIRED)
add_executable(app app.c)
add_library(shop SHARED app.c)
symkit_add_symbols(app)
symkit_add_symbols(shop OUTPUT shop.sym ARGS --no-cfi)
CMAKE
echo 'int main(void) { return 0; }' >"$work/app/app.c"
cmake -S "$work/app" -B "$work/app/build" -DCMAKE_PREFIX_PATH="$work/root" >/dev/null
cmake --build "$work/app/build" >/dev/null
[ -n "$(find "$work/app/build/symbols" -name app.sym)" ] && [ -s "$work/app/build/shop.sym" ]
sed -i 's/symkit REQUIRED/symkit 99.0 REQUIRED/' "$work/app/CMakeLists.txt"
if cmake -S "$work/app" -B "$work/app/other" -DCMAKE_PREFIX_PATH="$work/root" >/dev/null 2>&1; then exit 1; fi
ok "CMake"

# The Bazel rule, with programs of the same server. The program is compiled by a genrule,
# since Bazel fetches its rules for C from another one.
mkdir -p "$work/bazel/symkit"
cp packaging/bazel/symkit.bzl "$work/bazel/symkit/"
touch "$work/bazel/symkit/BUILD"
cat >"$work/bazel/WORKSPACE" <<BAZEL
workspace(name = "shop")
load("//symkit:symkit.bzl", "symkit_release")
symkit_release(
    name = "symkit",
    url = "http://127.0.0.1:$(cat "$work/port")",
    version = "$version",
    sha256 = {"linux-amd64": "$(awk -v name="symkit-$version-linux-amd64.tar.gz" '$2 == name { print $1 }' "$dist/SHA256SUMS")"},
)
BAZEL
cat >"$work/bazel/BUILD" <<'BAZEL'
load("//symkit:symkit.bzl", "symkit_symbols")
genrule(name = "app", srcs = ["app.c"], outs = ["app.elf"], cmd = "cc -g -Wl,--build-id -o $@ $<")
symkit_symbols(name = "app_symbols", binary = "app.elf", flags = ["--no-cfi"])
symkit_symbols(name = "text_symbols", binary = "app.c")
BAZEL
cp "$work/app/app.c" "$work/bazel/"
(
	cd "$work/bazel"
	run() { bazel --batch --output_user_root="$work/bazel.out" build "$@" >"$work/bazel.log" 2>&1; }
	run //:app_symbols || { cat "$work/bazel.log"; exit 1; }
	grep -q '^FUNC .* main$' bazel-bin/app_symbols.sym
	! run //:text_symbols && grep -q 'app.c: .*not an ELF file' "$work/bazel.log"
	chmod -R u+w "$work/bazel.out" # Bazel's directories are read-only
)
ok "Bazel"
