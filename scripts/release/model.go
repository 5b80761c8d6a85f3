package main

import (
	"context"
	"runtime"

	"symkit/internal/usage"
)

// readUsages builds the programs for this machine and reads their command lines.
func readUsages(ctx context.Context, src source, dir string) (all []usage.Program, err error) {
	// A target of the release is used where there is one: it is built anyway.
	host := target{os: runtime.GOOS, arch: runtime.GOARCH}
	for _, t := range targets {
		if t.String() == host.String() {
			host = t
		}
	}
	_, err = build(ctx, src, host, dir)
	if err != nil {
		return nil, err
	}
	for _, name := range programs {
		p, err := usage.Read(ctx, dir+"/"+name+host.exe())
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}
