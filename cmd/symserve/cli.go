package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"symkit/internal/command"
	"symkit/lookup/source"
	"symkit/serve"
	"symkit/serve/gate"
)

const description = `Serve the symbols in a store, and take more: a symbol server without any state but the store.

STORE is a directory, or a bucket s3://BUCKET/PREFIX, that dump_syms --store fills. Any number of servers may share one.

Examples:

  symserve /srv/symbols                             symbols at http://localhost:8080

  symserve --listen=:80 s3://symbols/prod           of a bucket, for everybody

  symserve --listen=:443 --tls-cert=cert.pem --tls-key=key.pem /srv/symbols

  stackwalk --symbols http://localhost:8080 crash.dmp

  minidump-stackwalk --symbols-url http://localhost:8080 crash.dmp

  DEBUGINFOD_URLS=http://localhost:8080 gdb ./app core

What is served and taken, and how to run it, is in docs/serving.md.

Exit codes: 0 stopped by a signal, 1 the store or the address cannot be used, 80 wrong usage.`

// mostGrace bounds --grace.
const mostGrace = 10 * time.Minute

// cli is the command line of symserve.
type cli struct {
	Store string `arg:"" help:"Directory of the store, or s3://BUCKET/PREFIX."`

	Listen     string        `default:"localhost:8080" placeholder:"ADDRESS" help:"Listen at ADDRESS. Default: localhost:8080; :8080 listens at all addresses of this machine."`
	TLSCert    string        `name:"tls-cert" placeholder:"FILE" help:"Speak HTTPS with the certificate, and those above it, in FILE (PEM)."`
	TLSKey     string        `name:"tls-key" placeholder:"FILE" help:"The key of --tls-cert (PEM)."`
	URL        string        `name:"url" placeholder:"URL" help:"The address of this server as clients know it, for addresses in answers. Default: that of each request."`
	Tokens     string        `placeholder:"FILE" help:"Take symbols of clients with a token in FILE; it is read again when it changes. On each line: NAME upload TOKEN [EXPIRES]. Default: symbols are only served."`
	Accept     string        `enum:"any,lint,check" default:"lint" placeholder:"HOW" help:"Take symbol files that are of the module they are sent for (any), that are well formed (lint, the default), that say what the ELF file says, as far as there is one (check)."`
	Journal    string        `placeholder:"FILE" help:"Add a JSON line for each decision to FILE. Default: standard error."`
	Debuginfod bool          `help:"Compare symbol files with ELF files of the servers in DEBUGINFOD_URLS, too (--accept=check)."`
	MaxUpload  command.Bytes `name:"max-upload" default:"2G" placeholder:"SIZE" help:"The largest request that sends symbols. Default: 2G."`
	Uploads    int           `default:"8" placeholder:"N" help:"Take N uploads at one time; more wait. Default: 8."`
	Memory     command.Bytes `default:"1G" placeholder:"SIZE" help:"What the examination of symbol files may take together. Default: 1G."`
	Keep       command.Bytes `default:"1G" placeholder:"SIZE" help:"What symbols that stay open for /symbolicate may take. Default: 1G."`
	Source     []string      `sep:"none" placeholder:"PREFIX=DIR" help:"For /source/v1: source files whose paths begin with PREFIX are below DIR. May be repeated."`
	Timeout    time.Duration `default:"15m" placeholder:"TIME" help:"A request that sends symbols may take TIME. Default: 15m."`

	Spool    string        `placeholder:"DIR" help:"Directory for temporary files. Default: in the store; of a bucket, the system's."`
	MaxFile  command.Bytes `name:"max-file" default:"4G" placeholder:"SIZE" help:"The largest file, unpacked. Default: 4G."`
	Requests int           `default:"1024" placeholder:"N" help:"Answer N requests at one time; more are asked to come again. Default: 1024."`
	Stall    time.Duration `default:"1m" placeholder:"TIME" help:"A client has to take or send 64 KiB in TIME, again and again. Default: 1m."`
	Grace    time.Duration `default:"30s" placeholder:"TIME" help:"After SIGTERM, finish the requests in progress for TIME. Default: 30s, at most 10m."`

	Version command.VersionFlag `env:"-" help:"Print the version and exit."`

	stdout io.Writer
	stderr *command.Messages
}

