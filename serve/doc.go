// Package serve is a symbol server: an http.Handler over a directory or a bucket, which keeps no state besides. Any
// number of servers can share one store.
//
//	server, err := serve.New(ctx, "/srv/symbols", serve.Options{})
//	if err != nil {
//		return err
//	}
//	defer server.Close()
//	return http.ListenAndServe("localhost:8080", server)
//
// The server gives symbol files to stackwalk, minidump-stackwalk and all that read NAME/ID/FILE from symbol servers,
// and ELF files to clients of debuginfod.
package serve
