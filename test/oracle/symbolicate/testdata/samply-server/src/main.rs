//! An HTTP server of samply's API over a directory of Breakpad symbol files.
//!
//!     samply-server DIR INDEX-DIR
//!
//! The first line of its output is its address. It answers as many requests at a time as there are processors.

use std::io::Read;
use std::sync::Arc;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let config = wholesym::SymbolManagerConfig::new()
        .breakpad_symbols_dir(&args[1])
        .breakpad_symindex_cache_dir(&args[2]);
    let symbols = Arc::new(wholesym::SymbolManager::with_config(config));
    let runtime = Arc::new(tokio::runtime::Runtime::new().unwrap());
    let server = Arc::new(tiny_http::Server::http("127.0.0.1:0").unwrap());
    println!("http://{}", server.server_addr());
    let workers: Vec<_> = (0..std::thread::available_parallelism().unwrap().get())
        .map(|_| {
            let (symbols, runtime, server) = (symbols.clone(), runtime.clone(), server.clone());
            std::thread::spawn(move || loop {
                let Ok(mut request) = server.recv() else { return };
                let mut body = String::new();
                if request.as_reader().read_to_string(&mut body).is_err() {
                    continue;
                }
                let answer = runtime.block_on(symbols.query_json_api(request.url(), &body));
                let _ = request.respond(tiny_http::Response::from_string(answer));
            })
        })
        .collect();
    for w in workers {
        let _ = w.join();
    }
}