// Validate is called by kong.
func (c *cli) Validate() error {
	switch {
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return errors.New("--tls-cert and --tls-key belong together")
	case c.Requests < 1:
		return errors.New("--requests: want a number above 0")
	case c.Uploads < 1:
		return errors.New("--uploads: want a number above 0")
	case c.Stall <= 0 || c.Timeout <= 0:
		return errors.New("--stall and --timeout: want a time above 0")
	case c.Debuginfod && c.Accept != string(gate.Check):
		return errors.New("--debuginfod needs --accept=check")
	case c.Grace < 0 || c.Grace > mostGrace:
		return errors.New("--grace: want a time of at most 10m")
	}
	for _, text := range c.Source {
		_, dir, ok := strings.Cut(text, "=")
		if !ok || dir == "" {
			return fmt.Errorf("--source %s: want PREFIX=DIR", text)
		}
	}
	return command.Output("STORE", c.Store, "s3")
}

// serve answers requests until ctx is done.
func (c *cli) serve(ctx context.Context) error {
	log := func(err error) { command.Line(c.stderr, "symserve: error: %v", err) }
	opt := serve.Options{Spool: c.Spool, MaxFile: int64(c.MaxFile), Requests: c.Requests, Stall: c.Stall, Log: log, Tokens: c.Tokens, URL: c.URL,
		Accept: gate.Accept(c.Accept), Journal: c.stderr, MaxUpload: int64(c.MaxUpload), Uploads: c.Uploads, Memory: int64(c.Memory), Timeout: c.Timeout, Version: command.Version(), Keep: int64(c.Keep)}
	for _, text := range c.Source {
		prefix, dir, _ := strings.Cut(text, "=")
		opt.Sources = append(opt.Sources, source.Dir{Prefix: strings.TrimSuffix(prefix, "/"), Dir: dir})
	}
	if c.Journal != "" {
		f, err := os.OpenFile(c.Journal, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
		if err != nil {
			return command.Unreadable("--journal", c.Journal, err, "the path of a file in a directory that exists")
		}
		defer f.Close()
		opt.Journal = f
	}
	if c.Debuginfod {
		client, err := c.stderr.Servers(true)
		if err != nil {
			return err
		}
		if client == nil {
			return errors.New("--debuginfod: DEBUGINFOD_URLS names no server")
		}
		opt.Debuginfod = client
	}
	_, missing := os.Stat(c.Store)
	handler, err := serve.New(ctx, c.Store, opt)
	if err != nil {
		return err
	}
	defer handler.Close()
	store := c.Store
	_, made := os.Stat(store)
	if missing != nil && made == nil {
		store = "the new store " + store // the path may be a mistake
	}

	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	scheme := "http"
	if c.TLSCert != "" {
		certificates, err := newCertificates(c.TLSCert, c.TLSKey, log)
		if err != nil {
			return err
		}
		scheme, server.TLSConfig = "https", &tls.Config{GetCertificate: certificates.get, MinVersion: tls.VersionTLS12}
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", c.Listen, err)
	}
	command.Line(c.stderr, "symserve: serving %s at %s://%s", store, scheme, listener.Addr())
	maintained, end := context.WithCancel(ctx)
	var maintenance sync.WaitGroup
	maintenance.Go(func() { handler.Maintain(maintained) })
	defer maintenance.Wait() // before the store is closed
	defer end()

	ended := make(chan error, 1)
	go func() {
		if server.TLSConfig != nil {
			ended <- server.ServeTLS(listener, "", "")
		} else {
			ended <- server.Serve(listener)
		}
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	return c.stop(server)
}

// stop waits for the requests in progress.
func (c *cli) stop(server *http.Server) error {
	command.Line(c.stderr, "symserve: stopping: requests in progress have %v", c.Grace)
	ctx, cancel := context.WithTimeout(context.Background(), c.Grace)
	defer cancel()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		command.Line(c.stderr, "symserve: warning: requests that took longer were cut")
		return server.Close()
	}
	return err
}
