SUMMARY = "Breakpad symbol files from ELF"
LICENSE = "BSD-3-Clause"
LIC_FILES_CHKSUM = "file://share/doc/symkit/LICENSE;md5=${SYMKIT_LICENSE_MD5}"

# Where the release is, its version and the sums of its files: of SHA256SUMS.
SYMKIT_URL ?= "https://example.org/symkit"
SYMKIT_VERSION ?= "1.0.0"
SYMKIT_SHA256 ?= ""
SYMKIT_LICENSE_MD5 ?= "ad4064e50084ea94511432d87d1b29d3"
PV = "${@d.getVar('SYMKIT_VERSION').lstrip('v')}"

inherit native

SYMKIT_ARCH = "${@{'x86_64': 'amd64', 'aarch64': 'arm64', 'armv7l': 'armv7', 'armv8l': 'armv7', 'i586': '386', 'i686': '386'}.get(d.getVar('BUILD_ARCH'), d.getVar('BUILD_ARCH'))}"
SRC_URI = "${SYMKIT_URL}/symkit-${PV}-linux-${SYMKIT_ARCH}.tar.gz"
SRC_URI[sha256sum] = "${SYMKIT_SHA256}"
# Before Yocto 5.1 there is no UNPACKDIR: archives are unpacked into WORKDIR.
S = "${@d.getVar('UNPACKDIR') or d.getVar('WORKDIR')}/symkit-${PV}-linux-${SYMKIT_ARCH}"

# Releases are stripped.
INHIBIT_DEFAULT_DEPS = "1"
INHIBIT_SYSROOT_STRIP = "1"
do_configure[noexec] = "1"
do_compile[noexec] = "1"

do_install() {
	install -d ${D}${bindir}
	cp -R --no-preserve=ownership ${S}/bin/. ${D}${bindir}/
}
