package main

import (
	"fmt"
	"slices"
	"strings"
)

// target is a system that programs are built for. Its strings are the names that Go, the
// package formats and container images have for the system.
type target struct {
	os, arch string // of Go
	variant  string // GOARM
	deb, rpm string // architecture of packages; empty if there is no package
	platform string // of container images, below linux/; empty if there is no image
}

// targets are all systems of a release.
var targets = []target{
	{os: "linux", arch: "amd64", deb: "amd64", rpm: "x86_64", platform: "amd64"},
	{os: "linux", arch: "arm64", deb: "arm64", rpm: "aarch64", platform: "arm64"},
	{os: "linux", arch: "arm", variant: "7", deb: "armhf", rpm: "armv7hl", platform: "arm/v7"},
	{os: "linux", arch: "386", deb: "i386", rpm: "i686", platform: "386"},
	{os: "linux", arch: "riscv64", deb: "riscv64", rpm: "riscv64", platform: "riscv64"},
	{os: "linux", arch: "ppc64le", deb: "ppc64el", rpm: "ppc64le", platform: "ppc64le"},
	{os: "linux", arch: "s390x", deb: "s390x", rpm: "s390x", platform: "s390x"},
	{os: "darwin", arch: "amd64"},
	{os: "darwin", arch: "arm64"},
	{os: "windows", arch: "amd64"},
	{os: "windows", arch: "arm64"},
	{os: "freebsd", arch: "amd64"},
	{os: "freebsd", arch: "arm64"},
}

// String returns the name on the command line, linux/amd64.
func (t target) String() string { return t.os + "/" + t.arch }

// name returns the name in the names of files, linux-armv7.
func (t target) name() string {
	system := t.os
	if system == "darwin" {
		system = "macos"
	}
	if t.variant != "" {
		return system + "-" + t.arch + "v" + t.variant
	}
	return system + "-" + t.arch
}

// exe returns the end of the names of programs.
func (t target) exe() string {
	if t.os == "windows" {
		return ".exe"
	}
	return ""
}

// chooseTargets returns the targets with the given names, all without names.
func chooseTargets(names []string) ([]target, error) {
	if len(names) == 0 {
		return targets, nil
	}

	var all []string
	for _, t := range targets {
		all = append(all, t.String())
	}
	var chosen []target
	for _, name := range names {
		i := slices.Index(all, name)
		if i < 0 {
			return nil, fmt.Errorf("--target %s: want one of %s", name, strings.Join(all, ", "))
		}
		chosen = append(chosen, targets[i])
	}
	return chosen, nil
}
