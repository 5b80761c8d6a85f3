//! dump-writer WRITER DIR LIBRARY...: loads and calls the libraries as testdata/src/apkload.c does; the last one crashes,
//! and WRITER (rust, breakpad; with the feature of its name: crashpad) leaves a minidump in DIR.

use std::ffi::{c_char, c_int, c_void, CString};
use std::path::Path;

use crash_handler::{make_crash_event, CrashContext, CrashEventResult, CrashHandler};
use minidump_writer::minidump_writer::MinidumpWriterConfig;
use minidump_writer::CrashContextExt;

extern "C" {
    fn apkload(argc: c_int, argv: *mut *mut c_char) -> c_int;
    fn announce(names: *const *const c_char);
}

/// A child of the crashed process writes the dump of its parent.
fn rust(dir: &Path) {
    let path = dir.join("rust.dmp");
    let event = move |crash: &CrashContext| {
        let parent = unsafe { libc::getpid() };
        let child = unsafe { libc::fork() };
        if child == 0 {
            // On a stack of its own: that of signals is too small.
            let (path, crash) = (path.clone(), crash.clone());
            let writer = std::thread::spawn(move || {
                let mut config = MinidumpWriterConfig::new(parent, crash.tid);
                config.set_crash_context(CrashContextExt { inner: crash });
                let mut file = std::fs::File::create(&path).unwrap();
                config.write(&mut file).unwrap();
            });
            unsafe { libc::_exit(writer.join().is_err() as c_int) };
        }
        let mut status = 0;
        unsafe { libc::waitpid(child, &mut status, 0) };
        CrashEventResult::Handled(false)
    };
    let handler = CrashHandler::attach(unsafe { make_crash_event(event) }).unwrap();
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY) };
    std::mem::forget(handler);
}

extern "C" fn written(_path: *const u8, _length: usize, _context: *mut c_void) {}

fn breakpad(dir: &Path) {
    let dir = dir.to_str().unwrap();
    unsafe {
        breakpad_sys::attach_exception_handler(
            dir.as_ptr(),
            dir.len(),
            written,
            std::ptr::null_mut(),
            breakpad_sys::INSTALL_BOTH_HANDLERS,
        )
    };
}

#[cfg(not(feature = "crashpad"))]
fn crashpad(_dir: &Path) {
    panic!("built without the feature crashpad");
}

#[cfg(feature = "crashpad")]
fn crashpad(dir: &Path) {
    use sentry_contrib_native_sys as sentry;
    let text = |path: &Path| CString::new(path.to_str().unwrap()).unwrap();
    unsafe {
        let options = sentry::options_new();
        sentry::options_set_handler_path(options, text(Path::new(env!("CRASHPAD_HANDLER"))).as_ptr());
        sentry::options_set_database_path(options, text(dir).as_ptr());
        assert_eq!(sentry::init(options), 0);
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let dir = Path::new(&args[2]);
    match args[1].as_str() {
        "rust" => rust(dir),
        "breakpad" => breakpad(dir),
        "crashpad" => crashpad(dir),
        writer => panic!("no writer {writer}"),
    }
    let names: Vec<*const c_char> =
        args[3..].iter().map(|a| CString::new(a.as_str()).unwrap().into_raw() as *const c_char).collect();
    if args[1] == "crashpad" {
        unsafe { announce(names.as_ptr()) };
    }
    let mut argv: Vec<*mut c_char> =
        args[2..].iter().map(|a| CString::new(a.as_str()).unwrap().into_raw()).collect();
    argv.push(std::ptr::null_mut());
    std::process::exit(unsafe { apkload(argv.len() as c_int - 1, argv.as_mut_ptr()) });
}
