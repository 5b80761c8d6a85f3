"""Symbols of programs: symkit_symbols, and symkit_release, which fetches the programs.

Copy this file into a package of the workspace, //symkit here. In MODULE.bazel (Bazel 7 and
later):

    symkit_release = use_repo_rule("//symkit:symkit.bzl", "symkit_release")
    symkit_release(name = "symkit", url = "https://...", version = "1.2.3", sha256 = {"linux-amd64": "..."})

In WORKSPACE (Bazel 4 and later) the first of these lines is

    load("//symkit:symkit.bzl", "symkit_release")

In BUILD:

    load("//symkit:symkit.bzl", "symkit_symbols")
    symkit_symbols(name = "app_symbols", binary = ":app")
"""

def _machine(ctx):
    """Returns the processor of the system that builds. Before version 5, Bazel does not know it."""
    if hasattr(ctx.os, "arch"):
        return ctx.os.arch
    if ctx.os.name.lower().startswith("windows"):
        return "amd64"
    result = ctx.execute(["uname", "-m"])
    if result.return_code != 0:
        fail("symkit_release: uname -m: " + result.stderr)
    return result.stdout.strip()

# The processors of archives, by the names that uname and Java have for them.
_PROCESSORS = {
    "aarch64": "arm64",
    "arm": "armv7",
    "armv7l": "armv7",
    "armv8l": "armv7",
    "i386": "386",
    "i586": "386",
    "i686": "386",
    "x86": "386",
    "x86_64": "amd64",
}

def _release_impl(ctx):
    machine = _machine(ctx)
    processor = _PROCESSORS.get(machine, machine)
    name = ctx.os.name.lower()
    system = "macos" if name.startswith("mac") else "windows" if name.startswith("windows") else name
    target = system + "-" + processor
    sha256 = ctx.attr.sha256.get(target)
    if not sha256:
        fail("symkit_release: sha256 has no entry for %s: take it from SHA256SUMS of the release" % target)
    version = ctx.attr.version
    archive = "symkit-%s-%s" % (version[1:] if version.startswith("v") else version, target)
    suffix = ".zip" if system == "windows" else ".tar.gz"
    ctx.download_and_extract(url = ctx.attr.url + "/" + archive + suffix, sha256 = sha256, stripPrefix = archive)

    # The programs have one name on all systems.
    exe = ".exe" if system == "windows" else ""
    rules = "package(default_visibility = [\"//visibility:public\"])\n"
    for program in ["dump_syms", "symcheck", "stackwalk", "symaddr", "symserve"]:
        rules += "filegroup(name = \"%s\", srcs = [\"bin/%s%s\"])\n" % (program, program, exe)
    ctx.file("BUILD.bazel", rules)

symkit_release = repository_rule(
    implementation = _release_impl,
    attrs = {
        "sha256": attr.string_dict(mandatory = True, doc = "SHA-256 of archives, by system: linux-amd64, macos-arm64, ..."),
        "url": attr.string(mandatory = True, doc = "Where the files of the release are."),
        "version": attr.string(mandatory = True, doc = "Version, without the v."),
    },
    doc = "The programs of a release of symkit, for the system that builds.",
)

def _symbols_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + ".sym")
    args = ctx.actions.args()
    args.add("--inlines")
    if ctx.attr.check:
        args.add("--check")
        args.add("--strict")
    args.add_all(ctx.attr.flags)
    args.add("-o", out)
    args.add(ctx.file.binary)
    ctx.actions.run(
        executable = ctx.executable.dump_syms,
        arguments = [args],
        inputs = depset([ctx.file.binary] + ctx.files.debug),
        outputs = [out],
        mnemonic = "DumpSyms",
        progress_message = "Symbols of %{label}",
    )
    return [DefaultInfo(files = depset([out]))]

symkit_symbols = rule(
    implementation = _symbols_impl,
    attrs = {
        "binary": attr.label(mandatory = True, allow_single_file = True, doc = "Program or shared library, built with -g and not stripped."),
        "check": attr.bool(default = True, doc = "Verify the symbols, and fail if something was lost."),
        "debug": attr.label_list(allow_files = True, doc = "Files that the debug information refers to: .dwo, .dwp."),
        "dump_syms": attr.label(
            default = "@symkit//:dump_syms",
            executable = True,
            allow_single_file = True,
            cfg = "exec",
            doc = "The program.",
        ),
        "flags": attr.string_list(doc = "More flags of dump_syms."),
    },
    doc = "NAME.sym: the symbols of a program.",
)
