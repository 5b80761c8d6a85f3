fn main() {
    let source = "../../../../testdata/src/apkload.c";
    println!("cargo:rerun-if-changed={source}");
    println!("cargo:rerun-if-changed=src/announce.c");
    // The loader as testdata/apk has it, with another name for its main function, and what follows when a library has
    // been mapped.
    cc::Build::new()
        .file(source)
        .define("main", "apkload")
        .define("close", "announce_library")
        .opt_level(1)
        .debug(true)
        .compile("apkload");
    cc::Build::new().file("src/announce.c").warnings(false).compile("announce");
    // Where Crashpad's handler has been built.
    let handler = std::env::var("DEP_SENTRY_NATIVE_CRASHPAD_HANDLER").unwrap_or_default();
    println!("cargo:rustc-env=CRASHPAD_HANDLER={handler}");
}
