//go:build !linux && !darwin && !freebsd && !windows

package filecache

import "errors"

// statfs returns an error: the remaining systems have no portable call for it, and the other bounds still hold.
func statfs(string) (free, size uint64, err error) { return 0, 0, errors.ErrUnsupported }
