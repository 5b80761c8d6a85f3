// Command write writes the manual pages and completions of the programs in a directory:
//
//	write bin bin/share
//
// The programs must run on this system. `make install` copies what is written.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"symkit/internal/command"
	"symkit/internal/usage"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "Usage: write PROGRAMS OUT")
		os.Exit(command.Misuse)
	}
	err := write(ctx, os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintf(os.Stderr, "write: error: %v\n", err)
		os.Exit(command.Failed)
	}
}

// write writes the files of the programs in bin below the directory that stands for share.
func write(ctx context.Context, bin, share string) error {
	src := usage.Source{Version: strings.TrimPrefix(command.Version(), "v")}
	src.Date, _ = time.Parse(time.RFC3339, command.Date()) // a page may have no date
	for _, name := range usage.Programs {
		p, err := usage.Read(ctx, filepath.Join(bin, name))
		if err != nil {
			return err
		}
		for path, text := range usage.Files(src, p) {
			path = filepath.Join(share, filepath.FromSlash(strings.TrimPrefix(path, "share/")))
			err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, text, 0o666))
			if err != nil {
				return err
			}
		}
	}
	return nil
}
